import { parseInstant } from '../../stores/instant.ts'
import type { JournalFilter } from '../../stores/journal-store.ts'
import type { JournalRow } from '../../stores/journal-row.ts'
import { badRequest } from './admin-error.ts'
import type { JournalRowView } from './wire.ts'

const KEYS = ['circuit', 'from', 'to', 'type', 'limit'] as const
const STANDARD_LIMIT = 100
const MOST_ROWS = 1000

/**
 * Reads the query of `GET /admin/journal`. A time is a number of ms or an ISO date.
 *
 * @throws AdminError, 400, that says what would be right
 */
export function readQuery(query: Readonly<Record<string, unknown>>): JournalFilter {
  for (const [key, value] of Object.entries(query)) {
    if (!KEYS.some((known) => known === key)) {
      throw badRequest(`The query knows ${KEYS.join(', ')}; something else is given.`)
    }
    if (typeof value !== 'string') throw badRequest(`${key} is given twice.`)
  }
  const { circuit, from, to, type, limit } = query as Readonly<Record<string, string | undefined>>
  return {
    ...(circuit !== undefined && { circuit }),
    ...(from !== undefined && { since: readTime('from', from) }),
    ...(to !== undefined && { until: readTime('to', to) }),
    ...(type !== undefined && { type }),
    limit: limit === undefined ? STANDARD_LIMIT : readLimit(limit),
  }
}

function readTime(key: string, text: string): number {
  const time = /^\d{1,15}$/.test(text) ? Number(text) : parseInstant(text)
  if (Number.isFinite(time)) return time
  throw badRequest(`${key} must be a date such as 2026-11-30T03:00:00Z, or ms since 1970.`)
}

function readLimit(text: string): number {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MOST_ROWS) return limit
  throw badRequest(`limit must be a whole number from 1 to ${MOST_ROWS}.`)
}

export function rowView(row: JournalRow): JournalRowView {
  const { seq, at, circuit, type, from, to, event, why, by, reason, call, hash } = row
  return {
    ...{ seq, at, circuit, type, from, to, event, why },
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
    ...(call !== undefined && { call }),
    hash,
  }
}
