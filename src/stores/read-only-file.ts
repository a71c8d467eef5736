import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Verification } from './chain.ts'
import { toRow } from './journal-row.ts'
import type { JournalRow, StoredRow } from './journal-row.ts'
import type { JournalFilter } from './journal-store.ts'
import { SqliteRows } from './sqlite-rows.ts'
import { isJournal } from './sqlite-schema.ts'
import { UnusableFile, toUnusable } from './unusable-file.ts'

/** A journal file open for reading, while another process may write it. */
export interface JournalReader extends Disposable {
  /** The newest first. */
  rows(filter?: JournalFilter): JournalRow[]
  /** Circuits and types of events that have a row, sorted. */
  names(): { readonly circuits: readonly string[]; readonly types: readonly string[] }
  verify(): Verification
}

function openDatabase(path: string, live: boolean): DatabaseSync {
  if (!existsSync(path)) throw new UnusableFile('there is no such file')
  // without a write-ahead log nobody writes it, and nothing needs to be put beside it in order to read
  const isAtRest = !live && !existsSync(`${path}-wal`)
  const url = pathToFileURL(path)
  if (isAtRest) url.searchParams.set('immutable', '1')
  return new DatabaseSync(url, { readOnly: true })
}

function openRows(path: string, live = false): [SqliteRows, DatabaseSync] {
  const db = openDatabase(path, live)
  try {
    if (!isJournal(db)) throw new UnusableFile('it is empty')
    return [new SqliteRows(db), db]
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Opens a journal file for reading; who writes it is not disturbed.
 *
 * @param options with `live`, what is written from now on is seen even where nobody writes it yet
 * @throws UnusableFile where it is no journal, or cannot be read
 */
export function readJournal(path: string, options: { readonly live?: boolean } = {}): JournalReader {
  const careful = <T>(read: () => T): T => {
    try {
      return read()
    } catch (error) {
      throw toUnusable(error)
    }
  }
  const [rows, db] = careful(() => openRows(path, options.live))
  return {
    rows: (filter = {}) => careful(() => rows.rows(filter).map(toRow)),
    names: () => careful(() => rows.names()),
    verify: () => careful(() => rows.verify()),
    [Symbol.dispose]: () => db.close(),
  }
}

/** How the circuits in a file last stood; none where it cannot be read. */
export function latestInFile(path: string): StoredRow[] {
  try {
    const [rows, db] = openRows(path)
    try {
      return rows.latest()
    } finally {
      db.close()
    }
  } catch {
    return []
  }
}
