import { InvalidArgumentError } from 'commander'
import { systemClock } from '../core/clock.ts'
import { parseInstant } from '../stores/instant.ts'
import { parseDuration } from './duration.ts'

/** A date and time, UTC without a zone, or how long ago, in ms of the wall clock. */
export function parseTime(text: string): number {
  const ago = parseDuration(text)
  const at = ago === undefined ? parseInstant(text) : systemClock.wall() - ago
  if (!Number.isNaN(at)) return at
  throw new InvalidArgumentError(
    'A time is a date and time such as 2026-03-01T12:00Z (without a zone it is UTC), or how long ago: 90s, 15m, 24h, 7d.',
  )
}
