import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { silentLogger } from '../core/notifier.ts'
import type { Logger } from '../core/notifier.ts'
import { checkKeys, checkMethods, checkNumber } from '../core/validate.ts'
import { BookJournal } from './journal-store.ts'
import type { JournalStore } from './journal-store.ts'
import { MemoryBook } from './memory-book.ts'

export interface MemoryJournalOptions {
  /** Most rows that are kept, the newest ones; an integer ≥ 1. How each circuit last stood is kept besides. Default 10 000. */
  readonly capacity?: number
  /** Default: the real clock. */
  readonly clock?: Clock
  /** A pino-shaped logger. Default: silent. */
  readonly logger?: Logger
}

/**
 * A journal that ends with the process.
 *
 * @throws RangeError for a capacity out of range, ConfigError for an unknown option
 * @example
 * ```ts
 * const journal = memoryJournal()
 * const gear = createSwitchgear({ targets, journal })
 * console.log(journal.rows({ type: 'transition' }).map(({ circuit, why }) => `${circuit}: ${why}`))
 * ```
 */
export function memoryJournal(options: MemoryJournalOptions = {}): JournalStore {
  checkKeys('', options, ['capacity', 'clock', 'logger'])
  const capacity = checkNumber('capacity', options.capacity ?? 10_000, { min: 1, integer: true })
  const clock =
    checkMethods('clock', options.clock, ['now', 'wall', 'setTimeout', 'clearTimeout']) ?? systemClock
  const logger = checkMethods('logger', options.logger, ['info', 'warn', 'error']) ?? silentLogger
  return new BookJournal(new MemoryBook(capacity), clock, logger)
}
