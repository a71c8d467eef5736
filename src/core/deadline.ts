import type { Clock } from './clock.ts'
import { TimeLimit } from './limits.ts'
import type { Limits } from './limits.ts'

interface Timekeeper {
  readonly clock: Clock
  readonly limits: Limits
}

/** The end of the time for a whole call. */
export class Deadline extends TimeLimit {
  #timer: unknown

  start({ limits, clock }: Timekeeper, ms: number, now: number): void {
    const queue = limits.ofCall(ms)
    if (queue === undefined) this.#timer = clock.setTimeout(() => this.expire(), ms)
    else queue.begin(this, now)
  }

  stop({ clock }: Timekeeper): void {
    if (this.#timer === undefined) this.queue?.remove(this)
    else clock.clearTimeout(this.#timer)
  }
}
