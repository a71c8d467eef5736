import { DURATION_BOUNDS_MS } from '../../core/stats.ts'

/**
 * A share of all durations lies at or below this many ms: linear within the bucket of the histogram where the share is
 * reached, as Prometheus does it; above the last bound, that bound. null = nothing has been counted.
 */
export function percentileMs(histograms: readonly (readonly number[])[], share: number): number | null {
  const counts = DURATION_BOUNDS_MS.map((_, i) => sum(histograms, i))
  const total = counts.reduce((all, n) => all + n, sum(histograms, DURATION_BOUNDS_MS.length))
  if (total === 0) return null
  let rank = share * total
  for (const [i, n] of counts.entries()) {
    if (rank <= n && n > 0) {
      const [low, high] = [DURATION_BOUNDS_MS[i - 1] ?? 0, DURATION_BOUNDS_MS[i]!]
      return Math.round(low + (high - low) * (rank / n))
    }
    rank -= n
  }
  return DURATION_BOUNDS_MS.at(-1)!
}

const sum = (histograms: readonly (readonly number[])[], i: number) =>
  histograms.reduce((all, counts) => all + (counts[i] ?? 0), 0)
