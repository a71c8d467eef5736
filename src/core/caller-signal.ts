import type { Notifier } from './notifier.ts'
import type { CallerSignal } from './switchgear-options.ts'

// a caller's signal is anybody's object: only to begin with it may throw, and then its call ends

type Listener = Parameters<CallerSignal['addEventListener']>[1]

/** Never throws: a call that is over stays over. */
export function unlisten(signal: CallerSignal | undefined, listener: Listener, notifier: Notifier): void {
  try {
    signal?.removeEventListener('abort', listener)
  } catch (error) {
    notifier.report('the signal', error)
  }
}

/** Never throws: what cannot be read has not aborted. */
export function hasAborted(signal: CallerSignal | undefined): boolean {
  try {
    return signal?.aborted === true
  } catch {
    return false
  }
}

/** Never throws: what cannot be read is no reason. */
export function reasonOf(signal: CallerSignal | undefined): unknown {
  try {
    return signal?.reason
  } catch {
    return undefined
  }
}
