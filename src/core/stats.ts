/** Plain numbers of one breaker, for metrics; only ever added to. */
export class BreakerStats {
  readonly outcomes = { success: 0, failure: 0, neutral: 0 }
  /** Refused: nothing was sent. */
  readonly refused = { open: 0, 'half-open': 0, held: 0 }
  /** Would have been refused outside of observe mode. */
  readonly wouldRefuse = { open: 0, 'half-open': 0, held: 0 }
  /** Outcomes of another generation. */
  late = 0
}
