import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readOutcomes } from '../../src/audit/replay/read-outcomes.ts'
import { recordedRules } from '../../src/audit/replay/recorded-rules.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { Transition } from '../../src/core/transition.ts'
import { outcomeRecorder } from '../../src/stores/outcome-recorder.ts'
import type {
  OutcomeRecorder,
  OutcomeRecorderOptions,
  OutcomeSource,
} from '../../src/stores/outcome-recorder.ts'
import type { VisitOutcome } from '../../src/core/visit-outcome.ts'
import { closedSegments } from '../../src/stores/outcome-files.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

let dir: string
let file: string
let clock: VirtualClock
let logged: string[]
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'record-'))
  file = join(dir, 'outcomes.jsonl')
  clock = new VirtualClock(Date.UTC(2026, 4, 6))
  logged = []
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** A switchgear that says what it is told to. */
class Source implements OutcomeSource {
  readonly listeners = new Map<string, Set<(told: never) => void>>()
  policy = resolveBreaker({ threshold: 3 }).policy

  on(event: string, listener: (told: never) => void): () => void {
    const all = this.listeners.get(event) ?? new Set()
    this.listeners.set(event, all.add(listener))
    return () => void all.delete(listener)
  }

  stats() {
    return { breakers: [{ bucket: 'openai', policy: this.policy }] }
  }

  say(told: Partial<VisitOutcome>): void {
    const whole = {
      at: clock.now(),
      target: 'openai',
      model: undefined,
      bucket: 'openai',
      outcome: 'success',
      latencyMs: 12.4,
      ...told,
    }
    for (const listener of this.listeners.get('outcome') ?? []) listener(whole as never)
  }

  change(told: Partial<Transition>): void {
    const whole = {
      bucket: 'openai',
      at: clock.now(),
      from: 'closed',
      to: 'open',
      cause: { why: 'tripped' },
      ...told,
    }
    for (const listener of this.listeners.get('transition') ?? []) listener(whole as never)
  }
}

function recorder(options: Partial<OutcomeRecorderOptions> = {}): OutcomeRecorder {
  const logger = { info() {}, warn() {}, error: (_: object, message: string) => void logged.push(message) }
  return outcomeRecorder({ file, clock, logger, ...options })
}

