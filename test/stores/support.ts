import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach } from 'vitest'
import type { JournalStore } from '../../src/stores/journal-store.ts'
import { sqliteJournal } from '../../src/stores/sqlite-journal.ts'
import type { SqliteJournalOptions } from '../../src/stores/sqlite-journal.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { START } from './entry.ts'

export const DAY_MS = 86_400_000

/** A directory that goes with the test. */
export function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'switchgear-journal-'))
  leftovers.push(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const leftovers: (() => void)[] = []
afterEach(() => {
  for (const clear of leftovers.splice(0).toReversed()) clear()
})

/** A logger whose lines can be read. */
export function listeningLogger() {
  const lines: { level: 'info' | 'warn' | 'error'; fields: object; text: string }[] = []
  const at = (level: 'info' | 'warn' | 'error') => (fields: object, text: string) =>
    void lines.push({ level, fields, text })
  return { lines, logger: { info: at('info'), warn: at('warn'), error: at('error') } }
}

export interface Desk {
  readonly file: string
  readonly clock: VirtualClock
  readonly lines: ReturnType<typeof listeningLogger>['lines']
  readonly journal: JournalStore
  /** Another journal on the same file, clock and log. */
  readonly open: (options?: Partial<SqliteJournalOptions>) => JournalStore
}

/** A journal on a file of its own. */
export function desk(options: Partial<SqliteJournalOptions> = {}): Desk {
  const file = options.file ?? join(scratch(), 'journal.db')
  const clock = new VirtualClock(START)
  const { lines, logger } = listeningLogger()
  const open = (more: Partial<SqliteJournalOptions> = {}) => {
    const journal = sqliteJournal({ clock, logger, ...options, ...more, file })
    leftovers.push(() => journal.close())
    return journal
  }
  return { file, clock, lines, open, journal: open() }
}

/** The file as somebody with a database tool sees it. */
export function tamper(file: string, ...statements: string[]): void {
  const db = new DatabaseSync(file)
  for (const statement of statements) db.exec(statement)
  db.close()
}
