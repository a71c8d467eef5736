import type { BreakerPolicy } from './breaker-policy.ts'

/** One half-open phase. */
export interface Trial {
  readonly succeeded: number
  readonly failed: number
  /** Ids of the probes in flight. */
  readonly permits: readonly number[]
  /** Latest date until which a failed probe's provider asked to be left alone; null = none did. */
  readonly retryUntil: number | null
  /** Kind of the last failed probe; null = none has failed. */
  readonly failure: string | null
}

export const freshTrial: Trial = { succeeded: 0, failed: 0, permits: [], retryUntil: null, failure: null }

type TrialRules = Pick<
  BreakerPolicy,
  'halfOpenProbes' | 'halfOpenSuccessRatio' | 'halfOpenConcurrency' | 'halfOpenVerdict'
>

/** True when one more probe may start. */
export function slotIsFree(policy: TrialRules, trial: Trial): boolean {
  const inFlight = trial.permits.length
  return (
    inFlight < policy.halfOpenConcurrency && inFlight + trial.succeeded + trial.failed < policy.halfOpenProbes
  )
}

// 0.07 × 100 is 7.000000000000001: rounding must not cost a probe
const needed = (policy: TrialRules) => policy.halfOpenSuccessRatio * policy.halfOpenProbes - 1e-9

const decidable = (policy: TrialRules, trial: Trial) =>
  policy.halfOpenVerdict === 'early' || trial.succeeded + trial.failed >= policy.halfOpenProbes

/** True when the trial closes the circuit. */
export function ratioMet(policy: TrialRules, trial: Trial): boolean {
  return decidable(policy, trial) && trial.succeeded >= needed(policy)
}

/** True when the trial reopens the circuit: the probes still possible cannot reach the ratio any more. */
export function ratioMissed(policy: TrialRules, trial: Trial): boolean {
  return decidable(policy, trial) && policy.halfOpenProbes - trial.failed < needed(policy)
}

/** The trial after the probe `permit` has left it, with what it found. */
export function withoutProbe(trial: Trial, permit: number, found: Partial<Trial>): Trial {
  return { ...trial, permits: trial.permits.filter((id) => id !== permit), ...found }
}
