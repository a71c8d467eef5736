import { median } from '../bench/measure.ts'

export interface Sample {
  /** In ms. */
  readonly at: number
  readonly bytes: number
}

const MEGABYTE = 1_000_000
const MINUTE_MS = 60_000

/**
 * Growth in MB a minute: the middle of the slopes between all pairs of samples (Theil-Sen), which a few outliers do not
 * move. What comes before the process has found its size is left out.
 */
export function slope(samples: readonly Sample[]): number {
  const settled = samples.slice(Math.floor(samples.length / 4))
  const slopes = settled.flatMap((late, i) =>
    settled.slice(0, i).map((early) => (late.bytes - early.bytes) / (late.at - early.at)),
  )
  return slopes.length === 0 ? NaN : (median(slopes) * MINUTE_MS) / MEGABYTE
}
