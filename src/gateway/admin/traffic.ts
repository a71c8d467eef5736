import type { TargetStats } from '../../core/stats.ts'
import { percentileMs } from './percentile.ts'
import type { Traffic } from './wire.ts'

interface OfTargets {
  readonly targets: readonly string[]
}

const UNKNOWN: Traffic = { p95Ms: null, fallbacks: null }

/** The traffic of each of these circuits. */
export function trafficBy(
  circuits: readonly OfTargets[],
  targets: readonly { readonly name: string; readonly stats: TargetStats }[],
): (circuit: OfTargets) => Traffic {
  const stats = new Map(targets.map((target) => [target.name, target.stats]))
  const left = new Map<string, number>()
  for (const { from, success, failure, neutral, refused } of targets.flatMap(({ stats }) => stats.hops ?? []))
    left.set(from, (left.get(from) ?? 0) + success + failure + neutral + refused)
  const shares = new Map<string, number>()
  for (const name of circuits.flatMap((circuit) => circuit.targets))
    shares.set(name, (shares.get(name) ?? 0) + 1)
  return ({ targets: names }) => {
    if (names.some((name) => shares.get(name) !== 1)) return UNKNOWN
    const counts = names.map((name) => stats.get(name)?.duration.counts ?? [])
    const fallbacks = names.reduce((all, name) => all + (left.get(name) ?? 0), 0)
    return { p95Ms: percentileMs(counts, 0.95), fallbacks }
  }
}
