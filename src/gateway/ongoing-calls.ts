import type { Clock } from '../core/clock.ts'
import type { Call } from './call.ts'

// what is cut off still has to reach its client
const LAST_WORDS_MS = 1000

/** The calls under way, and the end of them. */
export class OngoingCalls {
  readonly #clock: Clock
  // a map that is filled and emptied without end keeps its dead entries alive until the next major collection
  #head: Call | undefined
  #idle: PromiseWithResolvers<void> | undefined
  #last = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** No new ones are taken. */
  get areLast(): boolean {
    return this.#last
  }

  add(call: Call): void {
    const { response } = call
    call.next = this.#head
    if (this.#head !== undefined) this.#head.previous = call
    this.#head = call
    response.once('close', () => {
      this.#remove(call)
      if (!response.writableEnded) call.leave()
    })
  }

  #remove(call: Call): void {
    const { previous, next } = call
    if (previous === undefined) this.#head = next
    else previous.next = next
    if (next !== undefined) next.previous = previous
    call.previous = undefined
    call.next = undefined
    if (this.#head === undefined) this.#idle?.resolve()
  }

  /** Asked only where an attempt has failed. */
  get(id: string): Call | undefined {
    let call = this.#head
    while (call !== undefined && call.request.id !== id) call = call.next
    return call
  }

  /** Takes no new ones, and waits for those under way; after `ms` they are cut off and told so. */
  async drain(ms: number): Promise<void> {
    this.#last = true
    if (await this.#empty(ms)) return
    for (let call = this.#head; call !== undefined; call = call.next) call.cut()
    await this.#empty(LAST_WORDS_MS)
  }

  async #empty(ms: number): Promise<boolean> {
    if (this.#head === undefined) return true
    this.#idle ??= Promise.withResolvers()
    const late = Promise.withResolvers<void>()
    const timer = this.#clock.setTimeout(late.resolve, ms)
    await Promise.race([this.#idle.promise, late.promise])
    this.#clock.clearTimeout(timer)
    return this.#head === undefined
  }
}
