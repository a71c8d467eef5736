import { setImmediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arrivals } from '../../src/audit/simulate/arrivals.ts'
import type { Arrival } from '../../src/audit/simulate/arrivals.ts'
import type { Answer, Load, Provider } from '../../src/audit/simulate/load.ts'
import { Observed, total } from '../../src/audit/simulate/observed.ts'
import { ScriptedStream } from '../../src/audit/simulate/scripted-stream.ts'
import { ScriptedTarget } from '../../src/audit/simulate/scripted-target.ts'
import { Simulation } from '../../src/audit/simulate/simulation.ts'
import { createSwitchgear } from '../../src/core/switchgear.ts'
import type { CallReport } from '../../src/core/switchgear-options.ts'
import type { PartKind } from '../../src/core/target-options.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const DURATION_MS = 100_000
const START_AT = Date.UTC(2000, 0, 1)

const answer = (stream: boolean): fc.Arbitrary<Answer> =>
  fc.constantFrom<Answer>(
    { status: 503 },
    { status: 429, headers: { 'retry-after': 3 } },
    { status: 400 },
    { error: 'ECONNREFUSED' },
    { hang: true },
    { empty: true },
    ...(stream ? [{ cut: 0 }, { cut: 0.5 }, { stall: 0 }, { stall: 0.5 }] : []),
  )

const provider = (stream: boolean): fc.Arbitrary<Provider> =>
  fc
    .record({
      latency: fc.constantFrom(
        { kind: 'fixed', ms: 400 } as const,
        { kind: 'fixed', ms: 0 } as const,
        { kind: 'spread', median: 800, p95: 4000 } as const,
        { kind: 'tokens', answer: 200, perToken: 5 } as const,
      ),
      stream: fc.record({
        parts: fc.integer({ min: 1, max: 5 }),
        everyMs: fc.constantFrom(undefined, 0, 90),
      }),
      failures: fc.constantFrom(0, 0.02, 0.4),
      failure: answer(stream),
      failureMs: fc.constantFrom(0, 200),
      at: fc.nat(DURATION_MS),
      lasts: fc.nat(DURATION_MS / 2),
      ratio: fc.constantFrom(0, 0.5, 1),
      answer: answer(stream),
      slow: fc.constantFrom(1, 6),
    })
    .map(({ at, lasts, ratio, answer, slow, ...same }) => {
      const fault = { fromAt: at, toAt: at + lasts, ratio, answer, latencyMs: 100, slow }
      return { ...same, faults: [fault], price: undefined }
    })

const target = fc.record({
  circuitBreaker: fc.constantFrom<unknown>(
    { threshold: 3, cooldownMs: 5000 },
    { threshold: 1, cooldownMs: 100, halfOpenProbes: 2, halfOpenVerdict: 'all' },
    { tripping: { kind: 'rolling', windowMs: 20_000, minCalls: 5, failureRatio: 0.5 } },
    { tripping: { kind: 'latency', windowMs: 20_000, minCalls: 5, slowMs: 1000, slowRatio: 0.5 } },
    { threshold: 4, degradation: { at: 0.5 } },
    false,
  ),
  maxRetries: fc.nat(2),
  timeoutMs: fc.constantFrom(1000, 5000),
  firstContentTimeoutMs: fc.constantFrom(900, 5000),
  idleTimeoutMs: fc.constantFrom(50, 2000),
})

const loads: fc.Arbitrary<Load> = fc.boolean().chain((stream) =>
  fc
    .record({
      targets: fc.array(target, { minLength: 1, maxLength: 3 }),
      providers: fc.array(provider(stream), { minLength: 3, maxLength: 3 }),
      rate: fc.constantFrom(0.3, 2),
      even: fc.boolean(),
      rules: fc.constantFrom({}, { deadlineMs: 3000 }, { whenAllOpen: { waitMs: 2000 } }),
      seed: fc.nat(1000),
    })
    .map(({ targets, providers, rate, even, rules, seed }) => ({
      name: 'a load',
      durationMs: DURATION_MS,
      seed,
      traffic: {
        rate,
        arrivals: even ? 'even' : 'poisson',
        daily: undefined,
        bursts: [{ fromAt: 30_000, toAt: 33_000, rate: 20 }],
        trace: undefined,
        stream,
        tokens: { input: 10, output: 100 },
      },
      switchgear: { ...rules, targets: targets.map((target, i) => ({ ...target, name: `t${i}` })) },
      providers: new Map(targets.map((_, i) => [`t${i}`, providers[i]!])),
    })),
)

