import type { Audited, AuditedPolicy } from '../audited.ts'
import { policiesOf } from '../audited.ts'
import { chainRules } from './chain-rules.ts'
import type { Finding, LintAssumptions, LintInput, LintRule, Severity } from './finding.ts'
import { operationRules } from './operation-rules.ts'
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
  const { usualRecoveryMs = USUAL_RECOVERY_MS, callsPerMinute } = assumptions
  const input: LintInput = {
    audited: subject,
    policies: policiesOf(subject),
    usualRecoveryMs,
    rate: (policy, which) => rateOf(policy, callsPerMinute, which),
  }
  return lintRules
    .flatMap(({ id, severity, reason, find }) =>
      find(input).map(([where, text]): Finding => ({ id, severity, where, text, reason })),
    )
    .toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity))
}

function rateOf(
  { targets }: AuditedPolicy,
  callsPerMinute: LintAssumptions['callsPerMinute'],
  which: 'least' | 'most',
): number | undefined {
  if (typeof callsPerMinute === 'number') return callsPerMinute
  if (callsPerMinute === undefined) return undefined
  // one circuit sees the calls of all its targets
  const circuits = Map.groupBy(targets, ({ bucket }) => bucket)
  const rates = [...circuits.values()].flatMap((sharing) => {
    const known = sharing.flatMap(({ name }) => callsPerMinute[name] ?? [])
    return known.length === 0 ? [] : [known.reduce((sum, rate) => sum + rate, 0)]
  })
  if (rates.length === 0) return undefined
  return which === 'least' ? Math.min(...rates) : Math.max(...rates)
}
