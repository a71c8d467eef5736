import type { DatabaseSync } from 'node:sqlite'
import { UnusableFile } from './unusable-file.ts'

/** "SWGR": tells a journal from other SQLite files. */
const APPLICATION_ID = 0x53574752

/** Of what this version writes. */
export const FORMAT = 1

// `at` is a float: a clock of somebody's own may give fractions. AUTOINCREMENT remembers what was cut off at the end
const TABLES = `
  CREATE TABLE rows (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    circuit TEXT,
    type TEXT NOT NULL,
    from_state TEXT,
    to_state TEXT,
    event TEXT NOT NULL,
    saved TEXT,
    call TEXT,
    prev BLOB NOT NULL,
    hash BLOB NOT NULL
  ) STRICT;
  CREATE INDEX rows_by_circuit ON rows (circuit, seq);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};`

/** The number that a pragma or a query of one column gives. */
export function numberOf(db: DatabaseSync, query: string): number {
  const row = db.prepare(query).get() as Record<string, unknown> | undefined
  return Number(Object.values(row ?? {})[0] ?? 0)
}

/** True for a journal, false for an empty file. @throws UnusableFile for anything else */
export function isJournal(db: DatabaseSync): boolean {
  const id = numberOf(db, 'PRAGMA application_id')
  const format = numberOf(db, 'PRAGMA user_version')
  if (id === 0 && format === 0 && numberOf(db, 'SELECT count(*) FROM sqlite_schema') === 0) return false
  if (id !== APPLICATION_ID)
    throw new UnusableFile(
      'it is the database of another program and is left untouched; name another file, or move this one away',
      true,
    )
  if (format === FORMAT) return true
  throw new UnusableFile(
    `it was written by another version of switchgear (format ${format}; this one knows ${FORMAT}) and is left untouched; start that version, or name another file`,
    true,
  )
}

/** Makes an empty file a journal, all or nothing: it names itself before the write-ahead log begins. */
export function createTables(db: DatabaseSync): void {
  db.exec(`PRAGMA auto_vacuum = INCREMENTAL; BEGIN IMMEDIATE; ${TABLES} COMMIT`)
}
