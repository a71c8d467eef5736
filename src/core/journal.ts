import type { BreakerEvent, SavedCircuit } from '../../machines/breaker-events.ts'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'

/** What the life of a breaker adds to the events that its machine hears. Times are those of the breaker's clock. */
export type BreakerLifeEvent =
  /** A machine begins, closed, under these rules; where it goes on from a saved circuit, `resumed` comes next. */
  | { readonly type: 'breaker.started'; readonly at: number; readonly policy: BreakerPolicy }
  /** The breaker is forgotten: its name starts closed the next time. */
  | { readonly type: 'breaker.evicted'; readonly at: number }
  /** How the circuit stands, where no event of ours tells how it came there. */
  | { readonly type: 'circuit.saved'; readonly at: number }

/** Everything that a journal is told. */
export type JournalEvent = BreakerEvent | BreakerLifeEvent

/** One event that changed a breaker. Replayed in order, the entries give the same states. */
export interface JournalEntry {
  readonly bucket: string
  /** When, in ms of the wall clock; the times within `event` are those of the breaker's own clock. */
  readonly at: number
  readonly event: JournalEvent
  readonly from: CircuitState
  readonly to: CircuitState
  /** The circuit after the event, as it survives a restart; its times are those of the wall clock. */
  readonly saved: SavedCircuit
  /** The call it belongs to, where there is one. */
  readonly call: string | undefined
  /** Calls that the circuit has refused since its entry before; undefined = nobody has counted. */
  readonly refused?: number | undefined
}

/** The durable list of every event that changed a breaker. `append` is synchronous; what it throws is logged. */
export interface Journal {
  append(entry: JournalEntry): void
}
