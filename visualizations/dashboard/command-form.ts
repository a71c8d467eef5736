import type { CircuitView, Order } from '../../src/gateway/admin/wire.ts'

/** What an operator can do to a circuit. */
export type Act = 'open' | 'close' | 'hold'

export const TTLS = [
  { minutes: 15, words: '15 minutes' },
  { minutes: 60, words: '1 hour' },
  { minutes: 240, words: '4 hours' },
  { minutes: 1440, words: '24 hours' },
] as const

const MINUTE_MS = 60_000
const MOST_MINUTES = 366 * 24 * 60

export interface Filled {
  readonly reason: string
  /** Which way a hold keeps the circuit. */
  readonly way: 'open' | 'closed'
  /** How long a hold lasts, in minutes; `ever` = until somebody ends it, `other` = as typed. */
  readonly lasts: string
  readonly otherMinutes: string
}

export interface Instruction {
  readonly verb: 'open' | 'close'
  readonly command: Order
}

/** What is sent; a text says what is still wrong. */
export function orderOf(act: Act, { reason, way, lasts, otherMinutes }: Filled): Instruction | string {
  const why = reason.trim()
  if (why === '') return 'Say why: those who come after you read it in the timeline.'
  if (act !== 'hold') return { verb: act, command: { reason: why } }
  const verb = way === 'open' ? 'open' : 'close'
  if (lasts === 'ever') return { verb, command: { reason: why, hold: true } }
  const minutes = Number(lasts === 'other' ? otherMinutes : lasts)
  if (!Number.isFinite(minutes) || minutes <= 0 || minutes > MOST_MINUTES)
    return 'Give the minutes as a number, 527040 (366 days) at most.'
  return { verb, command: { reason: why, hold: true, ttlMs: Math.round(minutes * MINUTE_MS) } }
}

const NOBODY = 'It is only observed: it says open, and no call is refused.'

/** What an act will come to, before it is done. */
export function consequence(act: Act, way: Filled['way'], { held, state, observed }: CircuitView): string {
  if (act === 'open')
    return state === 'open'
      ? 'The cooldown starts anew from now; it never ends earlier than it would have.'
      : `${observed ? NOBODY : 'Calls are refused for one cooldown.'} Then probes decide whether it closes.`
  if (act === 'close')
    return `${held ? 'The hold ends. ' : ''}Calls flow at once, and all counters start from zero. Failures may open it again.`
  return way === 'open'
    ? `${observed ? NOBODY : 'Calls are refused whatever happens.'} No timer but the end of the hold, and no success, ends it; then probes decide.`
    : 'Calls flow whatever happens. Failures are counted but never open it while the hold lasts.'
}
