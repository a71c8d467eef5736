import { isDeepStrictEqual } from 'node:util'
import type { ResolvedBreaker } from './breaker-options.ts'
import { ConfigError } from './errors.ts'

/** How much longer than the longest limit a probe may be silent, in ms. */
const LEASE_MARGIN_MS = 10_000

interface Sharing {
  readonly name: string
  readonly bucket: string
  readonly isolates: boolean
  readonly rules: ResolvedBreaker | undefined
  readonly longestLimitMs: number
}

/** True where two sets of options come to the same: one that is left out is its default. */
export function sameRules(a: ResolvedBreaker, b: ResolvedBreaker): boolean {
  const plain = ({ source: _source, custom: _custom, ...rest }: ResolvedBreaker) => rest
  // policies of the user's own may keep where they differ to themselves
  return a.custom.every((policy, i) => policy === b.custom[i]) && isDeepStrictEqual(plain(a), plain(b))
}

/**
 * The rules in force for each target with a breaker: the same for all targets of one bucket, with a probe's lease that
 * outlasts their longest limit.
 *
 * @throws ConfigError when two targets give different options for one bucket, or one bucket looks like a model of another
 */
export function sharedRules<T extends Sharing>(targets: readonly T[]): Map<T, ResolvedBreaker> {
  checkBuckets(targets)
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
      if (!sameRules(target.rules, first.rules)) {
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

/** A model may be called anything, so nobody else's bucket may begin like those of a target that isolates. */
function checkBuckets(targets: readonly Sharing[]): void {
  for (const { name, bucket, isolates } of targets) {
    const other = isolates ? targets.find((target) => target.bucket.startsWith(`${bucket}/`)) : undefined
    if (other === undefined) continue
    throw new ConfigError(
      `'${name}' isolates by model, and '${other.name}' has a bucket that looks like one of its models.`,
      {
        path: 'targets',
        hint: `Give '${name}' another bucket.`,
      },
    )
  }
}
