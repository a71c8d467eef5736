import type { Cause } from '../../machines/breaker-events.ts'
import { callsFlow, circuitState, shifted } from '../../machines/circuit-state.ts'
import type { BreakerSnapshot, CircuitState } from '../../machines/circuit-state.ts'
import type { Reading } from '../../machines/tripping.ts'
import type { Counted } from './meter.ts'
import type { Permit, Refusal } from './permit.ts'

/** A breaker at a glance. Reading it changes nothing. Times are ms of the wall clock as it is now. */
export interface BreakerStatus {
  /** Where it is only observed, what it would be. */
  readonly state: CircuitState
  /** It only watches, and refuses nobody whatever its state is; absent where it enforces. */
  readonly observed?: true
  /** An operator holds it open or closed. */
  readonly held: boolean
  /** Counted failures since the counters were last empty. */
  readonly failureCount: number
  readonly consecutiveFailures: number
  readonly lastFailureKind: string | undefined
  /** 0 = the next admission says yes; null = only an operator knows. In ms. */
  readonly retryAfterMs: number | null
  readonly openedAt: number | null
  readonly openUntil: number | null
  readonly reopenCount: number
  readonly probes: { readonly inFlight: number; readonly succeeded: number; readonly failed: number }
  readonly reading: Reading
  readonly generation: number
  /** When the present state was entered. */
  readonly since: number
  readonly cause: Cause
}

/** Where a status is asked for. */
interface Asked {
  /** From the clock of the breaker to that of the wall, in ms. */
  readonly toWall: number
  readonly observed: boolean
}

/** What the next admission would say: undefined = yes. */
export function refusalOf(
  snapshot: BreakerSnapshot,
  leases: Iterable<Permit>,
  now: number,
): Refusal | undefined {
  if (callsFlow(snapshot)) return undefined
  const { hold, openUntil, trial } = snapshot.context
  if (hold !== null) {
    return { admitted: false, reason: 'held', retryAfterMs: hold.until === null ? null : hold.until - now }
  }
  if (trial === null)
    return { admitted: false, reason: 'open', retryAfterMs: Math.max(0, (openUntil ?? now) - now) }
  if (snapshot.can({ type: 'probe.requested', at: now, permit: -1 })) return undefined
  return {
    admitted: false,
    reason: 'half-open',
    retryAfterMs: Math.max(0, earliestLease(leases, trial.permits, now) - now),
  }
}

function earliestLease(leases: Iterable<Permit>, inFlight: readonly number[], now: number): number {
  let earliest = Infinity
  for (const { id, leaseUntil } of leases)
    if (inFlight.includes(id)) earliest = Math.min(earliest, leaseUntil)
  return earliest === Infinity ? now : earliest
}

export function statusOf(
  snapshot: BreakerSnapshot,
  counted: Counted,
  refusal: Refusal | undefined,
  { toWall, observed }: Asked,
): BreakerStatus {
  const { hold, openedAt, openUntil, reopens, trial, generation, since, cause } = snapshot.context
  return {
    state: circuitState(snapshot),
    ...(observed && { observed }),
    held: hold !== null,
    failureCount: counted.failures,
    consecutiveFailures: counted.consecutiveFailures,
    lastFailureKind: counted.lastFailureKind,
    retryAfterMs: refusal === undefined ? 0 : refusal.retryAfterMs,
    openedAt: shifted(openedAt, toWall),
    openUntil: shifted(openUntil, toWall),
    reopenCount: reopens,
    probes: {
      inFlight: trial?.permits.length ?? 0,
      succeeded: trial?.succeeded ?? 0,
      failed: trial?.failed ?? 0,
    },
    reading: counted.reading,
    generation,
    since: since + toWall,
    cause,
  }
}
