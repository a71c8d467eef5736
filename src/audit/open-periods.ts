import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { drawCooldown, longestCooldown } from '../../machines/cooldown.ts'

/** How long one opening may last, in ms. */
export interface OpenPeriod {
  readonly leastMs: number
  readonly mostMs: number
}

// the largest share that chance can give
const ALMOST_ONE = 1 - 2 ** -53
const MOST_STEPS = 12

/** The cooldown after `reopens` failed trials, as chance may draw it. */
export function openPeriod(policy: BreakerPolicy, reopens: number, failure?: string): OpenPeriod {
  return {
    leastMs: drawCooldown(policy, reopens, 0, failure),
    mostMs: drawCooldown(policy, reopens, ALMOST_ONE, failure),
  }
}

/** The cooldowns one after the other, until they grow no more. */
export function openPeriods(policy: BreakerPolicy): OpenPeriod[] {
  const periods: OpenPeriod[] = []
  for (let reopens = 0; reopens <= MOST_STEPS; reopens++) {
    const next = openPeriod(policy, reopens)
    const last = periods.at(-1)
    if (last?.leastMs === next.leastMs && last.mostMs === next.mostMs) break
    periods.push(next)
  }
  return periods
}

/** The longest open period that nobody but the provider's failures brings about; Infinity = it grows without end. */
export function longestOpenMs(policy: BreakerPolicy): number {
  const grown = openPeriods(policy).at(-1)?.mostMs ?? 0
  const { backoff } = policy
  const endless =
    backoff !== null && typeof backoff === 'object' && backoff.multiplier > 1 && backoff.maxMs === Infinity
  if (endless && policy.cooldownMs > 0) return Infinity
  return Math.max(grown, longestCooldown({ ...policy, backoff: null }, 0))
}
