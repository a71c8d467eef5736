import type { CircuitView } from '../gateway/admin/wire.ts'
import { cleanWords } from '../gateway/admin/words.ts'
import { durationInWords } from './duration.ts'
import type { Paint } from './paint.ts'

/** Names of models come from clients: nothing in them may move the cursor of whoever is on call. */
export const shown = (text: string): string => cleanWords(text, 300)

/** The state in one or two words. */
export const stateInWords = ({ state, held }: CircuitView): string => (held ? `${state}, held` : state)

/** The more urgent, the louder. */
export function paintState(paint: Paint, { state, held }: CircuitView, text: string): string {
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
