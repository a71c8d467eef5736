import type { Cause, Hold } from '../../machines/breaker-events.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'

/** One real change of a circuit's state. */
export interface Transition {
  /** The bucket: a target's name, `target/model` under `isolateByModel`, or the shared `bucket`. */
  readonly bucket: string
  /** The resolved model of the call that changed it, or of the bucket; undefined where there is none. */
  readonly model: string | undefined
  readonly from: CircuitState
  readonly to: CircuitState
  /** When, in ms of the wall clock as it is when this is told. */
  readonly at: number
  readonly cause: Cause
  readonly generation: number
  readonly consecutiveFailures: number
  /** When the circuit may be asked again, on the same clock; null where that is not known or not needed. */
  readonly openUntil: number | null
  /** The call that changed it, where there is one. */
  readonly call: string | undefined
  /** The circuit only watches, and refuses nobody; absent where it enforces. */
  readonly observed?: true
}

/** A circuit that an operator holds. */
export interface HeldCircuit {
  readonly bucket: string
  readonly model: string | undefined
  readonly state: CircuitState
  /** When, in ms of the wall clock as it is when this is told; so is the end of the hold. */
  readonly at: number
  readonly hold: Hold
  /** The circuit only watches, and refuses nobody; absent where it enforces. */
  readonly observed?: true
}
