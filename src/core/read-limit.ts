import type { Clock } from './clock.ts'
import { TimeLimit } from './limits.ts'
import type { LimitQueue } from './limits.ts'

/**
 * A limit that runs only while somebody waits for the target: the time that a reader takes is the reader's. Waits add up
 * until a sign of life.
 */
export class ReadLimit {
  readonly #clock: Clock
  readonly #limit: TimeLimit
  readonly #then: () => void
  #waitedMs = 0
  #since: number | undefined
  #timer: unknown

  constructor(clock: Clock, then: () => void) {
    this.#clock = clock
    this.#then = then
    this.#limit = new TimeLimit(then)
  }

  /** The wait has begun; undefined = it may last. */
  begin(queue: LimitQueue | undefined, now: number): void {
    this.#since = now
    if (queue === undefined) return
    if (this.#waitedMs === 0) queue.begin(this.#limit, now)
    else this.#timer = this.#clock.setTimeout(this.#then, queue.ms - this.#waitedMs)
  }

  /** How long the waits since the last sign of life have lasted. */
  waitedMs(now: number): number {
    return this.#waitedMs + (this.#since === undefined ? 0 : now - this.#since)
  }

  /** The wait is over. Without a sign of life the next one goes on where it has ended. */
  end(signOfLife: boolean): void {
    this.#waitedMs = signOfLife ? 0 : this.waitedMs(this.#clock.now())
    this.#since = undefined
    this.#limit.end()
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
