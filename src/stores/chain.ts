import { hash } from 'node:crypto'
import { BEGINNING, hashOf } from './journal-row.ts'
import type { Head, OwnEvent, StoredRow } from './journal-row.ts'

/** Something that a whole journal does not have. */
export interface Fault {
  /** The row where it shows. */
  readonly seq: number
  readonly what: string
}

/** What looking through a whole journal came to. */
export interface Verification {
  readonly ok: boolean
  /** Rows looked at. */
  readonly rows: number
  /** Rows up to here were dropped by retention; 0 = none. */
  readonly prunedUpTo: number
  /** The last row. Whoever notes its hash elsewhere can later show that everything up to it is still there. */
  readonly head: Head
  /** In order of the rows, the first hundred. */
  readonly faults: readonly Fault[]
}

type Pruned = Extract<OwnEvent, { type: 'journal.pruned' }>

/** What speaks for the rows that retention has dropped. */
export type Anchor = Pick<Pruned, 'upTo' | 'hash' | 'kept'>

const MOST_FAULTS = 100

/** One hash for the rows that retention leaves standing below its anchor. */
export const keptHash = (hashes: readonly string[]): string => hash('sha256', hashes.join(''), 'hex')

const NO_ANCHOR: Anchor = { upTo: 0, hash: BEGINNING.hash, kept: keptHash([]) }

/** The anchor that a `journal.pruned` row holds. */
export function anchorOf(pruned: Pick<StoredRow, 'event'> | undefined): Anchor {
  if (pruned === undefined) return NO_ANCHOR
  try {
    const { upTo, hash: last, kept } = JSON.parse(pruned.event) as Pruned
    return { upTo, hash: last, kept }
  } catch {
    // the row itself will be told to be damaged
    return NO_ANCHOR
  }
}

/**
 * Follows the chain through all rows, in order of `seq`.
 *
 * @param issued the last `seq` that was ever given out, where it is known
 */
export function verifyChain(rows: Iterable<StoredRow>, anchor = NO_ANCHOR, issued?: number): Verification {
  const faults: Fault[] = []
  const fault = (seq: number, what: string) =>
    void (faults.length < MOST_FAULTS && faults.push({ seq, what }))
  const standing: string[] = []
  let head: Head = { seq: anchor.upTo, hash: anchor.hash }
  let count = 0
  for (const row of rows) {
    count++
    const { seq } = row
    if (hashOf(row) !== row.hash) fault(seq, 'was edited: its content does not match its hash')
    if (seq <= anchor.upTo) {
      standing.push(row.hash)
      continue
    }
    if (seq !== head.seq + 1) fault(seq, `follows row ${head.seq}: ${missing(head.seq + 1, seq - 1)}`)
    else if (row.prev !== head.hash) fault(seq, joint(head.seq, anchor))
    head = { seq, hash: row.hash }
  }
  if (keptHash(standing) !== anchor.kept)
    fault(anchor.upTo, 'is where retention ended, and a row that it left standing was taken away or replaced')
  if (issued !== undefined && issued > head.seq)
    fault(head.seq, `is the last one: ${missing(head.seq + 1, issued)}`)
  return { ok: faults.length === 0, rows: count, prunedUpTo: anchor.upTo, head, faults }
}

const missing = (first: number, last: number) =>
  first === last ? `row ${first} is missing` : `rows ${first} to ${last} are missing`

const joint = (before: number, anchor: Anchor) =>
  before === anchor.upTo
    ? 'does not join on to what retention dropped'
    : `does not join on to row ${before}: one of the two was replaced, or they were put in another order`
