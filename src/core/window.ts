const SLICES = 10

/**
 * A time-sliced window: ten slices, aligned to the clock, with running sums. Slices expire on read as well as on write,
 * so the first call after an idle hour is not judged on old data; a clock that steps back writes to the newest slice.
 * No sample outlives the window plus one slice.
 *
 * @see failsafe-go, `internal/util/windows.go`, for the idea
 */
export class SlicedWindow {
  /** Calls in the window. */
  calls = 0
  /** Bad calls in the window: failed, or slow. */
  count = 0
  readonly #sliceMs: number
  readonly #calls: number[] = Array(SLICES).fill(0)
  readonly #bad: number[] = Array(SLICES).fill(0)
  #head = 0

  constructor(windowMs: number) {
    this.#sliceMs = windowMs / SLICES
  }

  sample(bad: boolean, now: number): void {
    this.expire(now)
    const slot = this.#head % SLICES
    this.calls++
    this.#calls[slot]!++
    if (!bad) return
    this.count++
    this.#bad[slot]!++
  }

  /** Forgets what is older than the window. */
  expire(now: number): void {
    const head = Math.floor(now / this.#sliceMs)
    if (head <= this.#head) return
    const gone = Math.min(SLICES, head - this.#head)
    for (let i = 1; i <= gone; i++) this.#clear((this.#head + i) % SLICES)
    this.#head = head
  }

  reset(): void {
    for (let slot = 0; slot < SLICES; slot++) this.#clear(slot)
  }

  #clear(slot: number): void {
    this.calls -= this.#calls[slot]!
    this.count -= this.#bad[slot]!
    this.#calls[slot] = 0
    this.#bad[slot] = 0
  }
}
