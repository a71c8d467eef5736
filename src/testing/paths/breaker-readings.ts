import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { Reading, RuleReading, TrippingRule } from '../../../machines/tripping.ts'

const upTo = (last: number) => Array.from({ length: last + 1 }, (_, count) => count)

const none: RuleReading = { count: 0, calls: 0 }

/** Everything between nothing and more than enough, for one rule. */
function readingsOf(rule: TrippingRule): RuleReading[] {
  switch (rule.kind) {
    case 'consecutive':
    case 'leaky':
      return upTo(rule.threshold + 1).map((count) => ({ count, calls: count }))
    case 'rolling':
    case 'latency': {
      const { minCalls } = rule
      const enough = upTo(minCalls).map((count) => ({ count, calls: minCalls }))
      return [none, { count: minCalls - 1, calls: minCalls - 1 }, ...enough]
    }
    case 'custom':
      return [none, { count: 1, calls: 1 }]
  }
}

/** Readings on both sides of every limit of a policy: each rule in turn, the others at rest. */
export function policyReadings({ rules }: BreakerPolicy): Reading[] {
  return rules.flatMap((rule, i) =>
    readingsOf(rule).map((reading) => ({
      rules: rules.map((_, j) => (i === j ? reading : none)),
      kinds: {},
      consecutiveFailures: reading.count,
    })),
  )
}

/** Failure kinds with a rule of their own, each with readings on both sides of its threshold. */
export function kindReadings(
  policy: BreakerPolicy,
): { readonly failure: string; readonly reading: Reading }[] {
  const rules = policy.rules.map(() => none)
  return Object.entries(policy.kinds).flatMap(([failure, kind]) =>
    upTo(kind.threshold ?? 1).map((count) => ({
      failure,
      reading: { rules, kinds: { [failure]: count }, consecutiveFailures: count },
    })),
  )
}
