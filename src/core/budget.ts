/**
 * A token bucket that bounds the retries of a whole chain: every call puts a share of a token in, every retry takes one.
 * First visits are never blocked.
 *
 * @see Marc Brooker, "Fixing retries with token buckets and circuit breakers" (2022), for the idea
 */
export class RetryBudget {
  #capacity: number
  #perCall: number
  #spent = 0

  constructor(capacity: number, perCall: number) {
    this.#capacity = capacity
    this.#perCall = perCall
  }

  /** Other figures are in force; what is spent stays spent. */
  follow(capacity: number, perCall: number): this {
    this.#capacity = capacity
    this.#perCall = perCall
    return this
  }

  /** Tokens left. */
  get tokens(): number {
    return this.#capacity - this.#spent
  }

  deposit(): void {
    if (this.#spent > 0) this.#spent = Math.max(0, this.#spent - this.#perCall)
  }

  get affordsRetry(): boolean {
    // ten deposits of 0.1 are one token, rounding or not
    return this.tokens >= 1 - 1e-9
  }

  withdraw(): void {
    this.#spent += 1
  }

  /** The retry that was paid for is not sent after all. */
  giveBack(): void {
    this.#spent = Math.max(0, this.#spent - 1)
  }
}
