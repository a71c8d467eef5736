import { initialTransition } from 'xstate'
import { breakerMachine } from '../../../machines/breaker.machine.ts'
import type { Cause } from '../../../machines/breaker-events.ts'
import { circuitState } from '../../../machines/circuit-state.ts'
import type { BreakerSnapshot } from '../../../machines/circuit-state.ts'
import type { Reading } from '../../../machines/tripping.ts'
import { refusalOf } from '../../core/breaker-status.ts'
import type { CircuitFields, Inside, Remembered, Seen, WalkRules } from './circuit-fields.ts'
import { Draft, isCurrent, meterOf, permitsOf } from './draft.ts'
import type { WalkStep } from './walk-step.ts'

/**
 * A circuit in thought: the machine and the meter of the library, without actor and clock. A step leaves it as it is and
 * answers with the circuit after it, so that every way on from here can be tried.
 */
export class Imagined implements CircuitFields {
  declare readonly rules: WalkRules
  /** What chance says at every opening. */
  declare readonly roll: number
  declare readonly now: number
  declare readonly snapshot: BreakerSnapshot
  /** What was counted since the counters were last empty. */
  declare readonly remembered: readonly Remembered[]
  declare readonly inside: readonly Inside[]
  declare readonly issued: number
  /** The written transitions that the last step took. */
  declare readonly taken: readonly string[]
  /** Why the last step opened the circuit, also where the open period was over at once; undefined = it did not. */
  declare readonly opened: Cause | undefined

  #reading: Reading | undefined

  private constructor(fields: CircuitFields) {
    Object.assign(this, fields)
  }

  static start(rules: WalkRules, roll: number): Imagined {
    const [snapshot] = initialTransition(breakerMachine, { policy: rules.policy, at: 0 })
    return new Imagined({
      rules,
      roll,
      now: 0,
      snapshot,
      remembered: [],
      inside: [],
      issued: 0,
      taken: [],
      opened: undefined,
    })
  }

  /** The circuit after a step; undefined = the step needs an admission, and it would be refused. */
  after(step: WalkStep): Imagined | undefined {
    const draft = new Draft(this)
    draft.wait(step.do === 'wait' ? step.ms : 0)
    if (step.do === 'open' || step.do === 'close') draft.command(step)
    if (step.do === 'admit' && draft.admit(step.permit) === undefined) return undefined
    if (step.do === 'settle') draft.settle(step.permit, step)
    if (step.do === 'call') {
      if (draft.admit('') === undefined) return undefined
      draft.settle('', step)
    }
    // an open period of no length is over at once
    draft.wait(0)
    return new Imagined(draft)
  }

  get seen(): Seen {
    const refusal = refusalOf(this.snapshot, permitsOf(this.inside), this.now)
    return {
      state: circuitState(this.snapshot),
      canExecute: this.rules.observe || refusal === undefined,
      retryAfterMs: refusal === undefined ? 0 : refusal.retryAfterMs,
    }
  }

  /** When the circuit moves by itself; undefined = never. */
  get dueAt(): number | undefined {
    return new Draft(this).due?.at
  }

  isCurrent({ permit }: Inside): boolean {
    return isCurrent(this.snapshot, permit)
  }

  /** What the rules have counted. */
  get reading(): Reading {
    return (this.#reading ??= meterOf(this).reading(this.now))
  }
}
