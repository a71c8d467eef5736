import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fates } from '../../src/audit/replay/fates.ts'
import { incidentModel, phasesOf } from '../../src/audit/replay/incident-model.ts'
import type { Incident, IncidentModel } from '../../src/audit/replay/incident-model.ts'
import { play } from '../../src/audit/replay/play.ts'
import type { Course } from '../../src/audit/replay/course.ts'
import { Traffic } from '../../src/audit/replay/traffic.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { createBreaker } from '../../src/core/create-breaker.ts'
import type { Permit } from '../../src/core/permit.ts'
import type { TrippingRuleOption } from '../../src/core/tripping-options.ts'
import type { Transition } from '../../src/core/transition.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const START = 1_700_000_000_123

const calls = fc
  .array(fc.record({ gap: fc.oneof(fc.nat(50), fc.nat(2_000), fc.nat(60_000)), latencyMs: fc.nat(3_000) }), {
    minLength: 1,
    maxLength: 60,
  })
  .map((rows) => {
    let atMs = 0
    return rows.map(({ gap, latencyMs }, i) => {
      atMs += i === 0 ? 0 : gap
      return { atMs, latencyMs, inputTokens: 1, outputTokens: 1 }
    })
  })

const rule: fc.Arbitrary<TrippingRuleOption> = fc.oneof(
  fc.record({ kind: fc.constant('consecutive' as const), threshold: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ kind: fc.constant('leaky' as const), threshold: fc.integer({ min: 1, max: 6 }) }),
  fc.record({
    kind: fc.constant('rolling' as const),
    windowMs: fc.constantFrom(777, 5_000, 60_000),
    minCalls: fc.integer({ min: 0, max: 20 }),
    failureRatio: fc.constantFrom(0.07, 0.3, 0.5, 0.9, 1),
  }),
  fc.record({
    kind: fc.constant('latency' as const),
    windowMs: fc.constantFrom(5_000, 60_000),
    minCalls: fc.integer({ min: 0, max: 20 }),
    slowMs: fc.constantFrom(500, 4_000),
    slowRatio: fc.constantFrom(0.05, 0.5),
  }),
)

const options: fc.Arbitrary<CircuitBreakerOptions> = fc
  .record({
    rules: fc.array(rule, { minLength: 1, maxLength: 3 }),
    cooldownMs: fc.constantFrom(0, 1_000, 30_000),
    backoff: fc.boolean(),
    halfOpenProbes: fc.integer({ min: 1, max: 3 }),
    early: fc.boolean(),
    degradation: fc.boolean(),
    kind: fc.constantFrom('none', 'threshold', 'immediate'),
    probeLeaseMs: fc.constantFrom(500, 60_000),
  })
  .map(({ rules, backoff, early, degradation, kind, ...same }) => ({
    ...same,
    tripping: rules,
    halfOpenVerdict: early ? 'early' : 'all',
    ...(backoff && { cooldownBackoff: { multiplier: 2, maxMs: 100_000 } }),
    ...(degradation && { degradation: { at: 0.6 } }),
    ...(kind !== 'none' && {
      kinds: {
        server_error: kind === 'immediate' ? { immediateOpen: true } : { threshold: 3, cooldownMs: 9_000 },
      },
    }),
  }))

const worlds = (most: number) =>
  fc
    .record({
      length: fc.integer({ min: most / 10, max: most }),
      calls,
      rest: fc.nat(5_000),
      incidents: fc.array(
        fc.record({
          at: fc.float({ min: 0, max: 1, noNaN: true }),
          lasts: fc.float({ min: 0, max: Math.fround(0.3), noNaN: true }),
          impact: fc.integer({ min: 0, max: 3 }),
        }),
        { maxLength: 4 },
      ),
      noise: fc.constantFrom(0, 0.002, 0.05, 0.2),
      failureMs: fc.constantFrom(1, 400, 2_000),
      seed: fc.nat(10_000),
    })
    .map(({ calls, rest, length, incidents, noise, failureMs, seed }) => {
      const periodMs = calls.at(-1)!.atMs + rest + 1
      const lengthMs = Math.ceil((length / calls.length) * periodMs)
      const model: IncidentModel = { ...incidentModel, noise, failureMs }
      const traffic = new Traffic(calls, periodMs, START)
      const known: Incident[] = incidents.map(({ at, lasts, impact }, i) => {
        const startAt = START + Math.floor(at * lengthMs)
        return { name: `${i}`, startAt, endAt: startAt + Math.floor(lasts * lengthMs), impact }
      })
      return new Fates(traffic, phasesOf(known, model, START, START + lengthMs), seed, model)
    })

/** All that a course tells. */
const told = (course: Course) => ({
  transitions: course.transitions,
  probes: [...course.probes.all],
  refusals: Array.from({ length: course.refusals }, (_, i) => course.refusalAt(i)),
})

