import { hash } from 'node:crypto'
import type { BreakerEvent, SavedCircuit } from '../../machines/breaker-events.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'
import type { BreakerLifeEvent, JournalEntry } from '../core/journal.ts'
import { policyAsJson } from './policy-json.ts'
import { rowInWords } from './row-in-words.ts'

/** The rules of a breaker as they were journalled: JSON, see `policyFromJson`. */
export type JournalledPolicy = Readonly<Record<string, unknown>>

/** What a journal writes about itself. Times are those of the wall clock. */
export type OwnEvent =
  /** From here on this configuration was in force. `hash` is the SHA-256 of `text`, which holds no secret. */
  | { readonly type: 'config.recorded'; readonly at: number; readonly hash: string; readonly text: string }
  /** Retention dropped the rows up to `upTo`, whose hash was `hash`. `kept` speaks for those that it left standing. */
  | {
      readonly type: 'journal.pruned'
      readonly at: number
      readonly upTo: number
      readonly hash: string
      readonly kept: string
    }
  /** The file could not be written since then. What follows was kept in memory; `lost` rows were too many for it. */
  | {
      readonly type: 'journal.interrupted'
      readonly at: number
      readonly since: number
      readonly reason: string
      readonly lost: number
    }

/** The event of a row, as it was journalled. */
export type RowEvent =
  | BreakerEvent
  | Exclude<BreakerLifeEvent, { type: 'breaker.started' }>
  | { readonly type: 'breaker.started'; readonly at: number; readonly policy: JournalledPolicy }
  | OwnEvent

const TYPES: Readonly<Record<RowEvent['type'], true>> = {
  'call.failed': true,
  'call.succeeded': true,
  'reading.aged': true,
  'cooldown.elapsed': true,
  'probe.requested': true,
  'probe.succeeded': true,
  'probe.failed': true,
  'probe.released': true,
  'probe.expired': true,
  'operator.opened': true,
  'operator.closed': true,
  'hold.ended': true,
  resumed: true,
  'breaker.started': true,
  'breaker.evicted': true,
  'circuit.saved': true,
  'config.recorded': true,
  'journal.pruned': true,
  'journal.interrupted': true,
}

/** Every type that a row can have. */
export const ROW_TYPES: readonly string[] = Object.keys(TYPES)

/** One row of a journal. */
export interface JournalRow {
  /** 1, 2, 3 … without a gap. */
  readonly seq: number
  /** When, in ms of the wall clock. */
  readonly at: number
  /** The bucket; null = the journal itself speaks. */
  readonly circuit: string | null
  readonly type: RowEvent['type']
  readonly from: CircuitState | null
  readonly to: CircuitState | null
  readonly event: RowEvent
  /** The circuit after the event. */
  readonly saved: SavedCircuit | null
  /** Why, for people. */
  readonly why: string
  /** The operator, where one acted, and why in the operator's own words. */
  readonly by?: string
  readonly reason?: string
  /** The call it belongs to, where there is one. */
  readonly call?: string
  /** Calls that the circuit has refused since its row before, where they were counted. */
  readonly refused?: number
  /** SHA-256 over the hash of the row before and all of this row. */
  readonly hash: string
}

/** A row before it has its place in the chain. */
export interface Draft {
  readonly at: number
  readonly circuit: string | null
  readonly type: string
  readonly from: CircuitState | null
  readonly to: CircuitState | null
  /** JSON. */
  readonly event: string
  /** JSON. */
  readonly saved: string | null
  readonly call: string | null
}

/** A row as it is stored: texts, so that its hash can be computed again. */
export interface StoredRow extends Draft {
  readonly seq: number
  /** Hash of the row before. */
  readonly prev: string
  readonly hash: string
}

/** Where the next row joins on. */
export interface Head {
  readonly seq: number
  readonly hash: string
}

/** Before the first row. */
export const BEGINNING: Head = { seq: 0, hash: '0'.repeat(64) }

// half a surrogate pair comes back from a database as another character, and would look like an edit
const wellFormed = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD')

export function draftOf({ bucket, at, event, from, to, saved, call, refused }: JournalEntry): Draft {
  return {
    // a clock that gives no number must not make a row that no database takes
    at: Number.isFinite(at) ? at : 0,
    circuit: wellFormed(bucket),
    type: event.type,
    from,
    to,
    event: JSON.stringify({ ...asJson(event), ...(refused !== undefined && { refused }) }),
    saved: JSON.stringify(saved),
    call: call === undefined ? null : wellFormed(call),
  }
}

function asJson(event: JournalEntry['event']): object {
  if (event.type === 'breaker.started') return { ...event, policy: policyAsJson(event.policy) }
  // JSON knows no Infinity; either is cut to the longest wait that is believed
  if ('retryAfterMs' in event && event.retryAfterMs === Infinity)
    return { ...event, retryAfterMs: Number.MAX_VALUE }
  return event
}

/** A row of the journal about itself. */
export function ownDraft(event: OwnEvent): Draft {
  const nobody = { circuit: null, from: null, to: null, saved: null, call: null }
  return { ...nobody, at: event.at, type: event.type, event: JSON.stringify(event) }
}

/** Gives a draft its place in the chain. */
export function sealed(draft: Draft, { seq, hash: prev }: Head): StoredRow {
  const { at, circuit, type, from, to, event, saved, call } = draft
  const place = { seq: seq + 1, prev }
  // spelled out: a row read from a database must come to the same text, whatever the order of its columns
  const row = { ...place, at, circuit, type, from, to, event, saved, call }
  return { ...row, hash: hashOf(row) }
}

/** What the hash of a row must be. */
export function hashOf({
  seq,
  prev,
  at,
  circuit,
  type,
  from,
  to,
  event,
  saved,
  call,
}: Omit<StoredRow, 'hash'>): string {
  return hash('sha256', JSON.stringify([prev, seq, at, circuit, type, from, to, event, saved, call]), 'hex')
}

function parsed<T>(json: string | null): T | null {
  try {
    return json === null ? null : (JSON.parse(json) as T)
  } catch {
    return null
  }
}

/** A stored row as its readers see it. One that was damaged can still be shown. */
export function toRow({ seq, at, circuit, from, to, hash: own, ...row }: StoredRow): JournalRow {
  const type = row.type as RowEvent['type']
  const event = parsed<RowEvent>(row.event) ?? ({ type, at } as RowEvent)
  const saved = parsed<SavedCircuit>(row.saved)
  const { by, reason, refused } = event as { by?: string; reason?: string; refused?: unknown }
  return {
    seq,
    at,
    circuit,
    type,
    from,
    to,
    why: rowInWords(event, from, to, saved, at),
    ...(by !== undefined && { by }),
    ...(reason !== undefined && reason !== '' && { reason }),
    ...(row.call !== null && { call: row.call }),
    ...(typeof refused === 'number' && { refused }),
    event,
    saved,
    hash: own,
  }
}
