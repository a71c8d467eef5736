/** What a visit came to, or that there was none; told once. Names, kinds and numbers only. */
export interface VisitOutcome {
  /** When admission was asked for, in ms of the wall clock. */
  readonly at: number
  readonly target: string
  readonly model: string | undefined
  /** The circuit; of a target without one, its name. */
  readonly bucket: string
  /** `refused` = nothing was sent. */
  readonly outcome: 'success' | 'failure' | 'neutral' | 'refused'
  /** Failure kind. */
  readonly failure: string | undefined
  /** From admission until the outcome was known, its retries included; undefined = nothing was sent. */
  readonly latencyMs: number | undefined
  /** The wait that the provider named. */
  readonly retryAfterMs: number | undefined
}
