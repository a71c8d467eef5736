import type { CircuitView } from '../gateway/admin/wire.ts'
import { cleanWords } from '../gateway/admin/words.ts'
import { durationInWords } from './duration.ts'
import type { Paint } from './paint.ts'

/** Names of models come from clients: nothing in them may move the cursor of whoever is on call. */
export const shown = (text: string): string => cleanWords(text, 300)

/** What is told of a circuit that would refuse calls, were it not only observed. */
export const ONLY_OBSERVED = 'only observed: nothing is refused'

/** Open or on trial, and yet it refuses nobody: it is only observed. */
export const wouldRefuse = ({ state, observed }: CircuitView): boolean =>
  observed === true && (state === 'open' || state === 'half-open')

const held = (view: CircuitView) => (view.held ? `${view.state}, held` : view.state)

/** The state in a few words. */
export const stateInWords = (view: CircuitView): string =>
  view.observed === true ? `${held(view)} (observed)` : held(view)

/** The same as the end of a sentence: `is open`. */
export const standingInWords = (view: CircuitView): string =>
  `${wouldRefuse(view) ? 'would be' : 'is'} ${held(view)}`

/** The more urgent, the louder. */
export function paintState(paint: Paint, view: CircuitView, text: string): string {
  const { state, held } = view
  if (wouldRefuse(view)) return paint('yellow', text)
  if (state === 'open') return paint(['bold', 'red'], text)
  if (state === 'half-open' || state === 'degraded') return paint('yellow', text)
  return held ? paint('magenta', text) : paint('green', text)
}

/** What ends the state, in a few words; '' where nothing needs to. */
export function nextInWords({ state, held, hold, openUntil, probes }: CircuitView, now: number): string {
  if (held) {
    if (hold?.until === undefined || hold.until === null) return 'until ended by hand'
    return `hold ends in ${durationInWords(Math.max(0, hold.until - now))}`
  }
  if (state === 'open') {
    const left = (openUntil ?? now) - now
    return left > 0 ? `trial in ${durationInWords(left)}` : 'trial at the next call'
  }
  if (state !== 'half-open') return ''
  return probes.inFlight > 0 ? `${probes.inFlight} under trial` : 'waits for a probe'
}

/** Kinds and how often, the most frequent first. */
export function failuresInWords(failures: CircuitView['failures'], most = Infinity): string {
  const kinds = Object.entries(failures).sort(([, a], [, b]) => b - a)
  const told = kinds.slice(0, most).map(([kind, n]) => `${shown(kind)} ${n}`)
  return kinds.length > most ? `${told.join(', ')}, …` : told.join(', ')
}

/** Why it is in its state, or who holds it and why. */
export function whyInWords({ hold, why }: CircuitView): string {
  if (hold === undefined) return shown(why)
  return `held by ${shown(hold.by)}${hold.reason === '' ? '' : `: "${shown(hold.reason)}"`}`
}

/** `03:12:05` of UTC, as the logs say it. */
export const timeInWords = (at: number): string => new Date(at).toISOString().slice(11, 19)

/** `2026-11-30 03:12:05 UTC` */
export const dateInWords = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
