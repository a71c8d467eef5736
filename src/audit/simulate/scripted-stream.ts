import type { PartKind } from '../../core/target-options.ts'
import { cutError } from '../../testing/scenario/provider-error.ts'

/** How a stream goes on. */
export interface StreamFate {
  /** From one part to the next, in ms. */
  readonly everyMs: number
  /** What comes before its end. */
  readonly parts: number
  /** `stall` = it never says that it is over. */
  readonly end: 'whole' | 'cut' | 'stall'
}

type Step = IteratorResult<PartKind, undefined>

const CONTENT: Step = { done: false, value: 'content' }
const TERMINAL: Step = { done: false, value: 'terminal' }
const DONE: Step = { done: true, value: undefined }

/** An answer in parts, in virtual time. All of a part that matters is its kind. */
export class ScriptedStream implements AsyncIterableIterator<PartKind, undefined> {
  readonly #firstMs: number
  readonly #fate: StreamFate
  readonly #after: (ms: number, then: () => void) => void
  #given = 0

  /** `after` lets virtual time pass. */
  constructor(firstMs: number, fate: StreamFate, after: (ms: number, then: () => void) => void) {
    this.#firstMs = firstMs
    this.#fate = fate
    this.#after = after
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Step> {
    const { everyMs, parts, end } = this.#fate
    const given = this.#given++
    if (given > parts) return Promise.resolve(DONE)
    return new Promise((resolve, reject) => {
      const pause = given === 0 ? this.#firstMs : everyMs
      if (given < parts) this.#after(pause, () => resolve(CONTENT))
      else if (end === 'cut') this.#after(pause, () => reject(cutError()))
      // the last part says that it is the last
      else if (end === 'whole') this.#after(given === 0 ? pause : 0, () => resolve(TERMINAL))
    })
  }

  return(): Promise<Step> {
    return Promise.resolve(DONE)
  }
}
