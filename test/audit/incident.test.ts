import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { explainCommand } from '../../src/cli/explain.ts'
import type { JournalEntry } from '../../src/core/journal.ts'
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

  2026-03-01 12:00:05.000  The circuit opened: 5 calls failed in a row; the limit is 5. The last failure was of kind "server error". Calls were refused for 30 s.
             12:00:35.000  The cooldown was over, and the trial began: probes passed, all other calls were still refused.
             12:00:35.000  The trial failed: 0 of 1 probe succeeded, the last failure was "server error". Calls were refused again for 30 s.
             12:01:05.000  The cooldown was over, and the trial began: probes passed, all other calls were still refused.
             12:01:05.000  The trial succeeded: 1 of 1 probe succeeded. The circuit closed, and calls flowed again.

Every call was refused for 1 min: none came.
2 trials, of which 1 failed; 2 calls passed as probes.
Nobody acted: the circuit opened and recovered by its rules.
What ended it: the trial succeeded: 1 of 1 probe succeeded.
A failure of kind "server error" means: the provider failed on its own side.
At the same time: circuit 'azure', from 2026-03-01T12:00:20Z for 1 min: 5 calls failed in a row; the limit is 5. The last failure was of kind "server error".
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
    expect(await explain('openai', '--at', '2026-03-01T12:01:15Z')).toMatch(
      /^At 2026-03-01T12:01:15Z nothing was going on; the last incident was over 10 s earlier\.\n\nCircuit 'openai'/,
    )
  })

  it('invents nothing beyond the last row', async () => {
    outage()
    const told = await explain('openai', '--at', '2026-03-01T13:01:20Z')
    expect(told).toMatch(
      /^At 2026-03-01T12:01:20Z nothing was going on; the last incident was over 15 s earlier\.\n\nThe journal ends at 2026-03-01T12:01:20Z, 1 h before the time that was asked for; what came after is not known\.\n\nCircuit 'openai'/,
    )
  })

  it('says which of several rules decided, its limit and its window', async () => {
    const clock = new VirtualClock(START)
    {
      using journal = sqliteJournal({ file, clock })
      const rolling = { kind: 'rolling', windowMs: 120_000, minCalls: 5, failureRatio: 0.7 } as const
      const tripping = [{ kind: 'leaky', threshold: 10 } as const, rolling]
      const breaker = createBreaker({ name: 'a', clock, journal, tripping })
      succeed(breaker)
      succeed(breaker)
      fail(breaker, 5)
    }
    expect(await explain('--at', '2026-03-01T12:00:00Z')).toContain(
      '5 of 7 calls failed within 2 min; the limit is 70 % of at least 5 calls (rule 2 of 2).',
    )
  })

  it('says that an incident is not over', async () => {
    const clock = new VirtualClock(START)
    {
      using journal = sqliteJournal({ file, clock })
      fail(createBreaker({ name: 'a', clock, journal }), 5)
    }
    const told = await explain('--at', '2026-03-01T12:00:10Z')
    expect(told).toContain(
      'on. The journal ends 0 ms later, at 2026-03-01 12:00:00 UTC: then it was open (every call is refused); what came after is not known.',
    )
    expect(told).toContain(
      'It is not over: the journal ends at 2026-03-01 12:00:00 UTC, and whether the circuit has recovered since is not known.',
    )
    expect(told).not.toContain('recovered by its rules')
    expect(told).toContain('Every call was refused for 0 ms')
  })

  it('says that nothing ever happened', async () => {
    outage()
    expect(await explain('--at', '2026-02-01T00:00Z')).toBe(
      'The journal begins at 2026-03-01T12:00:00Z, 28 d 12 h after the time that was asked for; what came before is not known.\n',
    )
    expect(await explain('azure', '--at', '2026-03-01T12:00:10Z')).toBe(
      "Up to 2026-03-01T12:00:10.000Z no circuit 'azure' was ever away from closed in this journal.\n",
    )
  })

  it('says that there is no such circuit, and which there are', async () => {
    outage()
    await expect(explain('opnai')).rejects.toMatchObject({
      exitCode: 4,
      message: `error: ${file}: There is no circuit 'opnai' in it. Did you mean 'openai'? It has azure, openai.`,
    })
  })

  it('tells the same as data', async () => {
    outage()
    const at = Date.UTC(2026, 2, 1, 12, 0, 30)
    const report = JSON.parse(await explain('--json', '--at', '2026-03-01T12:00:30Z')) as object
    expect(report).toEqual({
      at,
      journalBeginsAt: START,
      journalEndsAt: START + 80_000,
      incident: {
        circuit: 'openai',
        from: START + 5000,
        to: START + 65_000,
        refusingMs: 60_000,
        trialMs: 0,
        refused: expect.toBeOneOf([null, 0]) as unknown,
        trials: 2,
        failedTrials: 1,
        probes: 2,
        by: [],
        headline: expect.stringMatching(/^Circuit 'openai' was away from closed/) as string,
        steps: expect.any(Array) as unknown[],
        summary: expect.any(Array) as unknown[],
      },
      meanwhile: [
        {
          circuit: 'azure',
          from: START + 20_000,
          to: START + 80_000,
          why: '5 calls failed in a row; the limit is 5. The last failure was of kind "server error"',
        },
      ],
      notes: [],
    })
    expect((report as { incident: { steps: unknown[] } }).incident.steps[0]).toEqual({
      seq: 3,
      at: START + 5000,
      text: 'The circuit opened: 5 calls failed in a row; the limit is 5. The last failure was of kind "server error". Calls were refused for 30 s.',
    })
    expect(JSON.parse(await explain('--json', '--at', '2026-02-01T00:00Z'))).toEqual({
      at: Date.UTC(2026, 1, 1),
      journalBeginsAt: START,
      journalEndsAt: START + 80_000,
      incident: null,
      meanwhile: [],
      notes: [],
    })
  })

  it('counts the calls that were refused, where the journal knows', async () => {
    const clock = new VirtualClock(START)
    {
      using journal = sqliteJournal({ file, clock })
      const rows: JournalEntry[] = []
      const breaker = createBreaker({ name: 'a', clock, journal: { append: (row) => rows.push(row) } })
      fail(breaker, 5)
      clock.set(START + 35_000)
      fail(breaker)
      clock.set(START + 70_000)
      succeed(breaker)
      const refused = [0, 0, 117, 1, 3, 15, 0, 2]
      rows.forEach((row, i) => journal.append({ ...row, refused: refused[i] }))
    }
    const told = await explain('--at', '2026-03-01T12:00:10Z')
    expect(told).toContain('all other calls were still refused. Until then 117 calls were refused.')
    expect(told).toContain(
      'Every call was refused for 1 min, and for 10 s more only probes passed: 138 calls in all.',
    )
    expect(JSON.parse(await explain('--json', '--at', '2026-03-01T12:00:10Z'))).toMatchObject({
      incident: { refused: 138 },
    })
  })

  it('counts trials in good English', async () => {
    const clock = new VirtualClock(START)
    {
      using journal = sqliteJournal({ file, clock })
      const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) =>
        createBreaker({ name, clock, journal, random: () => 0.5 }),
      ) as [CircuitBreaker, CircuitBreaker, CircuitBreaker, CircuitBreaker]
      for (const breaker of [a, b, c, d]) fail(breaker, 5)
      clock.set(START + 35_000)
      succeed(a)
      for (const breaker of [b, c]) fail(breaker)
      c.dispose()
      d.tryAcquire()
      clock.set(START + 70_000)
      fail(b)
    }
    const trials = async (circuit: string) =>
      (await explain(circuit, '--at', '2026-03-01T12:00:10Z'))
        .split('\n')
        .find((line) => /^\d+ trials?/.test(line))
    expect(await trials('a')).toBe('1 trial, which succeeded; 1 call passed as a probe.')
    expect(await trials('b')).toBe('2 trials, all of which failed; 2 calls passed as probes.')
    expect(await trials('c')).toBe('1 trial, which failed; 1 call passed as a probe.')
    expect(await trials('d')).toBe('1 trial, which has come to no result; 1 call passed as a probe.')
  })

  it('refuses what is no journal', async () => {
    await expect(explain()).rejects.toMatchObject({ exitCode: 1 })
  })
})
