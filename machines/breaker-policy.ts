import type { CooldownPolicy } from './cooldown.ts'
import { largestShare, quietLimitMs, reaches } from './tripping.ts'
import type { Reading, TrippingRule } from './tripping.ts'

/** The rules of one breaker, resolved and complete. Injected into the machine, never persisted. */
export interface BreakerPolicy extends CooldownPolicy {
  /** Any of them trips. */
  readonly rules: readonly TrippingRule[]
  /** Share of the tripping threshold from which the circuit counts as degraded; null = never. */
  readonly degradedAt: number | null
  /** Probes of one trial. */
  readonly halfOpenProbes: number
  /** Share of the probes that must succeed. */
  readonly halfOpenSuccessRatio: number
  /** Probes in flight at a time. */
  readonly halfOpenConcurrency: number
  /** `all` waits for every probe, `early` decides as soon as the verdict is certain. */
  readonly halfOpenVerdict: 'all' | 'early'
}

/** True when the failure's kind alone opens the circuit. */
export function kindTrips(policy: BreakerPolicy, failure: string | undefined, reading: Reading): boolean {
  if (failure === undefined) return false
  const kind = policy.kinds[failure]
  if (kind === undefined) return false
  if (kind.immediateOpen === true) return true
  return kind.threshold !== undefined && (reading.kinds[failure] ?? 0) >= kind.threshold
}

/** True when the reading reaches a tripping rule. */
export function rulesTrip(policy: BreakerPolicy, reading: Reading): boolean {
  return reaches(largestShare(policy.rules, reading.rules), 1)
}

/** True when the reading is bad enough for degraded. */
export function readingDegrades(policy: BreakerPolicy, reading: Reading): boolean {
  return policy.degradedAt !== null && reaches(largestShare(policy.rules, reading.rules), policy.degradedAt)
}

/** True when the reading is below half of the share that degraded: the hysteresis keeps it from flapping. */
export function readingRecovers(policy: BreakerPolicy, reading: Reading): boolean {
  return (
    policy.degradedAt !== null && !reaches(largestShare(policy.rules, reading.rules), policy.degradedAt / 2)
  )
}

/** How long degraded outlives the last outcome, in ms. */
export function degradedQuietMs(policy: BreakerPolicy): number {
  return quietLimitMs(policy.rules, policy.cooldownMs)
}