const rows = (name = file) =>
  readFileSync(name, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
const outcomes = (name = file) => rows(name).filter(({ outcome }) => outcome !== undefined)

describe('a recorder', () => {
  it('writes one compact row an outcome, and names, kinds and numbers only', async () => {
    const source = new Source()
    const record = recorder()
    record.attach(source)
    source.say({ model: 'gpt-5' })
    source.say({ outcome: 'failure', failure: 'rate_limit', retryAfterMs: 2000, latencyMs: 300 })
    source.say({ outcome: 'refused', latencyMs: undefined })
    source.say({ outcome: 'neutral', bucket: 'shared' })
    await record.close()
    const at = clock.now()
    expect(outcomes()).toEqual([
      { at, target: 'openai', model: 'gpt-5', outcome: 'success', ms: 12 },
      { at, target: 'openai', outcome: 'failure', kind: 'rate_limit', ms: 300, retryAfterMs: 2000 },
      { at, target: 'openai', outcome: 'refused' },
      { at, target: 'openai', circuit: 'shared', outcome: 'neutral', ms: 12 },
    ])
    expect(rows()[0]).toEqual({ outcomes: 1, at, sample: 1 })
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('tells of the rules in force, and again when they change', async () => {
    const source = new Source()
    const record = recorder()
    record.attach(source)
    source.say({})
    source.say({})
    source.policy = resolveBreaker({ threshold: 9 }).policy
    source.change({})
    await record.close()
    const { circuits } = readOutcomes([['r', readFileSync(file, 'utf8')]])
    const circuit = circuits.get('openai')!
    expect(circuit.rules).toHaveLength(2)
    expect(recordedRules(circuit)!.policy).toEqual(source.policy)
    expect(circuit.transitions).toEqual([
      { at: clock.now(), circuit: 'openai', from: 'closed', to: 'open', why: 'tripped' },
    ])
  })

  it('writes once a second, not once a call', async () => {
    const source = new Source()
    const record = recorder()
    record.attach(source)
    source.say({})
    expect(outcomes()).toHaveLength(0)
    clock.advance(1000)
    await record.flush()
    expect(outcomes()).toHaveLength(1)
    await record.close()
  })

  it('samples successes of which there are many, and nothing else; counts stay exact', async () => {
    const source = new Source()
    const record = recorder({ sample: 0.1 })
    record.attach(source)
    for (let i = 0; i < 25; i++) source.say({})
    source.say({ outcome: 'failure', failure: 'timeout' })
    source.say({ outcome: 'refused' })
    for (let i = 0; i < 3; i++) source.say({})
    await record.close()
    expect(outcomes().map(({ outcome, n }) => [outcome, n ?? 1])).toEqual([
      ['success', 1],
      ['success', 10],
      ['success', 10],
      ['success', 4],
      ['failure', 1],
      ['refused', 1],
      ['success', 1],
      ['success', 2],
    ])
    expect(rows()[0]).toMatchObject({ sample: 0.1 })
  })

  it('goes on where it stopped, and stops when it is told to', async () => {
    for (let i = 0; i < 2; i++) {
      const source = new Source()
      const record = recorder()
      const stop = record.attach(source)
      source.say({})
      stop()
      source.say({})
      await record.close()
    }
    expect(outcomes()).toHaveLength(2)
    expect(readOutcomes([['r', readFileSync(file, 'utf8')]]).circuits.get('openai')!.rows).toHaveLength(2)
  })

  it('closes a file that has grown, tells the rules in the new one, and keeps no more than it may', async () => {
    const source = new Source()
    const record = recorder({ maxMegabytes: 0.08 })
    record.attach(source)
    for (let minute = 0; minute < 40; minute++) {
      for (let i = 0; i < 100; i++) source.say({ at: clock.now() + i })
      clock.advance(60_000)
      await record.flush()
    }
    await record.close()
    const closed = closedSegments(file)
    expect(closed.length).toBeGreaterThan(3)
    const size = [...closed, file].reduce((sum, name) => sum + statSync(name).size, 0)
    expect(size).toBeLessThan(0.08 * 1_048_576 + 15_000)
    for (const name of closed) {
      expect(rows(name)[0]).toMatchObject({ outcomes: 1 })
      expect(rows(name).some(({ rules }) => rules !== undefined)).toBe(true)
    }
    // the oldest have gone
    expect(outcomes(closed[0]).at(0)!['at']).toBeGreaterThan(Date.UTC(2026, 4, 6))
  })

  it('closes a file once a day, and removes what is too old', async () => {
    const source = new Source()
    const record = recorder({ keepDays: 2 })
    record.attach(source)
    for (let day = 0; day < 5; day++) {
      source.say({})
      await record.flush()
      for (const name of closedSegments(file)) {
        // the file system does not know of virtual days
        const closedAt = Date.UTC(2026, 4, Number(/\.202605(\d\d)T/.exec(name)![1])) / 1000
        utimesSync(name, closedAt, closedAt)
      }
      clock.advance(86_400_000)
    }
    await record.close()
    expect(closedSegments(file).length).toBeGreaterThan(0)
    expect(closedSegments(file).length).toBeLessThan(5)
  })

  it('does not hurt anybody when it cannot write: it counts, and says so once', async () => {
    const source = new Source()
    const record = recorder({ file: join(dir, 'outcomes.jsonl') })
    record.attach(source)
    rmSync(dir, { recursive: true })
    source.say({})
    await record.flush()
    source.say({})
    await record.close()
    expect(record.dropped).toBe(3)
    expect(logged).toHaveLength(1)
    expect(logged[0]).toContain('outcomes cannot be recorded in')
  })

  it.each([
    [{ sample: 0 }, 'record.sample is 0; it must be a number greater than 0 and at most 1.'],
    [{ keepDays: -1 }, 'record.keepDays is -1'],
    [{ maxMegabytes: NaN }, 'record.maxMegabytes is NaN'],
    [{ file: '' }, 'record.file is missing.'],
    [{ samples: 1 }, "Unknown option record.samples. Did you mean 'sample'?"],
  ])('refuses %j', (options, message) => {
    expect(() => recorder(options as Partial<OutcomeRecorderOptions>)).toThrow(message)
    expect(readdirSync(dir)).toEqual([])
  })
})
