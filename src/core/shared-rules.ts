import { isDeepStrictEqual } from 'node:util'
import type { ResolvedBreaker } from './breaker-options.ts'
import { ConfigError } from './errors.ts'

/** How much longer than the longest limit a probe may be silent, in ms. */
const LEASE_MARGIN_MS = 10_000

interface Sharing {
  readonly name: string
  readonly bucket: string
  readonly rules: ResolvedBreaker | undefined
  readonly longestLimitMs: number
}

/**
 * The rules in force for each target with a breaker: the same for all targets of one bucket, with a probe's lease that
 * outlasts their longest limit.
 *
 * @throws ConfigError when two targets give different options for one bucket
 */
export function sharedRules<T extends Sharing>(targets: readonly T[]): Map<T, ResolvedBreaker> {
  const inForce = new Map<T, ResolvedBreaker>()
  const groups = Map.groupBy(targets, ({ bucket }) => bucket)
  for (const [bucket, group] of groups) {
    const first = group.find(({ rules }) => rules !== undefined)
    if (first?.rules === undefined) continue
    const longest = Math.max(...group.map(({ longestLimitMs }) => longestLimitMs))
    const lease = first.rules.leaseIsDefault && longest > 0 ? { probeLeaseMs: longest + LEASE_MARGIN_MS } : {}
    const rules = { ...first.rules, ...lease }
    for (const target of group) {
      if (target.rules === undefined) continue
      if (!isDeepStrictEqual(target.rules.source, first.rules.source)) {
        throw new ConfigError(
          `'${target.name}' gives the bucket '${bucket}' other options than '${first.name}'.`,
          {
            path: `targets.${target.name}.circuitBreaker`,
            hint: 'Give the same options for one bucket everywhere, or use two buckets.',
          },
        )
      }
      inForce.set(target, rules)
    }
  }
  return inForce
}