/** The same as anybody would play it: a turn of the event loop after every instant, and somebody who looks on at every call. */
async function plainly(load: Load): Promise<Observed> {
  const names = [...load.providers.keys()]
  const observed = new Observed(names, 0, load.durationMs)
  const clock = new VirtualClock(START_AT)
  const now = () => clock.now() - START_AT
  const seeded = (salt: number) => seededRandom(load.seed * 1009 + salt)
  const { stream } = load.traffic
  const scripted = [...load.providers.values()].map(
    (provider, i) => new ScriptedTarget(provider, seeded(i + 2), stream),
  )
  let due: { readonly at: number; readonly run: () => void }[] = []
  const after = (ms: number, run: () => void) => void due.push({ at: now() + ms, run })
  const later = <T>(ms: number, settle: () => T) =>
    new Promise<T>((resolve, reject) =>
      after(ms, () => {
        try {
          resolve(settle())
        } catch (error) {
          reject(error as Error)
        }
      }),
    )
  const sent = (i: number, request: Arrival) => {
    observed.targets[i]!.sent[observed.column(now())]!++
    return scripted[i]!.fateAt(now(), request)
  }
  const gear = createSwitchgear<Arrival, Arrival | null, PartKind>({
    ...load.switchgear,
    targets: load.switchgear.targets.map((target, i) => ({
      ...target,
      invoke: (request) => {
        const { ms, error, empty } = sent(i, request)
        return later(ms, () => {
          if (error !== undefined) throw error
          return empty ? null : request
        })
      },
      stream: (request) => {
        const { ms, error, stream } = sent(i, request)
        if (stream !== undefined) return new ScriptedStream(ms, stream, after)
        return later(ms, () => {
          throw error!
        })
      },
      classifyPart: (part) => part,
    })),
    clock,
    random: seeded(0),
    journal: {
      append: ({ bucket, event, from, to, at, saved }) => {
        const target = observed.of(bucket)
        if (event.type === 'probe.requested') target.probes++
        if (from !== to) target.changes.push({ at: at - START_AT, from, to, why: saved.cause.why })
      },
    },
  })
  const faultOf = (name: string) => scripted[names.indexOf(name)]!.faultAt(now())
  gear.on('failure', ({ target }) => {
    observed.of(target).failed[observed.column(now())]!++
    if ((faultOf(target)?.ratio ?? 0) >= 0.5) observed.of(target).wasted++
  })
  gear.observe({
    begin: () => ({
      refused: (target) => {
        observed.of(target).refused[observed.column(now())]!++
        if (faultOf(target) === undefined) observed.of(target).refusedHealthy++
      },
      attempt: (_attempt, send) => send(),
      committed: () => {},
      attemptEnded: () => {},
      ended: () => {},
    }),
  })
  const running = new Set<Arrival>()
  const call = async (arrival: Arrival) => {
    let parts = 0
    running.add(arrival)
    const report = ({ ok, durationMs, fallbackIndex, target }: CallReport) => {
      running.delete(arrival)
      const interrupted = parts > 0 && !ok
      observed.ended(arrival.at, durationMs, ok ? fallbackIndex : -1, interrupted)
      if (interrupted) observed.of(target!).interrupted++
      if (!ok) return
      observed.of(target!).answered++
      observed.of(target!).input += arrival.input
      observed.of(target!).output += arrival.output
    }
    if (!stream) return gear.call(arrival, { report })
    for await (const part of gear.stream(arrival, { report })) {
      if (part === 'content' && parts++ === 0) observed.firstParts.push(now() - arrival.at)
    }
  }
  const coming = [...arrivals(load.traffic, load.durationMs, seeded(1))]
  while (coming.length > 0 || running.size > 0) {
    const timerAt = (clock.nextAt ?? Infinity) - START_AT
    const at = Math.min(coming[0]?.at ?? Infinity, timerAt, ...due.map((one) => one.at))
    if (at === Infinity) break
    clock.set(START_AT + at)
    const ready = due.filter((one) => one.at <= at)
    due = due.filter((one) => one.at > at)
    for (const { run } of ready) run()
    while (coming[0] !== undefined && coming[0].at <= at) call(coming.shift()!).catch(() => {})
    await setImmediate()
  }
  return observed
}

/** All that was observed, as plain numbers. */
function told({ targets, latencies, firstParts, fromAt: _from, toAt: _to, ...columns }: Observed) {
  const sparse = (all: Float64Array) => Array.from(all, (n, i) => [i, n]).filter(([, n]) => n !== 0)
  const flat = (bag: object) =>
    Object.fromEntries(
      Object.entries(bag).map(([key, value]) => [key, value instanceof Float64Array ? sparse(value) : value]),
    ) as Record<string, unknown>
  return {
    ...flat(columns),
    latencies: [...latencies.all],
    firstParts: [...firstParts.all],
    targets: targets.map(flat),
  }
}

describe('a simulation', () => {
  it('is the switchgear with a turn of the event loop after every instant, to the millisecond', async () => {
    let [failed, refused, interrupted] = [0, 0, 0]
    await fc.assert(
      fc.asyncProperty(loads, async (load) => {
        const simulation = new Simulation(load)
        while (await simulation.step());
        const { observed } = simulation
        for (const target of observed.targets) {
          failed += total(target.failed)
          refused += total(target.refused)
          interrupted += target.interrupted
        }
        expect(told(observed)).toEqual(told(await plainly(load)))
      }),
      { numRuns: 40 },
    )
    // what is compared has happened at all
    expect(Math.min(failed, refused, interrupted)).toBeGreaterThan(100)
  })
})