/** The same calls against a breaker as anybody would make one: an actor, a clock with timers, nothing left out. */
function plainly(fates: Fates, options: CircuitBreakerOptions): ReturnType<typeof told> {
  const clock = new VirtualClock(fates.phases[0]!.fromAt)
  const transitions: Transition[] = []
  const refusals: [number, number][] = []
  const failing = new Set(fates.failing)
  const probes: number[] = []
  const breaker = createBreaker({
    ...options,
    name: 'replay',
    clock,
    random: seededRandom(fates.seed),
    onStateChange: (_from, _to, _failures, _model, transition) => void transitions.push(transition),
  })
  const waiting: { at: number; call: number; permit: Permit }[] = []
  const settleUpTo = (limit: number) => {
    waiting.sort((a, b) => a.at - b.at || a.call - b.call)
    while (waiting.length > 0 && waiting[0]!.at <= limit) {
      const { at, call, permit } = waiting.shift()!
      clock.set(at)
      const failed = failing.has(call)
      const latencyMs = at - fates.traffic.arrivalAt(call)
      breaker.settle(
        permit,
        failed
          ? { outcome: 'failure', failure: 'server_error', latencyMs }
          : { outcome: 'success', latencyMs },
      )
    }
  }
  for (let call = 0; call < fates.end; call++) {
    const at = fates.traffic.arrivalAt(call)
    settleUpTo(at)
    clock.set(at)
    const answer = breaker.tryAcquire()
    if (answer.admitted) {
      if (answer.probe) probes.push(call)
      const failed = failing.has(call)
      const latencyMs = failed ? fates.model.failureMs : fates.traffic.latencyOf(call)
      waiting.push({ at: at + latencyMs, call, permit: answer })
    } else if (refusals.at(-1)?.[1] === call) refusals.at(-1)![1] = call + 1
    else refusals.push([call, call + 1])
  }
  settleUpTo(fates.phases.at(-1)!.toAt)
  clock.set(fates.phases.at(-1)!.toAt)
  breaker.dispose()
  return { transitions, probes, refusals }
}

/** Where they differ, the first place says more than all of both. */
function same(one: ReturnType<typeof told>, other: ReturnType<typeof told>): void {
  for (const key of ['refusals', 'probes', 'transitions'] as const) {
    const at = one[key].findIndex((item, i) => !isDeepStrictEqual(item, other[key][i]))
    if (at >= 0) expect({ at, item: one[key][at] }).toEqual({ at, item: other[key][at] })
    expect(one[key]).toHaveLength(other[key].length)
  }
}

describe('crossing', () => {
  it('is stepping, bit for bit', () => {
    fc.assert(
      fc.property(worlds(8_000), options, (fates, options) => {
        const rules = resolveBreaker(options)
        same(told(play(fates, rules)), told(play(fates, rules, { cross: false })))
      }),
      { numRuns: 150 },
    )
  })

  it('is what a breaker with an actor and timers does, bit for bit', () => {
    fc.assert(
      fc.property(worlds(1_500), options, (fates, options) => {
        const real = plainly(fates, options)
        same(told(play(fates, resolveBreaker(options))), real)
      }),
      { numRuns: 100 },
    )
  })

  describe('in a corner', () => {
    /** An hour of a call every 5 s, more of them in `bursts`; calls fail where they are in `failing`. Seconds. */
    function hour(
      bursts: readonly (readonly [number, number])[],
      failing: readonly (readonly [number, number])[],
    ) {
      const every = Array.from({ length: 720 }, (_, i) => i * 5000)
      const more = bursts.flatMap(([at, count]) =>
        Array.from({ length: count }, (_, i) => at * 1000 + i * 20),
      )
      const calls = [...every, ...more]
        .sort((a, b) => a - b)
        .map((atMs) => ({ atMs, latencyMs: 100, inputTokens: 0, outputTokens: 0 }))
      const model: IncidentModel = { ...incidentModel, noise: 0, failureMs: 100 }
      const at = (second: number) => START + second * 1000
      const incidents = failing.map(([from, to]) => ({
        name: '',
        startAt: at(from),
        endAt: at(to),
        impact: 3,
      }))
      return new Fates(
        new Traffic(calls, 3_600_000, START),
        phasesOf(incidents, model, START, at(7000)),
        1,
        model,
      )
    }

    const half = (minCalls: number): CircuitBreakerOptions => ({
      tripping: { kind: 'rolling', windowMs: 60_000, minCalls, failureRatio: 0.5 },
      cooldownMs: 20_000,
    })

    function crossed(fates: Fates, options: CircuitBreakerOptions): number {
      const rules = resolveBreaker(options)
      const course = told(play(fates, rules))
      same(course, told(play(fates, rules, { cross: false })))
      return course.transitions.length
    }

    it('time alone makes a window bad: its successes leave it before its failures', () => {
      const opened = Array.from({ length: 20 }, (_, i) => {
        const failing = hour(
          [
            [2000, 100],
            [2012 + i, 16],
          ],
          [[2012 + i, 2013 + i]],
        )
        return crossed(failing, half(8))
      })
      expect(Math.max(...opened)).toBeGreaterThan(0)
    })

    it('calls that were refused are not in the window after the recovery', () => {
      // it opens, refuses a burst that would have been answered, recovers, and meets a few failures
      const fates = hour(
        [
          [2000, 30],
          [2011, 200],
          [2036, 4],
        ],
        [
          [2000, 2001],
          [2036, 2037],
        ],
      )
      expect(crossed(fates, half(3))).toBeGreaterThan(3)
    })

    it('what one rule trips on is told with what every other has counted', () => {
      const fates = hour(
        [
          [2001, 2],
          [2006, 3],
        ],
        [
          [2001, 2002],
          [2006, 2007],
        ],
      )
      const options: CircuitBreakerOptions = {
        tripping: { kind: 'leaky', threshold: 9 },
        kinds: { server_error: { threshold: 3 } },
      }
      expect(crossed(fates, options)).toBeGreaterThan(0)
    })

    it('a window that is being filled again trips nobody', () => {
      for (let later = 60; later < 90; later++) {
        const fates = hour(
          [
            [2000, 100],
            [2006, 1],
            [2006 + later, 40],
          ],
          [
            [2006, 2007],
            [2006 + later, 2007 + later],
          ],
        )
        expect(crossed(fates, half(1))).toBeGreaterThan(0)
      }
    })
  })
})
