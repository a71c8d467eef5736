import type { Cause } from '../../../machines/breaker-events.ts'
import type { BreakerSnapshot, CircuitState } from '../../../machines/circuit-state.ts'
import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import type { Permit } from '../../core/permit.ts'

/** The rules of a circuit as far as a walk needs them. */
export type WalkRules = Pick<ResolvedBreaker, 'policy' | 'probeLeaseMs' | 'observe'>

/** A counted outcome. */
export interface Remembered {
  readonly at: number
  readonly failure: string | null
  readonly latencyMs: number
}

/** A call under way. */
export interface Inside {
  readonly name: string
  readonly permit: Permit
}

/** What anybody can see of a circuit. */
export interface Seen {
  readonly state: CircuitState
  readonly canExecute: boolean
  /** As in the status: 0 = at once, null = only an operator knows. */
  readonly retryAfterMs: number | null
}

/** All there is to know of a circuit in thought. */
export interface CircuitFields {
  readonly rules: WalkRules
  readonly roll: number
  readonly now: number
  readonly snapshot: BreakerSnapshot
  readonly remembered: readonly Remembered[]
  readonly inside: readonly Inside[]
  readonly issued: number
  readonly taken: readonly string[]
  readonly opened: Cause | undefined
}
