import { closeSync, constants, openSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'
import { keptHash } from './chain.ts'
import { ownDraft, sealed } from './journal-row.ts'
import type { Draft, Head, StoredRow } from './journal-row.ts'
import { SqliteRows } from './sqlite-rows.ts'
import { createTables, isJournal, numberOf } from './sqlite-schema.ts'
import { UnusableFile } from './unusable-file.ts'

/** How much a journal may hold. */
export interface Retention {
  readonly keepMs: number
  readonly maxBytes: number
}

const DAY_MS = 86_400_000

// a statement waits so long for another program, and every call with it
const BUSY_MS = 25

/** Rows that one step of retention drops at most: a few milliseconds. */
const STEP_ROWS = 500

// each step writes a row of its own: it must be worth it
const WORTH_ROWS = 64

/** Beyond `maxBytes`, before the file refuses to grow: retention is never far behind. */
const SLACK = 1.1
const SLACK_BYTES = 524_288

/** A step takes off until this share of `maxBytes` is left, so that not every step finds too much again. */
const ENOUGH = 0.9

/** A row that retention may drop. */
interface OldRow {
  readonly seq: number
  readonly at: number
  readonly hash: string
}

/** True while it is the file that was opened, not one that was put in its place. */
const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino

/**
 * Makes the file for its owner alone, where there is none; SQLite gives what it puts beside it the same mode. One that is
 * there keeps its own.
 */
function makePrivate(path: string): void {
  try {
    // a pipe would keep the start waiting
    closeSync(openSync(path, constants.O_CREAT | constants.O_WRONLY | constants.O_NONBLOCK, 0o600))
  } catch {
    // SQLite says what is wrong
  }
}

/**
 * Nobody else may write while this is open; reading stays free. A lock on a file of its own ends with the process,
 * however that ends.
 */
function lockBeside(path: string): DatabaseSync {
  makePrivate(`${path}.lock`)
  const lock = new DatabaseSync(`${path}.lock`, { timeout: 0 })
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode !== 5) throw error
    throw new UnusableFile(
      'another switchgear writes it; give each process a file of its own, or wait until that one has ended',
    )
  }
}

/** The journal file, open for writing. Every method throws what SQLite throws. */
export class SqliteFile {
  readonly rows: SqliteRows
  readonly #path: string
  readonly #retention: Retention
  readonly #lock: DatabaseSync
  readonly #db: DatabaseSync
  readonly #insert: StatementSync
  readonly #oldest: StatementSync
  readonly #pageSize: number
  readonly #inode: number | undefined
  #head: Head
  #shrinking = false

  constructor(path: string, retention: Retention) {
    this.#path = path
    this.#retention = retention
    this.#lock = lockBeside(path)
    let db: DatabaseSync | undefined
    try {
      makePrivate(path)
      db = new DatabaseSync(path, { timeout: BUSY_MS })
      if (!isJournal(db)) createTables(db)
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY')
      this.#pageSize = numberOf(db, 'PRAGMA page_size')
      const pages = Math.ceil((retention.maxBytes * SLACK + SLACK_BYTES) / this.#pageSize)
      if (Number.isFinite(pages)) db.exec(`PRAGMA max_page_count = ${pages}`)
      this.rows = new SqliteRows(db)
      this.#head = this.rows.head
      this.#insert = db.prepare('INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      this.#oldest = db.prepare(
        'SELECT seq, at, lower(hex(hash)) AS hash FROM rows WHERE seq > ? AND seq < ? ORDER BY seq LIMIT ?',
      )
      // a database that may only be read can be opened all the same
      db.exec('BEGIN IMMEDIATE; ROLLBACK')
    } catch (error) {
      db?.close()
      this.#lock.close()
      throw error
    }
    this.#db = db
    this.#inode = inodeOf(path)
  }

  get head(): Head {
    return this.#head
  }

  append(draft: Draft): StoredRow {
    const row = sealed(draft, this.#head)
    const { seq, at, circuit, type, from, to, event, saved, call, prev, hash } = row
    const [before, own] = [Buffer.from(prev, 'hex'), Buffer.from(hash, 'hex')]
    this.#insert.run(seq, at, circuit, type, from, to, event, saved, call, before, own)
    this.#head = row
    return row
  }

  /** All or none of them. */
  appendAll(drafts: readonly Draft[]): StoredRow[] {
    return this.#whole(() => drafts.map((draft) => this.append(draft)))
  }

  #whole<T>(work: () => T): T {
    const head = this.#head
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#db.exec('COMMIT')
      return result
    } catch (error) {
      this.#head = head
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw error
    }
  }

  /** @throws UnusableFile where the file was removed or another one put in its place */
  checkPlace(): void {
    if (inodeOf(this.#path) !== this.#inode)
      throw new UnusableFile('it was removed, or another file was put in its place')
  }

  /**
   * One step of retention: drops the oldest rows that are too old or too many, but never how a circuit last stood. What
   * was dropped is written down, so that it is no gap. True = it did something, and there may be more to do.
   */
  prune(now: number): boolean {
    const batch = this.#tooMuch(now)
    const last = batch.at(-1)
    if (last === undefined) return false
    const upTo = last.seq
    this.#whole(() => {
      this.#db
        .prepare(
          `DELETE FROM rows WHERE seq <= ? AND (type IN ('breaker.evicted', 'journal.pruned', 'journal.interrupted')
            OR EXISTS (SELECT 1 FROM rows later WHERE later.circuit IS rows.circuit AND later.seq > rows.seq
              AND (rows.circuit IS NOT NULL OR later.type = rows.type)))`,
        )
        .run(upTo)
      const left = this.#db
        .prepare('SELECT lower(hex(hash)) AS hash FROM rows WHERE seq <= ? ORDER BY seq')
        .all(upTo)
      const kept = keptHash(left.map(({ hash }) => String(hash)))
      this.append(ownDraft({ type: 'journal.pruned', at: now, upTo, hash: last.hash, kept }))
    })
    if (numberOf(this.#db, 'PRAGMA page_count') * this.#pageSize > this.#retention.maxBytes)
      this.#db.exec(`PRAGMA incremental_vacuum(${STEP_ROWS})`)
    return true
  }

  #tooMuch(now: number): OldRow[] {
    const { keepMs, maxBytes } = this.#retention
    const pages = numberOf(this.#db, 'PRAGMA page_count') - numberOf(this.#db, 'PRAGMA freelist_count')
    this.#shrinking = pages * this.#pageSize > (this.#shrinking ? maxBytes * ENOUGH : maxBytes)
    const oldest = (most: number) =>
      this.#oldest.all(this.rows.anchor.upTo, this.#head.seq, most) as unknown as OldRow[]
    // most of the time there is nothing to do, and a few rows show it
    const first = oldest(WORTH_ROWS)
    // a row from the future, of a clock that was wrong, must not stand before the others for ever
    const isOld = ({ at }: OldRow, limit: number) => at < limit || at > now + DAY_MS
    const before = now - keepMs
    const isWorthIt =
      first.length === WORTH_ROWS && (this.#shrinking || first.every((row) => isOld(row, before)))
    if (!isWorthIt && !(first[0] !== undefined && isOld(first[0], before - DAY_MS))) return []
    const rows = oldest(STEP_ROWS)
    const end = this.#shrinking ? -1 : rows.findIndex((row) => !isOld(row, before))
    return end === -1 ? rows : rows.slice(0, end)
  }

  close(): void {
    try {
      this.#db.close()
    } finally {
      this.#lock.close()
    }
  }
}
