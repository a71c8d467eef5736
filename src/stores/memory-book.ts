import { keptHash, verifyChain } from './chain.ts'
import type { Verification } from './chain.ts'
import { BEGINNING, sealed } from './journal-row.ts'
import type { Draft, Head, StoredRow } from './journal-row.ts'
import { DEFAULT_LIMIT } from './journal-store.ts'
import type { Book, JournalFilter, JournalHealth } from './journal-store.ts'

const matches = (row: StoredRow, { circuit, since, until, type, after }: JournalFilter) =>
  (circuit === undefined || row.circuit === circuit) &&
  (since === undefined || row.at >= since) &&
  (until === undefined || row.at <= until) &&
  (type === undefined || (type === 'transition' ? row.from !== row.to : row.type === type)) &&
  (after === undefined || row.seq > after)

/** The newest rows, in memory. */
export class MemoryBook implements Book {
  readonly health: JournalHealth = { state: 'ok' }
  readonly #capacity: number
  readonly #latest = new Map<string, StoredRow>()
  #rows: StoredRow[] = []
  #before: Head
  #head: Head

  /** @param head where it goes on from */
  constructor(capacity: number, head = BEGINNING) {
    this.#capacity = capacity
    this.#before = head
    this.#head = head
  }

  /** Rows that were too many. */
  get lost(): number {
    return Math.max(0, this.#rows.length - this.#capacity) + this.#dropped
  }

  #dropped = 0

  append(draft: Draft): StoredRow {
    const row = sealed(draft, this.#head)
    this.#head = row
    this.#rows.push(row)
    // in one go: taking off the first of a long list for every row would move all of them
    if (this.#rows.length >= 2 * this.#capacity) {
      this.#dropped += this.#rows.length - this.#capacity
      const kept = this.#rows.slice(-this.#capacity)
      this.#before = this.#rows.at(-this.#capacity - 1) ?? this.#before
      this.#rows = kept
    }
    if (row.type === 'breaker.evicted') this.#latest.delete(row.circuit ?? '')
    else if (row.circuit !== null) this.#latest.set(row.circuit, row)
    return row
  }

  /** What is kept, the oldest first. */
  get kept(): readonly StoredRow[] {
    return this.#rows.slice(-this.#capacity)
  }

  rows(filter: JournalFilter): StoredRow[] {
    const found: StoredRow[] = []
    const limit = filter.limit ?? DEFAULT_LIMIT
    for (const row of this.kept.toReversed()) {
      if (found.length >= limit) break
      if (matches(row, filter)) found.push(row)
    }
    return found
  }

  latest(): StoredRow[] {
    return [...this.#latest.values()]
  }

  verify(): Verification {
    const { kept } = this
    const first = this.#rows.length - kept.length
    const { seq: upTo, hash } = first === 0 ? this.#before : this.#rows[first - 1]!
    return verifyChain(kept, { upTo, hash, kept: keptHash([]) }, this.#head.seq)
  }

  close(): void {}
}
