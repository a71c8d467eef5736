/** So many at once, and one more every `everyMs`. */
export class Allowance {
  readonly #most: number
  readonly #everyMs: number
  #left: number
  #at: number

  constructor(most: number, everyMs: number, now: number) {
    this.#most = most
    this.#everyMs = everyMs
    this.#left = most
    this.#at = now
  }

  /** Takes one; false = nothing is left. */
  take(now: number): boolean {
    this.#refill(now)
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  /** How long until one can be taken, in ms. */
  waitMs(now: number): number {
    this.#refill(now)
    return this.#left >= 1 ? 0 : Math.ceil((1 - this.#left) * this.#everyMs)
  }

  isFull(now: number): boolean {
    this.#refill(now)
    return this.#left >= this.#most
  }

  #refill(now: number): void {
    this.#left = Math.min(this.#most, this.#left + (now - this.#at) / this.#everyMs)
    this.#at = now
  }
}
