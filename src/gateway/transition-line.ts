import { causeInWords } from '../core/explain.ts'
import { inWords } from '../core/errors.ts'
import type { Transition } from '../core/transition.ts'

/**
 * A transition in one line: `12:00:05.120  primary  closed → open: 5 failures in a row; next try in 5 s`. With
 * `startedAt` the time counts from there: `+1.520 s`.
 */
export function transitionLine(
  { bucket, from, to, at, cause, openUntil }: Transition,
  startedAt?: number,
): string {
  const time =
    startedAt === undefined
      ? new Date(at).toISOString().slice(11, 23)
      : `+${((at - startedAt) / 1000).toFixed(3)} s`
  const next = to === 'open' && openUntil !== null ? `; next try ${inWords(openUntil - at)}` : ''
  return `${time}  ${bucket}  ${from} → ${to}: ${causeInWords(cause)}${next}`
}
