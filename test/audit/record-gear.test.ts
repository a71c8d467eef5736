import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OutcomeReplay } from '../../src/audit/replay/outcome-replay.ts'
import { readOutcomes } from '../../src/audit/replay/read-outcomes.ts'
import { shrinkRecording } from '../../src/cli/shrink-recording.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { VisitOutcome } from '../../src/core/visit-outcome.ts'
import { outcomeRecorder } from '../../src/stores/outcome-recorder.ts'
import { rig, status } from '../support/rig.ts'
import type { Options, Target } from '../support/rig.ts'

/** A switchgear, and what it says of its visits. */
function told(targets: readonly Target[], options: Options = {}) {
  const { gear, clock } = rig(targets, options)
  const outcomes: VisitOutcome[] = []
  const stop = gear.on('outcome', (outcome) => outcomes.push(outcome))
  const short = () =>
    outcomes.map(({ target, outcome, failure, latencyMs }) => [target, outcome, failure, latencyMs])
  return { gear, clock, outcomes, short, stop }
}

const good = { invoke: () => Promise.resolve('fine') }
const bad = { invoke: () => Promise.reject(status(503)), maxRetries: 0 }

describe('what a switchgear tells of its visits', () => {
  it('is one outcome a visit, wherever the call goes', async () => {
    const { gear, short } = told([
      { name: 'a', ...bad, circuitBreaker: { threshold: 1 } },
      { name: 'b', ...good, circuitBreaker: true },
    ])
    await gear.call('x')
    await gear.call('y')
    expect(short()).toEqual([
      ['a', 'failure', 'server_error', 0],
      ['b', 'success', undefined, 0],
      ['a', 'refused', undefined, undefined],
      ['b', 'success', undefined, 0],
    ])
  })

  it('is one for all attempts of a visit, with the time of all, and the wait that was named', async () => {
    const wait = { headers: { 'retry-after': '2' } }
    const { gear, clock, outcomes } = told([
      { name: 'a', invoke: () => Promise.reject(status(429, wait)), maxRetries: 1, circuitBreaker: true },
    ])
    const failing = gear.call('x').catch(() => {})
    await setImmediate()
    clock.advance(2000)
    await failing
    expect(outcomes).toEqual([
      {
        at: 1_000_000,
        target: 'a',
        model: undefined,
        bucket: 'a',
        outcome: 'failure',
        failure: 'rate_limit',
        latencyMs: 2000,
        retryAfterMs: 2000,
      },
    ])
  })

  it('knows the circuit of a target that isolates, and of one that shares', async () => {
    const { gear, outcomes } = told([
      { name: 'a', ...bad, circuitBreaker: { isolateByModel: true } },
      { name: 'b', ...good, bucket: 'shared', circuitBreaker: true },
    ])
    await gear.call('x', { model: 'm' })
    expect(outcomes.map(({ bucket, model }) => [bucket, model])).toEqual([
      ['a/m', 'm'],
      ['shared', 'm'],
    ])
  })

  it('is told of targets without a circuit, too', async () => {
    const { gear, short } = told([
      { name: 'a', ...bad },
      { name: 'b', ...good },
    ])
    await gear.call('x')
    expect(short()).toEqual([
      ['a', 'failure', 'server_error', 0],
      ['b', 'success', undefined, 0],
    ])
  })

  it('is neutral where the caller hangs up, and where the caller is at fault', async () => {
    const { gear, short } = told([
      {
        name: 'a',
        invoke: (request) => (request === 'bad' ? Promise.reject(status(400)) : new Promise(() => {})),
        circuitBreaker: true,
      },
    ])
    await gear.call('bad').catch(() => {})
    const caller = new AbortController()
    const hanging = gear.call('x', { signal: caller.signal }).catch(() => {})
    caller.abort()
    await hanging
    expect(short()).toEqual([
      ['a', 'neutral', undefined, 0],
      ['a', 'neutral', undefined, 0],
    ])
  })

  it('follows streams to their end', async () => {
    const stream = async function* (request: string) {
      yield 'one'
      if (request === 'broken') throw status(500)
    }
    const { gear, short } = told([{ name: 'a', stream, circuitBreaker: true }])
    for (const request of ['whole', 'broken']) {
      try {
        for await (const part of gear.stream(request)) expect(part).toBe('one')
      } catch {
        // it breaks, as it should
      }
    }
    expect(short()).toEqual([
      ['a', 'success', undefined, 0],
      ['a', 'failure', 'server_error', 0],
    ])
  })

  it('costs nothing and says nothing when nobody listens', async () => {
    const { gear, outcomes, stop } = told([{ name: 'a', ...good, circuitBreaker: true }])
    stop()
    await gear.call('x')
    expect(outcomes).toEqual([])
  })
})

describe('recorded and replayed', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'record-gear-'))
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  it('an outage of a switchgear is the same outage again, and becomes a test', async () => {
    const file = join(dir, 'outcomes.jsonl')
    let down = false
    const { gear, clock } = rig([
      {
        name: 'a',
        invoke: () => (down ? Promise.reject(status(503)) : Promise.resolve('fine')),
        maxRetries: 0,
        circuitBreaker: { threshold: 3, cooldownMs: 10_000 },
      },
      { name: 'b', ...good, circuitBreaker: true },
    ])
    await using recorder = outcomeRecorder({ file, clock })
    recorder.attach(gear)
    for (let call = 0; call < 100; call++) {
      down = call >= 30 && call < 60
      await gear.call('x')
      clock.advance(1000)
    }
    await recorder.flush()
    const recording = readOutcomes([[file, readFileSync(file, 'utf8')]])
    const replay = new OutcomeReplay({
      recording,
      contenders: () => [{ name: 'same', rules: resolveBreaker({ threshold: 3, cooldownMs: 10_000 }) }],
      only: 'a',
      seeds: 1,
    })
    while (replay.step());
    const { recorded, policies } = replay.report()!.circuits[0]!
    expect(recorded).toMatchObject({ openings: 1, answered: expect.any(Number) as number })
    expect(recorded.refused).toBeGreaterThan(20)
    for (const key of ['answered', 'failed', 'refused', 'openings', 'openMs'] as const)
      expect(policies[0]!.results.worst.numbers[key].mean).toBe(recorded[key])

    const [trip] = recording.circuits.get('a')!.transitions
    const { text } = await shrinkRecording({ outcomes: file, at: trip!.at })
    expect(text).toContain('times: 3')
  })
})
