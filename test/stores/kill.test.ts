import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { SavedCircuit } from '../../machines/breaker-events.ts'
import { readJournal } from '../../src/stores/read-only-file.ts'
import { replayJournal } from '../../src/stores/replay.ts'
import { sqliteJournal } from '../../src/stores/sqlite-journal.ts'
import { scratch } from './support.ts'

interface Said {
  readonly seq: number
  readonly circuit: string
  readonly state: string
  readonly generation: number
  readonly hash: string
}
interface Begun {
  readonly begun: Record<string, SavedCircuit>
  readonly health: unknown
}

/** A process in a storm of events, killed after so many bytes of what it says, and not before retention was at work. */
async function stormUntil(file: string, bytes: number, retention: boolean): Promise<[Begun, Said[]]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'storm-child.ts'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    if (out.length >= bytes && (!retention || out.includes(PRUNED))) child.kill('SIGKILL')
  })
  const signal = await new Promise((resolve) => child.once('close', (_code, by) => resolve(by)))
  expect(signal).toBe('SIGKILL')
  // a line that was cut tells nothing
  const lines = out
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== PRUNED)
  const [begun, ...said] = lines.map((line) => JSON.parse(line) as unknown)
  return [begun as Begun, said as Said[]]
}

/** How much the process has said when it is killed. */
const PRUNED = '{"pruned":true}'
const LIVES = [3000, 60_000, 120_000, 160_000]

it(`kill -9 in the middle of a storm and of retention, ${LIVES.length} times: no committed row is lost, and every life goes on from the last`, async () => {
  const file = join(scratch(), 'journal.db')
  const all: Said[] = []
  let pruned = 0
  let before: Record<string, SavedCircuit> = {}
  for (const [life, bytes] of LIVES.entries()) {
    const [{ begun, health }, said] = await stormUntil(file, bytes, life === LIVES.length - 1)
    expect(health).toEqual({ state: 'ok' })
    expect(said.length).toBeGreaterThan(5)
    if (life > 0) expect(begun).toEqual(before)
    all.push(...said)

    using reader = readJournal(file)
    const rows = reader.rows({ limit: Infinity })
    const { faults, prunedUpTo } = reader.verify()
    expect(faults).toEqual([])
    pruned = prunedUpTo
    const hashes = new Map(rows.map(({ seq, hash }) => [seq, hash]))
    expect(all.filter(({ seq, hash }) => seq > prunedUpTo && hashes.get(seq) !== hash)).toEqual([])
    expect(replayJournal(rows).differences).toEqual([])
    using journal = sqliteJournal({ file })
    expect(journal.health).toEqual({ state: 'ok' })
    before = journal.latest()
    expect(Object.keys(before).sort()).toEqual(['a', 'b', 'c', 'd'])
  }
  expect(all.length).toBeGreaterThan(1800)
  expect(pruned).toBeGreaterThan(100)
})
