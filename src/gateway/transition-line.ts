import { causeInWords } from '../core/explain.ts'
import { inWords } from '../core/errors.ts'
import type { HeldCircuit, Transition } from '../core/transition.ts'
import { cleanWords } from './admin/words.ts'

/**
 * A transition in one line: `12:00:05.120  primary  closed → open: 5 failures in a row; next try in 5 s`. With
 * `startedAt` the time counts from there: `+1.520 s`.
 */
export function transitionLine(
  { bucket, from, to, at, cause, openUntil, observed }: Transition,
  startedAt?: number,
): string {
  const time =
    startedAt === undefined
      ? new Date(at).toISOString().slice(11, 23)
      : `+${((at - startedAt) / 1000).toFixed(3)} s`
  const next = to === 'open' && openUntil !== null && !observed ? `; next try ${inWords(openUntil - at)}` : ''
  // a client may have chosen the model in it, and a terminal obeys what it is shown
  const circuit = cleanWords(bucket, 200)
  return `${time}  ${circuit}  ${from} → ${to}${markOf(observed)}: ${causeInWords(cause)}${next}`
}

const markOf = (observed: true | undefined) => (observed ? ' (observed)' : '')

/** A hold in one line: `12:00:05.120  primary  held closed by ada until 13:00:05 ("migration")`. */
export function holdLine({ bucket, state, at, hold, observed }: HeldCircuit): string {
  const timeOf = (ms: number) => new Date(ms).toISOString().slice(11, 23)
  const until = hold.until === null ? 'until somebody ends it' : `until ${timeOf(hold.until)}`
  const reason = hold.reason === '' ? '' : ` ("${cleanWords(hold.reason, 200)}")`
  return `${timeOf(at)}  ${cleanWords(bucket, 200)}  held ${state}${markOf(observed)} by ${cleanWords(hold.by, 100)} ${until}${reason}`
}
