import type { CallerSignal } from '../core/switchgear-options.ts'

type Listener = Parameters<CallerSignal['addEventListener']>[1]

/**
 * The end of a call from outside, as the core listens to it. An AbortSignal would do as well: this one costs nothing as
 * long as it does not fire, and is let go of with its call.
 */
export class Hangup implements CallerSignal {
  aborted = false
  reason: unknown
  #listeners: readonly Listener[] = NOBODY

  addEventListener(_type: 'abort', listener: Listener): void {
    this.#listeners = [...this.#listeners, listener]
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener)
  }

  /** Fires once. */
  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    for (const listener of this.#listeners) listener.handleEvent()
  }
}

const NOBODY: readonly Listener[] = []
