import type { BreakerEvent } from '../../../machines/breaker-events.ts'
import { kindTrips, readingDegrades, rulesTrip } from '../../../machines/breaker-policy.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { BreakerSnapshot } from '../../../machines/circuit-state.ts'
import type { Clock } from '../../core/clock.ts'
import { rootHost } from '../../core/host.ts'
import type { BreakerRef, Host } from '../../core/host.ts'
import type { Notifier } from '../../core/notifier.ts'

/**
 * True for an outcome that cannot move the machine: the circuit is closed and healthy, and by the policy's own words the
 * reading neither trips nor degrades it.
 */
export function changesNothing(
  { value, context: { policy } }: BreakerSnapshot,
  event: BreakerEvent,
): boolean {
  if (event.type !== 'call.failed' && event.type !== 'call.succeeded') return false
  if (typeof value !== 'object' || !('closed' in value) || value.closed !== 'healthy') return false
  const failure = event.type === 'call.failed' ? event.failure : undefined
  return (
    !rulesTrip(policy, event.reading) &&
    !kindTrips(policy, failure, event.reading) &&
    !readingDegrades(policy, event.reading)
  )
}

/** A host that does not trouble an actor with what cannot move it, for millions of calls in virtual time. */
export class QuietHost implements Host {
  /** While true actors hear nothing at all: what is counted now is known to move them nowhere. */
  deaf = false
  readonly #host: Host

  constructor(clock: Clock, notifier: Notifier) {
    this.#host = rootHost(clock, notifier)
  }

  spawn(bucket: string, policy: BreakerPolicy, at: number): BreakerRef {
    return this.#quiet(this.#host.spawn(bucket, policy, at))
  }

  replacement(bucket: string, policy: BreakerPolicy, at: number): BreakerRef {
    return this.#quiet(this.#host.replacement(bucket, policy, at))
  }

  command(...command: Parameters<Host['command']>): void {
    this.#host.command(...command)
  }

  stop(...actor: Parameters<Host['stop']>): void {
    this.#host.stop(...actor)
  }

  #quiet(actor: BreakerRef): BreakerRef {
    const send = actor.send.bind(actor)
    actor.send = (event) => {
      if (!this.deaf && !changesNothing(actor.getSnapshot(), event)) send(event)
    }
    return actor
  }
}
