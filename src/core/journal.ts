import type { BreakerEvent } from '../../machines/breaker-events.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'

/** One event that changed a breaker. Replayed in order, the entries give the same states. */
export interface JournalEntry {
  readonly bucket: string
  readonly event: BreakerEvent
  readonly from: CircuitState
  readonly to: CircuitState
  /** The call it belongs to, where there is one. */
  readonly call: string | undefined
}

/** The durable list of every event that changed a breaker. `append` is synchronous; what it throws is logged. */
export interface Journal {
  append(entry: JournalEntry): void
}
