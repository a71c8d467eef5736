import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import type { TrippingRule } from '../../machines/tripping.ts'
import { exactly, atLeast, poisson, untilCounted, untilInARow } from './chances.ts'
import { openPeriod } from './open-periods.ts'

/** The share of failed calls that a healthy provider is taken to have, unless said otherwise. */
export const USUAL_FAILURES = 0.05

type Rolling = Extract<TrippingRule, { readonly kind: 'rolling' }>

const DAY = 86_400_000
const EPSILON = 1e-9

/** Failures that a window of `calls` calls needs. */
export const neededOf = ({ failureRatio }: Pick<Rolling, 'failureRatio'>, calls: number): number =>
  Math.max(1, Math.ceil(failureRatio * calls - EPSILON))

/** Calls of a window of this length, on average. */
export const callsIn = (windowMs: number, perMinute: number): number => (perMinute * windowMs) / 60_000

/**
 * Openings for each call by one rule, where a share `p` of the calls fails independently and calls come at random, so many
 * a minute on average. What looks at latency, or is code, is not known: 0.
 */
export function openingsPerCall(rule: TrippingRule, p: number, perMinute: number): number {
  switch (rule.kind) {
    case 'consecutive':
      return rule.threshold === Infinity ? 0 : 1 / untilInARow(rule.threshold, p)
    case 'leaky':
      return rule.threshold === Infinity ? 0 : 1 / untilCounted(rule.threshold, p)
    case 'rolling':
      return ofWindow(rule, p, callsIn(rule.windowMs, perMinute))
    default:
      return 0
  }
}

/** A failure opens where one failure fewer would not have; and so does whatever makes a bad window large enough. */
function ofWindow(rule: Rolling, p: number, mean: number): number {
  const least = Math.max(1, rule.minCalls)
  const spread = 8 * Math.sqrt(mean) + 20
  // the call itself is in its window
  const chanceOf = (calls: number) => poisson(calls - 1, mean)
  const from = Math.max(least, Math.floor(mean - spread))
  let all = least > 1 ? chanceOf(least) * atLeast(neededOf(rule, least), least - 1, p) : 0
  for (let calls = from; calls <= Math.max(mean, least) + spread; calls++) {
    all += chanceOf(calls) * p * exactly(neededOf(rule, calls) - 1, calls - 1, p)
  }
  return all
}

/** How often a healthy provider is shut off. */
export interface Mistakes {
  readonly perDay: number
  /** Part of the time in which its calls are refused. */
  readonly share: number
}

/** … by all rules together, or by those that are given. */
export function mistakes(
  policy: BreakerPolicy,
  { perMinute, failing }: { readonly perMinute: number; readonly failing: number },
  rules: readonly TrippingRule[] = policy.rules,
): Mistakes {
  const perCall = rules.reduce((sum, rule) => sum + openingsPerCall(rule, failing, perMinute), 0)
  if (perCall === 0 || perMinute === 0) return { perDay: 0, share: 0 }
  const { leastMs, mostMs } = openPeriod(policy, 0)
  const openMs = (leastMs + mostMs) / 2
  const everyMs = 60_000 / perMinute / perCall + openMs
  return { perDay: DAY / everyMs, share: openMs / everyMs }
}

/** The traffic, where nobody has said it: of one call a minute and what just fills each window the one that errs most. */
export function assumedRate(policy: BreakerPolicy, failing: number): number {
  const filling = policy.rules.flatMap((rule) =>
    rule.kind === 'rolling' ? [(Math.max(1, rule.minCalls) * 60_000) / rule.windowMs] : [],
  )
  const rates = [1, ...filling]
  const errors = rates.map((perMinute) => mistakes(policy, { perMinute, failing }).perDay)
  return rates[errors.indexOf(Math.max(...errors))] ?? 1
}

/** A time with fewer calls than usual. */
export interface Quiet {
  readonly perMinute: number
  readonly mistakes: Mistakes
}

/** The hour with fewer calls than `perMinute` in which the rules err most; undefined = in none they err more. */
export function quietHour(
  policy: BreakerPolicy,
  { perMinute: usual, failing }: { readonly perMinute: number; readonly failing: number },
): Quiet | undefined {
  const perMinute = assumedRate(policy, failing)
  if (perMinute >= usual) return undefined
  const quiet = mistakes(policy, { perMinute, failing })
  return quiet.perDay > mistakes(policy, { perMinute: usual, failing }).perDay
    ? { perMinute, mistakes: quiet }
    : undefined
}
