import type { Clock } from './clock.ts'
import { Limited } from './limits.ts'
import type { Limits } from './limits.ts'

interface Timekeeper {
  readonly clock: Clock
  readonly limits: Limits
}

/** The end of the time for a whole call. */
export class Deadline extends Limited {
  readonly #then: () => void
  #timer: unknown

  constructor(then: () => void) {
    super()
    this.#then = then
  }

  start({ limits, clock }: Timekeeper, ms: number, now: number): void {
    const queue = limits.ofCall(ms)
    if (queue === undefined) this.#timer = clock.setTimeout(this.#then, ms)
    else queue.add(this, now)
  }

  override expire(): void {
    this.#then()
  }

  stop({ clock }: Timekeeper): void {
    if (this.#timer === undefined) this.queue?.remove(this)
    else clock.clearTimeout(this.#timer)
  }
}
