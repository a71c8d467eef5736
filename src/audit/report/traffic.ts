import type { AuditedPolicy } from '../audited.ts'
import type { LintAssumptions } from '../lint/finding.ts'
import { rateOf } from '../lint/rate.ts'
import { assumedRate, mistakes, quietHour, USUAL_FAILURES } from '../mistakes.ts'
import type { Mistakes, Quiet } from '../mistakes.ts'
import { aboutEvery, grouped } from '../words.ts'

/** What the circuits of a policy live in, as it was said or is taken. */
export interface Traffic {
  /** Calls a minute that were said; undefined = nobody has. */
  readonly said: number | undefined
  /** Calls a minute that are reckoned with. */
  readonly perMinute: number
  readonly isAssumed: boolean
  /** The share of the calls that fails while the provider is healthy. */
  readonly failing: number
  /** … and how often that opens the circuit. */
  readonly mistakes: Mistakes
  /** The quiet hour in which it errs most, where it errs more than that; undefined = there is none. */
  readonly quiet: Quiet | undefined
}

export function trafficOf(policy: AuditedPolicy, assumptions: LintAssumptions): Traffic {
  const { callsPerMinute, healthyFailures: failing = USUAL_FAILURES } = assumptions
  const said = rateOf(policy, callsPerMinute, 'most')
  const perMinute = said ?? assumedRate(policy.rules.policy, failing)
  return {
    said,
    perMinute,
    isAssumed: said === undefined,
    failing,
    mistakes: mistakes(policy.rules.policy, { perMinute, failing }),
    quiet: said === undefined ? undefined : quietHour(policy.rules.policy, { perMinute, failing }),
  }
}

export const callsAMinute = (n: number): string =>
  `${n < 10 ? Math.round(n * 10) / 10 : grouped(Math.round(n))} ${n === 1 ? 'call' : 'calls'} a minute`

/** That there are times in which it is another matter. */
export const inQuietHours = (quiet: Traffic['quiet']): string =>
  quiet === undefined || quiet.mistakes.perDay * 365 < 1
    ? ''
    : `; were all hours quiet, with ${callsAMinute(quiet.perMinute)}, ${aboutEvery(quiet.mistakes.perDay)}`
