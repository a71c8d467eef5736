import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { anchorOf, verifyChain } from './chain.ts'
import type { Anchor, Verification } from './chain.ts'
import { BEGINNING } from './journal-row.ts'
import type { Head, StoredRow } from './journal-row.ts'
import { DEFAULT_LIMIT } from './journal-store.ts'
import type { JournalFilter } from './journal-store.ts'
import { numberOf } from './sqlite-schema.ts'

const COLUMNS =
  'seq, at, circuit, type, from_state AS "from", to_state AS "to", event, saved, call, lower(hex(prev)) AS prev, lower(hex(hash)) AS hash'

const LATEST = `SELECT ${COLUMNS} FROM rows WHERE type <> 'breaker.evicted' AND seq IN
  (SELECT max(seq) FROM rows WHERE circuit IS NOT NULL GROUP BY circuit) ORDER BY seq`

type Condition = readonly [sql: string, ...values: SQLInputValue[]]

function conditions({ circuit, since, until, type, after }: JournalFilter): Condition[] {
  const found: Condition[] = []
  // IS: null is a circuit, too
  if (circuit !== undefined) found.push(['circuit IS ?', circuit])
  if (since !== undefined) found.push(['at >= ?', since])
  if (until !== undefined) found.push(['at <= ?', until])
  if (type === 'transition') found.push(['from_state <> to_state'])
  else if (type !== undefined) found.push(['type = ?', type])
  if (after !== undefined) found.push(['seq > ?', after])
  return found
}

/** The rows of a database, for reading. */
export class SqliteRows {
  readonly #db: DatabaseSync
  readonly #last: StatementSync
  readonly #pruned: StatementSync

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#last = db.prepare(`SELECT ${COLUMNS} FROM rows ORDER BY seq DESC LIMIT 1`)
    this.#pruned = db.prepare(
      `SELECT ${COLUMNS} FROM rows WHERE circuit IS NULL AND type = 'journal.pruned' ORDER BY seq DESC LIMIT 1`,
    )
  }

  /** The newest first. */
  rows(filter: JournalFilter): StoredRow[] {
    const where = conditions(filter)
    const limit = filter.limit ?? DEFAULT_LIMIT
    const text = where.length === 0 ? '' : `WHERE ${where.map(([sql]) => sql).join(' AND ')}`
    const values = where.flatMap(([, ...given]) => given)
    return this.#db
      .prepare(`SELECT ${COLUMNS} FROM rows ${text} ORDER BY seq DESC LIMIT ?`)
      .all(...values, limit === Infinity ? -1 : limit) as unknown as StoredRow[]
  }

  latest(): StoredRow[] {
    return this.#db.prepare(LATEST).all() as unknown as StoredRow[]
  }

  /** Circuits and types that have a row, sorted. */
  names(): { readonly circuits: readonly string[]; readonly types: readonly string[] } {
    const all = (column: string) =>
      this.#db
        .prepare(`SELECT DISTINCT ${column} AS name FROM rows WHERE ${column} IS NOT NULL ORDER BY name`)
        .all()
        .map(({ name }) => String(name))
    return { circuits: all('circuit'), types: all('type') }
  }

  /** Where the next row joins on; what was cut off at the end stays a gap. */
  get head(): Head {
    const last = this.#last.get() as unknown as StoredRow | undefined
    return { seq: Math.max(this.#issued, last?.seq ?? 0), hash: last?.hash ?? BEGINNING.hash }
  }

  get anchor(): Anchor {
    return anchorOf(this.#pruned.get() as unknown as StoredRow | undefined)
  }

  get #issued(): number {
    return numberOf(this.#db, `SELECT seq FROM sqlite_sequence WHERE name = 'rows'`)
  }

  /** All of them in one view, whoever writes meanwhile. */
  verify(): Verification {
    const all = this.#db.prepare(`SELECT ${COLUMNS} FROM rows ORDER BY seq`)
    this.#db.exec('BEGIN')
    try {
      return verifyChain(all.iterate() as unknown as Iterable<StoredRow>, this.anchor, this.#issued)
    } finally {
      this.#db.exec('ROLLBACK')
    }
  }
}
