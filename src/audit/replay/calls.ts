import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { Outcome } from '../../core/permit.ts'
import type { Evidence } from './evidence.ts'

/** Calls in the order of their arrival, and what each meets where it is admitted. */
export interface Calls {
  /** ms; what happens from here to `toAt` is played. */
  readonly fromAt: number
  readonly toAt: number
  /** For the chance of the breaker itself. */
  readonly seed: number
  /** The first call that is not looked at any more. */
  readonly end: number
  /** The longest time until it is known what became of a call, in ms. */
  readonly longestMs: number
  arrivalAt(call: number): number
  /** The first call that arrives at or after `at`. */
  firstAt(at: number): number
  /** When it is known what became of a call that was admitted. */
  knownAt(call: number): number
  outcomeOf(call: number): Outcome
  /** Looks ahead for what could move a closed circuit; undefined = every call must be stepped through. */
  evidenceFor?(policy: BreakerPolicy): Evidence | undefined
}
