import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { Reading, RuleReading, TrippingRule } from '../../../machines/tripping.ts'

// a larger threshold is looked at where something may change, not count by count
const MANY = 12

/** Every count from 0 on; of many only those around the shares that a guard compares with. */
function upTo(last: number, limits: readonly number[] = []): number[] {
  if (last <= MANY) return Array.from({ length: last + 1 }, (_, count) => count)
  const around = limits.flatMap((limit) => [
    Math.floor(limit) - 1,
    Math.floor(limit),
    Math.ceil(limit),
    Math.ceil(limit) + 1,
  ])
  const counts = [0, 1, 2, ...around, last - 1, last]
  return [...new Set(counts.filter((count) => count >= 0 && count <= last && Number.isFinite(count)))].sort(
    (a, b) => a - b,
  )
}

const none: RuleReading = { count: 0, calls: 0 }

/** Everything between nothing and more than enough, for one rule. */
function readingsOf(rule: TrippingRule, shares: readonly number[]): RuleReading[] {
  switch (rule.kind) {
    case 'consecutive':
    case 'leaky':
      return upTo(rule.threshold + 1, limitsOf(rule.threshold, shares)).map((count) => ({
        count,
        calls: count,
      }))
    case 'rolling':
    case 'latency': {
      const minCalls = Math.max(1, rule.minCalls)
      const ratio = rule.kind === 'rolling' ? rule.failureRatio : rule.slowRatio
      const counts = upTo(minCalls, limitsOf(minCalls * ratio, shares))
      const enough = counts.map((count) => ({ count, calls: minCalls }))
      return [none, { count: minCalls - 1, calls: minCalls - 1 }, ...enough]
    }
    case 'custom':
      return [none, { count: 1, calls: 1 }]
  }
}

const limitsOf = (threshold: number, shares: readonly number[]) => shares.map((share) => share * threshold)

/** Readings on both sides of every limit of a policy: each rule in turn, the others at rest. */
export function policyReadings({ rules, degradedAt }: BreakerPolicy): Reading[] {
  const shares = degradedAt === null ? [1] : [degradedAt / 2, degradedAt, 1]
  return rules.flatMap((rule, i) =>
    readingsOf(rule, shares).map((reading) => ({
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
