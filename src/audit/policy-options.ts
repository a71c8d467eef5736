import { isDeepStrictEqual } from 'node:util'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { resolveBreaker } from '../core/breaker-options.ts'
import type { CircuitBreakerOptions, ResolvedBreaker } from '../core/breaker-options.ts'
import type { TrippingRule } from '../../machines/tripping.ts'

/** The options that a policy came from, as far as it can be told: rules of the user's own cannot. */
export function policyOptions(policy: BreakerPolicy): CircuitBreakerOptions | undefined {
  const { rules, backoff, degradedAt, kinds, ...same } = policy
  const own = rules.filter(
    (rule): rule is Exclude<TrippingRule, { kind: 'custom' }> => rule.kind !== 'custom',
  )
  if (own.length < rules.length || typeof backoff === 'function') return undefined
  const [only] = own
  return {
    ...same,
    ...(own.length > 1 || only === undefined
      ? { tripping: own }
      : only.kind === 'consecutive'
        ? { threshold: only.threshold }
        : { tripping: only }),
    ...(backoff !== null && { cooldownBackoff: backoff }),
    ...(degradedAt !== null && { degradation: { at: degradedAt } }),
    ...(Object.keys(kinds).length > 0 && { kinds }),
  }
}

/** Options that give the same rules, without those that say what is usual anyway. */
export function fewestOptions(rules: ResolvedBreaker): CircuitBreakerOptions {
  const { onStateChange: _hook, shouldCount: _count, snapshot: _saved, ...plain } = rules.source
  let options: Record<string, unknown> = plain
  for (const key of Object.keys(plain).toReversed()) {
    const { [key]: _left, ...fewer } = options
    if (givesRules(fewer, rules)) options = fewer
  }
  return options
}

/** Some options are refused without others. */
function givesRules(
  options: CircuitBreakerOptions,
  { policy, probeLeaseMs, observe }: ResolvedBreaker,
): boolean {
  try {
    const given = resolveBreaker(options)
    return (
      isDeepStrictEqual(given.policy, policy) &&
      given.probeLeaseMs === probeLeaseMs &&
      given.observe === observe
    )
  } catch {
    return false
  }
}
