/** How long to wait between two attempts at one target. */
export interface RetryPolicy {
  /** First back-off, in ms. */
  readonly baseMs: number
  /** Growth per attempt. */
  readonly multiplier: number
  /** Longest wait in place, in ms; a provider that asks for more is left for the next target. */
  readonly maxMs: number
}

/** An overloaded target needs more air than a flaky one. */
const LONGER: Readonly<Record<string, number>> = { overloaded: 4 }

/**
 * The wait before the next attempt, in whole ms: the back-off with full jitter, never less than the provider asked for.
 * Full jitter as in "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 *
 * @param attempt the attempt that failed, from 1
 */
export function retryWait(
  policy: RetryPolicy,
  attempt: number,
  roll: number,
  failure: string,
  retryAfterMs: number | undefined,
): number {
  const grown = policy.baseMs * (LONGER[failure] ?? 1) * policy.multiplier ** (attempt - 1)
  return Math.ceil(Math.max(roll * Math.min(grown, policy.maxMs), retryAfterMs ?? 0))
}
