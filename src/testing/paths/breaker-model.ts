import { breakerMachine } from '../../../machines/breaker.machine.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { BreakerSnapshot } from '../../../machines/circuit-state.ts'
import { breakerSteps } from './breaker-steps.ts'
import type { Model } from './model.ts'

const STARTED_AT = 1_000_000
// from here on the cooldown of every policy of the family grows no more
const SATURATED = 3

/**
 * What tells two configurations of a breaker apart. Generation, dates and causes are left out: they grow without end,
 * and nothing but a comparison with an event reads them.
 */
export function breakerKey({ value, context }: BreakerSnapshot): string {
  const { trial, hold, reopens } = context
  const found = trial && [
    trial.succeeded,
    trial.failed,
    trial.permits.length,
    trial.retryUntil !== null,
    trial.failure !== null && (context.policy.kinds[trial.failure] === undefined ? 'any' : trial.failure),
  ]
  const held = hold && (hold.until === null ? 'for good' : 'for a while')
  return JSON.stringify([value, Math.min(reopens, SATURATED), held, found])
}

/** The breaker under one policy. */
export function breakerModel(name: string, policy: BreakerPolicy): Model<typeof breakerMachine> {
  return {
    name,
    machine: breakerMachine,
    input: { policy, at: STARTED_AT },
    startAt: STARTED_AT,
    events: (snapshot, now) => breakerSteps(policy, snapshot, now),
    key: breakerKey,
    deadline: ({ context }) => context.openUntil,
  }
}
