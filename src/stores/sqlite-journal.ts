import { resolve } from 'node:path'
import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { ConfigError } from '../core/errors.ts'
import type { Logger } from '../core/notifier.ts'
import { checkKeys, checkMethods, checkNumber } from '../core/validate.ts'
import { BookJournal } from './journal-store.ts'
import type { JournalStore } from './journal-store.ts'
import { SqliteBook } from './sqlite-book.ts'

export interface SqliteJournalOptions {
  /** Where; made if there is none, for its owner alone (mode 0600). Beside it stand `-wal`, `-shm` and `.lock`. */
  readonly file: string
  /** Rows older than that are dropped, within a day; > 0, Infinity = never. Default 30. */
  readonly keepDays?: number
  /** Size from which the oldest rows are dropped, in MiB; > 0, Infinity = never. Default 512. */
  readonly maxMegabytes?: number
  /** Default: the real clock. */
  readonly clock?: Clock
  /** A pino-shaped logger. Default: errors become process warnings. */
  readonly logger?: Logger
}

const DAY_MS = 86_400_000
const MEBIBYTE = 1_048_576

/** Nobody gave a logger, but that nothing is written any more must not pass in silence. */
const warningsOnly: Logger = {
  info() {},
  warn() {},
  error: (_fields, message) => process.emitWarning(message, 'SwitchgearJournalWarning'),
}

/**
 * A journal in one SQLite file. What `append` has returned from survives the end of the process, however it ends. A file
 * that is locked, full, damaged or not ours never throws: rows are kept in memory meanwhile, `health` says why, and it is
 * tried again every ten seconds. One process writes a file at a time; reading is free to all.
 *
 * @throws RangeError for a number out of range, ConfigError for an unknown option
 * @example
 * ```ts
 * const journal = sqliteJournal({ file: 'switchgear.db', logger })
 * const gear = createSwitchgear({ targets, journal, snapshots: journal.latest() })
 * ```
 */
export function sqliteJournal(options: SqliteJournalOptions): JournalStore {
  checkKeys('', options, ['file', 'keepDays', 'maxMegabytes', 'clock', 'logger'])
  const { file, keepDays = 30, maxMegabytes = 512 } = options
  if (typeof file !== 'string' || file === '')
    throw new ConfigError('file is missing.', { path: 'file', hint: 'Name the file of the journal.' })
  const range = { min: 0, above: true, infinite: true }
  const retention = {
    keepMs: checkNumber('keepDays', keepDays, range) * DAY_MS,
    maxBytes: checkNumber('maxMegabytes', maxMegabytes, range) * MEBIBYTE,
  }
  const clock =
    checkMethods('clock', options.clock, ['now', 'wall', 'setTimeout', 'clearTimeout']) ?? systemClock
  const logger = checkMethods('logger', options.logger, ['info', 'warn', 'error']) ?? warningsOnly
  return new BookJournal(new SqliteBook(resolve(file), retention, clock, logger), clock, logger)
}
