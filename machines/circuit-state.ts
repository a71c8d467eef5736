import type { SnapshotFrom } from 'xstate'
import type { breakerMachine } from './breaker.machine.ts'
import type { Hold, SavedCircuit } from './breaker-events.ts'

/** A breaker's state as people see it. */
export type CircuitState = 'closed' | 'degraded' | 'open' | 'half-open'

/** A breaker's snapshot, as XState gives it. */
export type BreakerSnapshot = SnapshotFrom<typeof breakerMachine>

/** The state of a snapshot as people see it; a held circuit reads as what it is held in. */
export function circuitState({ value }: Pick<BreakerSnapshot, 'value'>): CircuitState {
  if (value === 'halfOpen') return 'half-open'
  if (typeof value === 'object' && 'open' in value) return 'open'
  return typeof value === 'object' && value.closed === 'degraded' ? 'degraded' : 'closed'
}

/** True where every call is admitted. */
export function callsFlow({ value }: Pick<BreakerSnapshot, 'value'>): boolean {
  return typeof value === 'object' && 'closed' in value
}

const SAVED_AS: Record<CircuitState, SavedCircuit['state']> = {
  closed: 'closed',
  degraded: 'closed',
  open: 'open',
  'half-open': 'half-open',
}

/** What of a snapshot survives a restart. */
export function savedCircuit(snapshot: BreakerSnapshot): SavedCircuit {
  const { generation, reopens, cause, since, openedAt, cooldownMs, openUntil, hold } = snapshot.context
  const state = SAVED_AS[circuitState(snapshot)]
  return { version: 1, state, hold, generation, reopens, cause, since, openedAt, cooldownMs, openUntil }
}

/** A time moved by `ms`: from one clock to another. */
export const shifted = (at: number | null, ms: number): number | null => (at === null ? null : at + ms)

/** The same hold with its end moved by `ms`. */
export function shiftHold(hold: Hold | null, ms: number): Hold | null {
  return hold && { ...hold, until: shifted(hold.until, ms) }
}

/** The same circuit with every time moved by `ms`: from one clock to another. */
export function shiftSaved(saved: SavedCircuit, ms: number): SavedCircuit {
  return {
    ...saved,
    hold: shiftHold(saved.hold, ms),
    since: saved.since + ms,
    openedAt: shifted(saved.openedAt, ms),
    openUntil: shifted(saved.openUntil, ms),
  }
}
