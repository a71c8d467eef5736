import type { CircuitState } from '../../machines/circuit-state.ts'
import type { JournalRowView, TransitionView } from '../../src/gateway/admin/wire.ts'

/** A change of a circuit as the timeline shows it. */
export interface TimelineEntry {
  readonly key: string
  readonly at: number
  readonly circuit: string
  readonly from: CircuitState
  readonly to: CircuitState
  /** Type of the event, where the journal tells it. */
  readonly type: string | undefined
  /** In words; empty where an operator's own words say it all. */
  readonly why: string
  readonly by: string | undefined
  readonly reason: string | undefined
  /** A hold that began here: its end, null = until somebody ends it. */
  readonly heldUntil: number | null | undefined
}

const MOST_ENTRIES = 500
// the same moment, told by two clocks
const SAME_MS = 50

export function entryOfRow(row: JournalRowView): TimelineEntry[] {
  const { seq, at, circuit, type, from, to, event, why = '', by, reason } = row
  if (circuit === null || from === null || to === null) return []
  const byHand = type.startsWith('operator.')
  if (from === to && !byHand && type !== 'hold.ended') return []
  // the times within an event are of the breaker's own clock
  const until = event.until === undefined ? null : event.until + at - (event.at ?? at)
  const heldUntil = event.hold === true ? until : undefined
  return [{ key: `${seq}`, at, circuit, from, to, type, why: byHand ? '' : why, by, reason, heldUntil }]
}

export function entryOfTransition(transition: TransitionView): TimelineEntry {
  const { circuit, from, to, at, told, by, reason } = transition
  const key = `${circuit} ${at} ${to}`
  return {
    key,
    at,
    circuit,
    from,
    to,
    type: undefined,
    why: by === undefined ? told : '',
    by,
    reason,
    heldUntil: undefined,
  }
}

const isSame = (a: TimelineEntry, b: TimelineEntry) =>
  a.circuit === b.circuit && a.to === b.to && a.from === b.from && Math.abs(a.at - b.at) <= SAME_MS

/** What the journal tells and what was heard since, once each, the newest first. */
export function merge(told: readonly TimelineEntry[], heard: readonly TimelineEntry[]): TimelineEntry[] {
  const news = heard.filter((entry) => !told.some((other) => isSame(entry, other)))
  return [...news, ...told].sort((a, b) => b.at - a.at).slice(0, MOST_ENTRIES)
}

/** What happened, in words: `open → half-open`, or a hold that changed no state. */
export function changeInWords({ from, to, type, heldUntil }: TimelineEntry): string {
  if (from !== to) return `${from} → ${to}`
  if (type === 'hold.ended') return `${to}, hold over`
  if (heldUntil !== undefined) return `held ${to}`
  return `${to} again`
}
