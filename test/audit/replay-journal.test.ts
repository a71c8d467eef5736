import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openingsOf } from '../../src/audit/replay/journal-openings.ts'
import { loadCommand } from '../../src/cli/commands.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { createBreaker } from '../../src/core/create-breaker.ts'
import type { Outcome } from '../../src/core/permit.ts'
import { memoryJournal } from '../../src/stores/memory-journal.ts'
import { sqliteJournal } from '../../src/stores/sqlite-journal.ts'
import type { JournalStore } from '../../src/stores/journal-store.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { runReplay } from './run-replay.ts'

const ROLLING = { kind: 'rolling', windowMs: 60_000, minCalls: 4, failureRatio: 0.5 } as const

/** An outage under these rules: four failures after four successes, and a recovery. */
function live(journal: JournalStore, options: CircuitBreakerOptions, failure = 'server_error'): void {
  const clock = new VirtualClock(Date.UTC(2026, 4, 6))
  const breaker = createBreaker({ name: 'openai', ...options, clock, journal, random: () => 0.5 })
  const call = (outcome: Outcome) => {
    const permit = breaker.tryAcquire()
    if (permit.admitted) breaker.settle(permit, outcome)
    clock.advance(1000)
  }
  for (let i = 0; i < 4; i++) call({ outcome: 'success' })
  for (let i = 0; i < 4; i++) call({ outcome: 'failure', failure })
  clock.advance(30_000)
  call({ outcome: 'failure', failure })
  clock.advance(30_000)
  call({ outcome: 'success' })
  breaker.open({ by: 'alice', reason: 'maintenance' })
  breaker.dispose()
}

function asked(
  then: CircuitBreakerOptions,
  policies: Readonly<Record<string, CircuitBreakerOptions>>,
  failure?: string,
) {
  const journal = memoryJournal()
  live(journal, then, failure)
  const contenders = Object.entries(policies).map(([name, options]) => ({
    name,
    rules: resolveBreaker(options),
  }))
  return openingsOf(journal.rows({ limit: Infinity }).toReversed(), () => contenders)
}

const verdicts = (answers: readonly { policy: string; opens: boolean | null }[]) =>
  Object.fromEntries(answers.map(({ policy, opens }) => [policy, opens]))

describe('the openings of a journal', () => {
  it('are told with how they ended', () => {
    const [tripped, byHand, ...others] = asked({ threshold: 3, cooldownMs: 20_000 }, {})
    expect(others).toEqual([])
    expect(tripped).toMatchObject({ circuit: 'openai', byHand: false, failedTrials: 1 })
    expect(tripped!.lastedMs).toBeGreaterThan(60_000)
    expect(byHand).toMatchObject({ byHand: true, lastedMs: null, answers: [] })
  })

  it('are judged by other rules on the same evidence', () => {
    const [tripped] = asked(
      { tripping: ROLLING },
      {
        'same window, other ratio': { tripping: { ...ROLLING, failureRatio: 0.9 } },
        'same window, same ratio': { tripping: ROLLING },
        'another window': { tripping: { ...ROLLING, windowMs: 10_000 } },
        'in a row': { threshold: 4 },
        'more in a row': { threshold: 5 },
        'another window, or in a row': {
          tripping: [
            { ...ROLLING, windowMs: 10_000 },
            { kind: 'consecutive', threshold: 4 },
          ],
        },
        'by kind': { threshold: 99, kinds: { server_error: { immediateOpen: true } } },
        'by a kind that was not counted': { threshold: 99, kinds: { server_error: { threshold: 2 } } },
      },
    )
    expect(verdicts(tripped!.answers)).toEqual({
      'same window, other ratio': false,
      'same window, same ratio': true,
      'another window': null,
      'in a row': true,
      'more in a row': false,
      'another window, or in a row': true,
      'by kind': true,
      'by a kind that was not counted': null,
    })
    const [, , unknown] = tripped!.answers
    expect(unknown!.why).toBe('nothing was counted for: 50 % of at least 4 calls failed within 10 s')
  })

  it('are told with the range of the first cooldown', () => {
    const backoff = { multiplier: 2, maxMs: 90_000, jitter: 'equal' } as const
    const [tripped] = asked(
      { threshold: 3 },
      { fixed: { threshold: 2, cooldownMs: 5000 }, drawn: { threshold: 3, cooldownBackoff: backoff } },
    )
    expect(tripped!.answers.map(({ cooldownMs }) => cooldownMs)).toEqual([
      [5000, 5000],
      [15_000, 30_000],
    ])
  })
})

describe('switchgear replay --journal', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'journal-'))
  })
  afterEach(() => {
    rmSync(dir, { recursive: true })
  })

  it('says what a journal can tell, and plainly what it cannot', async () => {
    const file = join(dir, 'switchgear.db')
    const journal = sqliteJournal({ file })
    live(journal, { threshold: 4 })
    journal.close()
    const told = await runReplay('--journal', file)
    expect(told).toContain('It cannot tell whether that would have happened earlier')
    expect(told).toContain('for that, record outcomes and replay them with --outcomes')
    expect(told).toContain('toolDefaults: opens: opens on the same evidence, perhaps sooner')
    expect(told).toContain('plain default: stays closed: does not open on this evidence')
    expect(told).toContain('opened by hand: no policy was asked')
    expect(told).toContain('plain default: opens on 0, stays closed on 1, cannot be told for 0 of 1')
    expect(JSON.parse(await runReplay('--journal', file, '--json', '--policy', 'llmDefaults'))).toMatchObject(
      {
        kind: 'journal',
        openings: [{ answers: [{ policy: 'llmDefaults', opens: null }] }, { byHand: true }],
      },
    )
  })

  it('says when the journal has no such circuit', async () => {
    const file = join(dir, 'switchgear.db')
    const journal = sqliteJournal({ file })
    live(journal, { threshold: 4 })
    journal.close()
    await expect(runReplay('--journal', file, '--target', 'opnai')).rejects.toThrow(
      /There is no circuit 'opnai' in it. Did you mean 'openai'/,
    )
  })

  it('lets no control character of a journal reach the terminal', async () => {
    const file = join(dir, 'switchgear.db')
    const journal = sqliteJournal({ file })
    const breaker = createBreaker({ name: 'a\u001B]0;x\u0007\nb', clock: new VirtualClock(0), journal })
    breaker.open({ by: 'al\u202Eice', reason: 'no\u001B[2J\nfake line' })
    breaker.dispose()
    journal.close()
    const told = await runReplay('--journal', file)
    expect(told).toContain('a\uFFFD]0;x\uFFFD\uFFFDb: ')
    expect(told).not.toMatch(/[^\P{Cc}\n]|\u202E|^b|^fake/mu)
  })

  it('lets no control character of an error reach the terminal', async () => {
    let err = ''
    const command = (await loadCommand('replay'))
      .exitOverride()
      .configureOutput({ writeErr: (text) => (err += text) })
    const args = ['--journal', join(dir, 'no\u001B[2Jne.db')]
    await expect(command.parseAsync(args, { from: 'user' })).rejects.toThrow('there is no such file')
    expect(err).toContain('no\uFFFD[2Jne.db')
    expect(err).toMatch(/[^\uFFFD]\n$/)
    expect(err).not.toContain('\u001B')
  })

  it('says when there is no journal', async () => {
    await expect(runReplay('--journal', join(dir, 'none.db'))).rejects.toThrow('there is no such file')
  })
})
