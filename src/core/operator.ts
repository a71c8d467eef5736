import { ConfigError } from './errors.ts'
import { checkBoolean, checkKeys, checkNumber } from './validate.ts'

/** What an operator says when opening or closing a circuit by hand. */
export interface CommandOptions {
  /** Stay so until somebody ends it, or `ttlMs` is over. Default false. */
  readonly hold?: boolean
  /** How long the hold lasts, in ms, > 0. Only with `hold`. Default: no limit. */
  readonly ttlMs?: number
  /** Why; kept with the circuit and in the journal, 200 characters at most. */
  readonly reason?: string
  /** Who; 100 characters at most. Default `operator`. */
  readonly by?: string
}

interface Order {
  readonly hold: boolean
  readonly ttlMs: number | undefined
  readonly reason: string
  readonly by: string
}

/** @throws ConfigError for an unknown key or a `ttlMs` without `hold`, RangeError for a `ttlMs` out of range */
export function checkCommand(options: CommandOptions): Order {
  checkKeys('options', options, ['hold', 'ttlMs', 'reason', 'by'])
  const hold = checkBoolean('hold', options.hold) ?? false
  if (options.ttlMs !== undefined && !hold) {
    throw new ConfigError('ttlMs is given without hold.', {
      path: 'ttlMs',
      hint: 'Add hold: true, or leave it out.',
    })
  }
  const ttlMs =
    options.ttlMs === undefined ? undefined : checkNumber('ttlMs', options.ttlMs, { min: 0, above: true })
  const words = (text: unknown, limit: number) => String(text ?? '').slice(0, limit)
  return { hold, ttlMs, reason: words(options.reason, 200), by: words(options.by, 100) || 'operator' }
}
