import type { Notifier } from './notifier.ts'
import type { FailedAttempt } from './switchgear-options.ts'
import type { HeldCircuit, Transition } from './transition.ts'
import type { VisitOutcome } from './visit-outcome.ts'

/** What can be listened to. */
export interface Heard {
  /** One real change of a circuit's state. */
  readonly transition: Transition
  /** An operator holds a circuit, whether that changed its state or not. */
  readonly hold: HeldCircuit
  /** An attempt without an answer. */
  readonly failure: FailedAttempt
  /** What a visit came to, and every refusal: for recordings. */
  readonly outcome: VisitOutcome
}

export type Listeners = { readonly [E in keyof Heard]: Set<(told: Heard[E]) => void> }

export function noListeners(): Listeners {
  return { transition: new Set(), hold: new Set(), failure: new Set(), outcome: new Set() }
}

/** Tells everybody who listens, each isolated from the others. */
export function hear<T>(listeners: ReadonlySet<(told: T) => void>, told: T, notifier: Notifier): void {
  // who comes while it is told has missed it
  for (const listener of [...listeners]) notifier.guard('a listener', () => listener(told))
}
