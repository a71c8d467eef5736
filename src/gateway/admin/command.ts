import { didYouMean } from '../../core/validate.ts'
import { badRequest } from './admin-error.ts'
import type { Order } from './wire.ts'
import { cleanWords } from './words.ts'

const KEYS = ['reason', 'hold', 'ttlMs']
const MOST_REASON = 200
const LONGEST_HOLD_MS = 366 * 24 * 3_600_000

/**
 * Reads the body of a command; no body = nothing to add. The reason loses what a terminal would obey, and ends after 200
 * characters.
 *
 * @throws AdminError, 400, that says what would be right
 */
export function readOrder(body: unknown): Order {
  if (body === undefined || body === null) return {}
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw badRequest('The body must be a JSON object such as {"reason": "provider is down", "hold": true}.')
  }
  for (const key of Object.keys(body)) {
    if (KEYS.includes(key)) continue
    throw badRequest(`'${cleanWords(key, 50)}' is unknown in the body. ${didYouMean(key.slice(0, 50), KEYS)}`)
  }
  const { reason, hold, ttlMs } = body as Record<string, unknown>
  if (reason !== undefined && typeof reason !== 'string') throw badRequest('reason must be a text.')
  if (hold !== undefined && typeof hold !== 'boolean') throw badRequest('hold must be true or false.')
  if (ttlMs !== undefined && !isTtl(ttlMs)) {
    throw badRequest(`ttlMs must be a whole number of ms from 1 to ${LONGEST_HOLD_MS} (366 days).`)
  }
  if (ttlMs !== undefined && hold !== true) {
    throw badRequest('ttlMs says how long a hold lasts: add "hold": true, or leave it out.')
  }
  return {
    ...(reason !== undefined && { reason: cleanWords(reason, MOST_REASON) }),
    ...(hold !== undefined && { hold }),
    ...(ttlMs !== undefined && { ttlMs }),
  }
}

const isTtl = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) <= LONGEST_HOLD_MS
