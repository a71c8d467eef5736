/**
 * A token bucket that bounds the retries of a whole chain: every call puts a share of a token in, every retry takes one.
 * First visits are never blocked.
 *
 * @see Marc Brooker, "Fixing retries with token buckets and circuit breakers" (2022), for the idea
 */
export class RetryBudget {
  readonly #capacity: number
  readonly #perCall: number
  #tokens: number

  constructor(capacity: number, perCall: number) {
    this.#capacity = capacity
    this.#perCall = perCall
    this.#tokens = capacity
  }

  /** Tokens left. */
  get tokens(): number {
    return this.#tokens
  }

  deposit(): void {
    if (this.#tokens < this.#capacity) this.#tokens = Math.min(this.#capacity, this.#tokens + this.#perCall)
  }

  get affordsRetry(): boolean {
    // ten deposits of 0.1 are one token, rounding or not
    return this.#tokens >= 1 - 1e-9
  }

  withdraw(): void {
    this.#tokens -= 1
  }
}
