import type { Audited } from '../audited.ts'
import { policiesOf } from '../audited.ts'
import { chainRules } from './chain-rules.ts'
import type { Finding, LintAssumptions, LintInput, LintRule, Severity } from './finding.ts'
import { USUAL_FAILURES } from '../mistakes.ts'
import { operationRules } from './operation-rules.ts'
import { rateOf } from './rate.ts'
import { recoveryRules } from './recovery-rules.ts'
import { trippingRules } from './tripping-rules.ts'

/** Everything that the linter knows. */
export const lintRules: readonly LintRule[] = [
  ...trippingRules,
  ...recoveryRules,
  ...chainRules,
  ...operationRules,
]

const ORDER: readonly Severity[] = ['problem', 'warning', 'question']
const USUAL_RECOVERY_MS = 60_000

/**
 * What a reviewer should ask about these rules, the worst first. Reads only what it is given.
 *
 * @example
 * ```ts
 * const found = lintPolicies(audited(options), { callsPerMinute: 200 })
 * ```
 */
export function lintPolicies(subject: Audited, assumptions: LintAssumptions = {}): Finding[] {
  const {
    usualRecoveryMs = USUAL_RECOVERY_MS,
    callsPerMinute,
    healthyFailures = USUAL_FAILURES,
  } = assumptions
  const input: LintInput = {
    audited: subject,
    policies: policiesOf(subject),
    usualRecoveryMs,
    healthyFailures,
    rate: (policy, which) => rateOf(policy, callsPerMinute, which),
  }
  return lintRules
    .flatMap(({ id, severity, reason, find }) =>
      find(input).map(([where, text, remedy = '']): Finding => ({
        id,
        severity,
        where,
        text,
        reason,
        remedy,
      })),
    )
    .toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity))
}
