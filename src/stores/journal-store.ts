import { hash } from 'node:crypto'
import type { SavedCircuit } from '../../machines/breaker-events.ts'
import type { Clock } from '../core/clock.ts'
import { SwitchgearError } from '../core/errors.ts'
import type { Journal, JournalEntry } from '../core/journal.ts'
import type { Logger } from '../core/notifier.ts'
import { checkSaved } from '../core/saved-circuit.ts'
import { checkNumber } from '../core/validate.ts'
import type { Verification } from './chain.ts'
import { draftOf, hashOf, ownDraft, toRow } from './journal-row.ts'
import type { Draft, JournalRow, StoredRow } from './journal-row.ts'

/** Which rows. Every condition must hold. */
export interface JournalFilter {
  /** One bucket; null = what the journal says of itself. */
  readonly circuit?: string | null
  /** Not before, in ms of the wall clock. */
  readonly since?: number
  /** Not after, in ms of the wall clock. */
  readonly until?: number
  /** A type of event, or `transition` for whatever changed the state. */
  readonly type?: string
  /** Only rows behind this one. */
  readonly after?: number
  /** Most rows, the newest ones; Infinity = all. Default 100. */
  readonly limit?: number
}

/** Whether what is appended survives the process. */
export type JournalHealth =
  | { readonly state: 'ok' }
  | {
      readonly state: 'degraded'
      /** What is wrong with the file, for people. */
      readonly reason: string
      /** Since when, in ms of the wall clock. */
      readonly since: number
      /** Rows in memory that wait for the file. */
      readonly waiting: number
      /** Rows that were too many for the memory. */
      readonly lost: number
    }

/** A journal that can be read. */
export interface JournalStore extends Journal, Disposable {
  /** The newest first. */
  rows(filter?: JournalFilter): JournalRow[]
  /**
   * Every circuit as it last stood, for the option `snapshots`. One that cannot be read, or was edited, is left out with
   * a warning: it starts closed.
   */
  latest(): Record<string, SavedCircuit>
  /** Notes the configuration in force, where it is another than before. `summary` must hold no secret. */
  recordConfig(summary: string): void
  /** Follows the chain through all rows. Reads everything: not for a busy process. */
  verify(): Verification
  /** Hears every row of a breaker after it was appended; what a listener throws is logged. Returns the way to stop. */
  onRow(listener: (row: JournalRow) => void): () => void
  readonly health: JournalHealth
  /** Writes what still waits, and lets go of the file. */
  close(): void
}

/** Rows of a list, where nobody says how many. */
export const DEFAULT_LIMIT = 100

/** Rows in a chain, wherever they are kept. */
export interface Book {
  append(draft: Draft): StoredRow
  /** The newest first. */
  rows(filter: JournalFilter): StoredRow[]
  /** The last row of every circuit that was not forgotten. */
  latest(): StoredRow[]
  verify(): Verification
  readonly health: JournalHealth
  close(): void
}

/** What reads and writes rows, over whatever keeps them. */
export class BookJournal implements JournalStore {
  readonly #book: Book
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #listeners = new Set<(row: JournalRow) => void>()
  #closed = false

  constructor(book: Book, clock: Clock, logger: Logger) {
    this.#book = book
    this.#clock = clock
    this.#logger = logger
  }

  append(entry: JournalEntry): void {
    this.#write(draftOf(entry))
  }

  #write(draft: Draft): void {
    if (this.#closed) throw new SwitchgearError('ERR_CLOSED', 'The journal is closed.')
    const stored = this.#book.append(draft)
    if (this.#listeners.size === 0) return
    const row = toRow(stored)
    for (const listener of this.#listeners) this.#tell(listener, row)
  }

  #tell(listener: (row: JournalRow) => void, row: JournalRow): void {
    try {
      listener(row)
    } catch (error) {
      const message = error instanceof Error ? error.message : 'something that is no error'
      this.#logger.error({ err: { message } }, `a listener of the journal threw: ${message}`)
    }
  }

  rows(filter: JournalFilter = {}): JournalRow[] {
    checkNumber('limit', filter.limit ?? DEFAULT_LIMIT, { min: 1, integer: true, infinite: true })
    return this.#book.rows(filter).map(toRow)
  }

  latest(): Record<string, SavedCircuit> {
    const circuits: [string, SavedCircuit][] = []
    for (const row of this.#book.latest()) {
      const circuit = row.circuit ?? ''
      try {
        if (hashOf(row) !== row.hash) throw new Error('it was edited')
        circuits.push([circuit, checkSaved(JSON.parse(row.saved ?? 'null'), circuit)])
      } catch (error) {
        const reason = error instanceof SyntaxError ? 'it is damaged' : (error as Error).message
        this.#logger.warn(
          { circuit, row: row.seq },
          `the saved circuit '${circuit}' in row ${row.seq} of the journal is not used, and the circuit starts closed: ${reason}`,
        )
      }
    }
    return Object.fromEntries(circuits)
  }

  recordConfig(summary: string): void {
    const text = summary.toWellFormed()
    const own = hash('sha256', text, 'hex')
    const [last] = this.rows({ circuit: null, type: 'config.recorded', limit: 1 })
    if (last?.event.type === 'config.recorded' && last.event.hash === own) return
    this.#write(ownDraft({ type: 'config.recorded', at: this.#clock.wall(), hash: own, text }))
  }

  verify(): Verification {
    return this.#book.verify()
  }

  onRow(listener: (row: JournalRow) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  get health(): JournalHealth {
    return this.#book.health
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#book.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}
