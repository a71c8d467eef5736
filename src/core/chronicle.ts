import type { BreakerEvent, SavedCircuit } from '../../machines/breaker-events.ts'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { circuitState, savedCircuit, shiftHold, shiftSaved, shifted } from '../../machines/circuit-state.ts'
import type { BreakerSnapshot, CircuitState } from '../../machines/circuit-state.ts'
import type { ActorSurroundings } from './breaker-actor.ts'
import type { Journal, JournalEvent } from './journal.ts'
import type { CallOfPermit } from './permit.ts'
import type { BreakerStats } from './stats.ts'
import { toWall } from './to-wall.ts'
import type { HeldCircuit, Transition } from './transition.ts'

/** What a breaker needs around it. */
export interface Surroundings extends ActorSurroundings {
  readonly journal?: Journal | undefined
  /** Hears every transition, after the commit. */
  readonly onTransition: (transition: Transition) => void
  /** Hears that an operator holds the circuit, after the commit. */
  readonly onHold?: (held: HeldCircuit) => void
  /** Hears that something has moved, slots included, after the commit. */
  readonly onChange?: () => void
}

/** How a breaker has moved. */
interface Move {
  /** undefined = somebody else has sent it. */
  readonly event: BreakerEvent | undefined
  readonly from: CircuitState
  readonly to: CircuitState
  readonly after: BreakerSnapshot
  readonly consecutiveFailures: number
  /** The breaker refuses nobody. */
  readonly observed: boolean
  /** The call that caused it, where there is one. */
  readonly call: CallOfPermit | undefined
}

/** What is told of a breaker, after the commit: to its journal, and to whoever listens. */
export class Chronicle {
  /** The model that the breaker is isolated to; undefined where it is not. */
  model: string | undefined
  /** Nobody is to hear of the breaker any more but the calls under way. */
  retired: boolean
  readonly #bucket: string
  readonly #around: Surroundings
  /** Where refusals are counted. */
  stats: BreakerStats
  #refusalsTold = 0

  constructor(
    bucket: string,
    around: Surroundings,
    model: string | undefined,
    retired: boolean,
    stats: BreakerStats,
  ) {
    this.#bucket = bucket
    this.#around = around
    this.stats = stats
    this.model = model
    this.retired = retired
  }

  /** A machine has begun, closed, and is about to go on from `saved`. */
  began(policy: BreakerPolicy, after: BreakerSnapshot, saved: SavedCircuit | undefined): void {
    const event = { type: 'breaker.started', at: after.context.since, policy } as const
    this.#write(event, 'closed', 'closed', saved ?? savedCircuit(after), undefined)
    this.#around.notifier.flush()
  }

  moved(move: Move): void {
    const { notifier, clock, onTransition, onHold, onChange } = this.#around
    const { event, from, to, after, observed, call } = move
    const shift = toWall(clock)
    const hold = shiftHold(after.context.hold, shift)
    this.#write(event ?? { type: 'circuit.saved', at: clock.now() }, from, to, savedCircuit(after), call)
    if (!this.retired && event !== undefined && 'hold' in event && event.hold === true && hold !== null) {
      const at = event.at + shift
      const held = {
        bucket: this.#bucket,
        model: this.model,
        state: to,
        at,
        hold,
        ...(observed && { observed }),
      }
      notifier.add(() => onHold?.(held))
    }
    if (from !== to && event?.type !== 'resumed') {
      const change = this.#transition(move, shift)
      if (!this.retired) notifier.add(() => onTransition(change))
      const hear = call?.onTransition
      if (hear !== undefined) notifier.add(() => hear(change))
    }
    if (onChange !== undefined) notifier.add(onChange)
  }

  /** The breaker's target is gone, or the breaker is: nothing of it is to survive a restart. */
  retire(last: BreakerSnapshot): void {
    const state = circuitState(last)
    const event = { type: 'breaker.evicted', at: this.#around.clock.now() } as const
    this.#write(event, state, state, savedCircuit(last), undefined)
    this.retired = true
  }

  #write(
    event: JournalEvent,
    from: CircuitState,
    to: CircuitState,
    saved: SavedCircuit,
    call: CallOfPermit | undefined,
  ): void {
    const { journal, notifier, clock } = this.#around
    if (journal === undefined || this.retired) return
    const shift = clock.wall() - clock.now()
    const { open, 'half-open': trial, held } = this.stats.refused
    const refusals = open + trial + held
    // counters that have begun anew
    const refused = refusals < this.#refusalsTold ? refusals : refusals - this.#refusalsTold
    this.#refusalsTold = refusals
    const entry = {
      bucket: this.#bucket,
      // an actor that took the place of another knows no time yet
      at: event.type === 'breaker.started' ? clock.wall() : event.at + shift,
      event,
      from,
      to,
      saved: shiftSaved(saved, shift),
      call: call?.id,
      refused,
    }
    notifier.add(() => journal.append(entry))
  }

  #transition({ from, to, after, consecutiveFailures, observed, call }: Move, shift: number): Transition {
    const { cause, generation, since, openUntil } = after.context
    return {
      bucket: this.#bucket,
      model: this.model ?? call?.model,
      from,
      to,
      at: since + shift,
      cause,
      generation,
      consecutiveFailures,
      openUntil: shifted(openUntil, shift),
      call: call?.id,
      ...(observed && { observed }),
    }
  }
}
