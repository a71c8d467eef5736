import type { Limit } from '../../core/errors.ts'
import { TimeLimit } from '../../core/limits.ts'
import type { LimitQueue } from '../../core/limits.ts'
import type { Around } from './options.ts'

/** The limits of one request: until its headers, until its first content, between two signs of life. */
export class RequestLimits {
  readonly #around: Around
  readonly #headers: TimeLimit
  readonly #first: TimeLimit
  readonly #idle: TimeLimit

  /** @param over Told which limit is over, and how long it was in ms. */
  constructor(around: Around, over: (limit: Limit, ms: number) => void) {
    const phase = (limit: Limit, queue: LimitQueue | undefined) =>
      new TimeLimit(() => over(limit, queue?.ms ?? 0))
    this.#around = around
    this.#headers = phase('timeout', around.timeout)
    this.#first = phase('first_content_timeout', around.firstContent)
    this.#idle = phase('idle_timeout', around.idle)
    around.timeout?.begin(this.#headers, around.clock.now())
  }

  headersCame(): void {
    this.#headers.end()
  }

  /** A read waits; a limit that runs already goes on. */
  reading(hadContent: boolean): void {
    const phase = hadContent ? this.#idle : this.#first
    if (phase.queue !== undefined) return
    const queue = hadContent ? this.#around.idle : this.#around.firstContent
    queue?.begin(phase, this.#around.clock.now())
  }

  alive(): void {
    this.#idle.end()
  }

  content(): void {
    this.#first.end()
    this.#idle.end()
  }

  end(): void {
    this.#headers.end()
    this.content()
  }
}
