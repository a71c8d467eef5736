import type { SavedCircuit } from '../../machines/breaker-events.ts'
import type { JournalEntry } from '../../src/core/journal.ts'

export const START = Date.UTC(2026, 2, 1)

const SAVED: SavedCircuit = {
  version: 1,
  state: 'closed',
  hold: null,
  generation: 1,
  reopens: 0,
  cause: { why: 'started' },
  since: START,
  openedAt: null,
  cooldownMs: null,
  openUntil: null,
}

export const OPEN: SavedCircuit = {
  ...SAVED,
  state: 'open',
  generation: 2,
  cause: { why: 'tripped', failure: 'server_error' },
  openedAt: START,
  cooldownMs: 30_000,
  openUntil: START + 30_000,
}

/** An entry as a breaker writes it: the circuit opens. */
export function entry(bucket: string, more: Partial<JournalEntry> = {}): JournalEntry {
  const reading = { rules: [{ count: 5, calls: 5 }], kinds: {}, consecutiveFailures: 5 }
  const at = more.at ?? START
  const what = { failure: 'server_error', retryAfterMs: undefined, roll: 0.5 }
  const event = { type: 'call.failed', at, generation: 1, reading, ...what } as const
  return { bucket, at, event, from: 'closed', to: 'open', saved: OPEN, call: 'call-1', ...more }
}
