import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { createBreaker } from '../../src/core/create-breaker.ts'
import type { Permit } from '../../src/core/permit.ts'
import type { RecordedRow } from '../../src/stores/outcome-row.ts'
import { policyAsJson } from '../../src/stores/policy-json.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

export interface Day {
  readonly circuit?: string
  readonly seed?: number
  /** ms between two calls. */
  readonly everyMs?: number
  readonly calls?: number
  /** Share of failing calls, by the number of the call. */
  readonly ratio: (call: number) => number
  readonly startAt?: number
  readonly latencyMs?: number
}

/** What a switchgear with these rules would have recorded: its breaker ran, and refused what it refused. */
export function recordedRows(options: CircuitBreakerOptions, day: Day): RecordedRow[] {
  const {
    circuit = 'openai',
    seed = 1,
    everyMs = 1000,
    calls = 600,
    startAt = Date.UTC(2024, 4, 6),
    latencyMs = 300,
  } = day
  const clock = new VirtualClock(startAt)
  const chance = seededRandom(seed)
  const rows: RecordedRow[] = [{ outcomes: 1, at: startAt, sample: 1 }]
  rows.push({ at: startAt, circuit, rules: policyAsJson(resolveBreaker(options).policy) })
  const breaker = createBreaker({
    ...options,
    clock,
    random: seededRandom(seed + 1),
    onStateChange: (from, to, _failures, _model, { at, cause }) =>
      void rows.push({ at, circuit, from, to, why: cause.why }),
  })
  const waiting: { at: number; since: number; permit: Permit; fails: boolean }[] = []
  const settle = (until: number) => {
    while (waiting[0] !== undefined && waiting[0].at <= until) {
      const { at, since, permit, fails } = waiting.shift()!
      clock.set(at)
      breaker.settle(permit, fails ? { outcome: 'failure', failure: 'overloaded' } : { outcome: 'success' })
      const end = fails
        ? ({ outcome: 'failure', kind: 'overloaded' } as const)
        : ({ outcome: 'success' } as const)
      rows.push({ at: since, target: circuit, ...end, ms: at - since })
    }
  }
  for (let call = 0; call < calls; call++) {
    const at = startAt + call * everyMs
    settle(at)
    clock.set(at)
    const fails = chance() < day.ratio(call)
    const permit = breaker.tryAcquire()
    if (permit.admitted) waiting.push({ at: at + latencyMs, since: at, permit, fails })
    else rows.push({ at, target: circuit, outcome: 'refused' })
  }
  settle(Infinity)
  breaker.dispose()
  return rows
}

export const asText = (rows: readonly RecordedRow[]): string =>
  `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`
