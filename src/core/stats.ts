/** Plain numbers of one breaker, for metrics; only ever added to. */
export class BreakerStats {
  success = 0
  failure = 0
  neutral = 0
  /** Refused: nothing was sent. */
  readonly refused = { open: 0, 'half-open': 0, held: 0 }
  /** Would have been refused outside of observe mode. */
  readonly wouldRefuse = { open: 0, 'half-open': 0, held: 0 }
  /** Outcomes of another generation. */
  late = 0
}

/** Upper bounds of the duration buckets, in ms: doubling, as LLM latencies spread over five decades. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 81_920,
]

/** A histogram as plain numbers. */
export class DurationHistogram {
  /** One count a bound, and a last one for everything above. */
  readonly counts: number[] = Array(DURATION_BOUNDS_MS.length + 1).fill(0)
  sumMs = 0

  add(ms: number): void {
    this.sumMs += ms
    // clz32 finds the doubling bound without a search
    const i = ms <= 10 ? 0 : 32 - Math.clz32(Math.ceil(ms / 10) - 1)
    this.counts[Math.min(i, DURATION_BOUNDS_MS.length)]!++
  }
}

/** Plain numbers of one target, for metrics; only ever added to. */
export class TargetStats {
  /** Attempts by what they came to. */
  readonly attempts = { success: 0, failure: 0, neutral: 0 }
  readonly duration = new DurationHistogram()
  readonly firstContent = new DurationHistogram()
}
