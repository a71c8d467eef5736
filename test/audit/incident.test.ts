import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { explainCommand } from '../../src/cli/explain.ts'
import type { CircuitBreaker } from '../../src/core/circuit-breaker.ts'
import { createBreaker } from '../../src/core/create-breaker.ts'
import { sqliteJournal } from '../../src/stores/sqlite-journal.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const START = Date.UTC(2026, 2, 1, 12)

let dir: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'incident-'))
  file = join(dir, 'journal.db')
})
afterEach(() => {
  rmSync(dir, { recursive: true })
  process.exitCode = undefined
})

function fail(breaker: CircuitBreaker, times = 1): void {
  for (let i = 0; i < times; i++) {
    const permit = breaker.tryAcquire()
    if (permit.admitted) breaker.settle(permit, { outcome: 'failure', failure: 'server_error' })
  }
}

function succeed(breaker: CircuitBreaker): void {
  const permit = breaker.tryAcquire()
  if (permit.admitted) breaker.settle(permit, { outcome: 'success' })
}

async function explain(...args: string[]): Promise<string> {
  let out = ''
  const command = explainCommand()
    .exitOverride()
    .configureOutput({ writeOut: (text) => (out += text), writeErr: (text) => (out += text) })
  await command.parseAsync(['--journal', file, ...args], { from: 'user' })
  return out
}

/** Two circuits fail; one recovers by itself at the second trial, on the other somebody acts. */
function outage(): void {
  const clock = new VirtualClock(START)
  using journal = sqliteJournal({ file, clock })
  const open = (name: string) => createBreaker({ name, clock, journal, random: () => 0.5 })
  const [openai, azure] = [open('openai'), open('azure')]
  clock.set(START + 5000)
  fail(openai, 5)
  clock.set(START + 20_000)
  fail(azure, 5)
  azure.open({ by: 'kim', reason: 'bad region\u001B[31m', hold: true })
  clock.set(START + 35_000)
  fail(openai)
  clock.set(START + 65_000)
  succeed(openai)
  clock.set(START + 80_000)
  azure.close({ by: 'kim', reason: 'moved away' })
}

describe('switchgear explain --journal', () => {
  it('tells an incident from the first failure to the recovery', async () => {
    outage()
    const told = await explain('--at', '2026-03-01T12:00:30Z')
    expect(told)
      .toBe(`Circuit 'openai' was away from closed from 2026-03-01 12:00:05 UTC to 2026-03-01 12:01:05 UTC: 1 min.

  2026-03-01 12:00:05.000  The circuit opened: 5 failures in a row, the last of kind server_error. Calls were refused for 30 s.
             12:00:35.000  The cooldown was over, and the trial began: probes passed, all other calls were still refused.
             12:00:35.000  The trial failed: 0 of 1 probe succeeded, the last failure was server_error. Calls were refused again for 30 s.
             12:01:05.000  The cooldown was over, and the trial began: probes passed, all other calls were still refused.
             12:01:05.000  The trial succeeded: 1 of 1 probe succeeded. The circuit closed, and calls flowed again.

Calls were refused for 1 min. How many there were is not in a journal: it holds what changed a circuit, not every call.
2 trials, of which 1 failed; 2 calls passed as probes.
Nobody acted: the circuit opened and recovered by its rules.
What ended it: the trial succeeded: 1 of 1 probe succeeded.
At the same time: circuit 'azure', from 2026-03-01T12:00:20Z for 1 min: 5 failures in a row, the last of kind server_error; next try in 30 s.
`)
  })

  it('says who acted, without what their words could do to a terminal', async () => {
    outage()
    const told = await explain('azure', '--at', '2026-03-01T12:00:30Z')
    expect(told).toContain(
      'The circuit was opened by hand, by kim ("bad region\uFFFD[31m"), and held so until somebody ends it.',
    )
    expect(told).toContain('The circuit was closed by hand, by kim ("moved away"). Calls flowed.')
    expect(told).toContain('There was no trial.')
    expect(told).toContain('Who acted: kim.')
    expect(told).not.toContain('\u001B')
  })

  it('takes the last incident before, where nothing was going on', async () => {
    outage()
    expect(await explain('openai', '--at', '2026-03-01T13:01:05Z')).toMatch(
      /^At 2026-03-01T13:01:05Z nothing was going on; the last incident before was over 1 h earlier\.\n\nCircuit 'openai'/,
    )
  })

  it('says that an incident is not over', async () => {
    const clock = new VirtualClock(START)
    {
      using journal = sqliteJournal({ file, clock })
      fail(createBreaker({ name: 'a', clock, journal }), 5)
    }
    const told = await explain('--at', '2026-03-01T12:00:10Z')
    expect(told).toContain('still is where this journal ends')
    expect(told).toContain('It has not recovered.')
  })

  it('says that nothing ever happened', async () => {
    outage()
    expect(await explain('--at', '2026-02-01T00:00Z')).toBe(
      'Up to 2026-02-01T00:00:00.000Z no circuit was ever away from closed in this journal.\n',
    )
    expect(await explain('nobody', '--at', '2026-03-02T00:00Z')).toContain(
      "no circuit 'nobody' was ever away",
    )
  })

  it('refuses what is no journal', async () => {
    await expect(explain()).rejects.toMatchObject({ exitCode: 1 })
  })
})
