/* What a journal costs. Run: npx node test/bench/journal.ts */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSwitchgear } from '../../src/index.ts'
import type { Journal } from '../../src/core/journal.ts'
import { memoryJournal } from '../../src/stores/memory-journal.ts'
import { sqliteJournal } from '../../src/stores/sqlite-journal.ts'

const ROUNDS = 15
const CALLS = 2000

const dir = mkdtempSync(join(tmpdir(), 'switchgear-bench-'))
const file = join(dir, 'journal.db')
const sqlite = sqliteJournal({ file })
const memory = memoryJournal()
let events = 0
const counting: Journal = { append: () => void events++ }

/** Calls on a provider that is down. With a cooldown of 0 each of them changes the circuit three times. */
function storm(cooldownMs: number, journal?: Journal) {
  const gear = createSwitchgear<string, string>({
    ...(journal && { journal }),
    targets: [
      {
        name: 'down',
        invoke: () => Promise.reject(Object.assign(new Error('down'), { status: 503 })),
        circuitBreaker: { threshold: 1, cooldownMs },
        maxRetries: 0,
      },
    ],
  })
  return async () => {
    for (let i = 0; i < CALLS; i++) await gear.call('x').catch(() => {})
  }
}

const subjects: [string, () => Promise<void>][] = [
  ['every call changes the circuit, no journal', storm(0)],
  ['… a journal that only counts', storm(0, counting)],
  ['… memory', storm(0, memory)],
  ['… SQLite', storm(0, sqlite)],
  ['the circuit stays open, no journal', storm(60_000)],
  ['… SQLite', storm(60_000, sqlite)],
]

const times = subjects.map(() => [] as number[])
for (let round = 0; round < ROUNDS; round++) {
  for (const [i, [, run]] of subjects.entries()) {
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    times[i]!.push((user + system) / CALLS)
  }
}
// the best round is the one that others on the machine disturbed least
const perCall = times.map((of) => Math.min(...of))
const eventsPerCall = events / ROUNDS / CALLS
for (const [i, [name]] of subjects.entries())
  console.log(`${name.padEnd(44)} ${perCall[i]!.toFixed(1)} µs of CPU a call`)
const cost = (i: number) => ((perCall[i]! - perCall[1]!) / eventsPerCall).toFixed(1)
console.log(
  `\n${eventsPerCall.toFixed(2)} events a call; an append costs ${cost(2)} µs in memory, ${cost(3)} µs in SQLite`,
)
const rows = sqlite.rows({ limit: 1 })[0]?.seq ?? 0
sqlite.close()
console.log(`${rows} rows, ${Math.round(statSync(file).size / rows)} bytes each in the file`)
rmSync(dir, { recursive: true })
