import { degradedQuietMs } from '../../machines/breaker-policy.ts'
import type { BreakerContext } from '../../machines/breaker-context.ts'
import type { BreakerEvent } from '../../machines/breaker-events.ts'
import type { Meter } from './meter.ts'
import type { Permit } from './permit.ts'

/** A deadline and what happens at it. */
export interface Due {
  readonly at: number
  readonly event: (roll: number, meter: Meter) => BreakerEvent
}

const earlier = (a: Due | undefined, b: Due): Due => (a === undefined || b.at < a.at ? b : a)

function dueOfLease(context: BreakerContext, leases: Iterable<Permit>): Due | undefined {
  let first: Due | undefined
  for (const { id: permit, generation, leaseUntil: at } of leases) {
    if (context.trial === null || !context.trial.permits.includes(permit)) continue
    first = earlier(first, { at, event: (roll) => ({ type: 'probe.expired', at, generation, permit, roll }) })
  }
  return first
}

/**
 * The next deadline of a circuit. Cooldown, hold, leases and ageing exclude one another but for several leases, of which
 * the first issued comes first.
 */
export function nextDue(
  context: BreakerContext,
  leases: Iterable<Permit>,
  degraded: boolean,
  meter: Meter,
): Due | undefined {
  const { openUntil, hold, trial, policy } = context
  if (openUntil !== null) return { at: openUntil, event: () => ({ type: 'cooldown.elapsed', at: openUntil }) }
  if (hold?.until != null) {
    const at = hold.until
    return { at, event: () => ({ type: 'hold.ended', at }) }
  }
  if (trial !== null) return dueOfLease(context, leases)
  if (!degraded) return undefined
  const quietMs = degradedQuietMs(policy)
  const at = (meter.lastOutcomeAt ?? context.since) + quietMs
  return { at, event: (_roll, meter) => ({ type: 'reading.aged', at, reading: meter.reading(at), quietMs }) }
}
