/** How a visit ends, as far as a circuit can tell. */
export interface Ending {
  readonly outcome: 'succeed' | 'fail' | 'ignore'
  readonly failure?: string
  readonly retryAfterMs?: number
  readonly latencyMs?: number
}

/** One thing that happens to a circuit. Every step can be written into a scenario. */
export type WalkStep =
  /** A call is admitted and ends at once. */
  | ({ readonly do: 'call' } & Ending)
  /** A call is admitted and stays under way. */
  | { readonly do: 'admit'; readonly permit: string }
  | ({ readonly do: 'settle'; readonly permit: string } & Ending)
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'open' | 'close'; readonly hold?: true; readonly ttlMs?: number }
