import type { CircuitState } from '../../machines/circuit-state.ts'
import type { CircuitView } from '../../src/gateway/admin/wire.ts'

const MEANING: Readonly<Record<CircuitState, string>> = {
  closed: 'calls flow',
  degraded: 'calls flow, near the threshold',
  open: 'calls refused',
  'half-open': 'a trial: probes pass',
}

/** Open or on trial, and yet it refuses nobody: it is only observed. */
export const wouldRefuse = ({ state, observed }: CircuitView): boolean =>
  observed === true && (state === 'open' || state === 'half-open')

/** What the state of a circuit means to a call. */
export function meaning(view: CircuitView): string {
  if (wouldRefuse(view)) return 'only observed: nothing is refused'
  return `${MEANING[view.state]}${view.observed === true ? ', only observed' : ''}`
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long something has been so: the two largest units. */
export function duration(ms: number): string {
  if (ms < SECOND) return '0 s'
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  if (ms < HOUR) return both(ms, MINUTE, 'min', SECOND, 's')
  return ms < DAY ? both(ms, HOUR, 'h', MINUTE, 'min') : both(ms, DAY, 'd', HOUR, 'h')
}

function both(ms: number, large: number, one: string, small: number, other: string): string {
  const rest = Math.floor((ms % large) / small)
  return `${Math.floor(ms / large)} ${one}${rest === 0 ? '' : ` ${rest} ${other}`}`
}

/** How long something still takes; never shorter than it is, and from ten minutes on without the seconds. */
export function timeLeft(ms: number): string {
  const unit = ms < 10 * MINUTE ? SECOND : MINUTE
  return duration(Math.ceil(ms / unit) * unit)
}

/** A duration of an answer. */
export function latency(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 100_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms)
}

const counts = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en')

/** A count where room is short: 12.3K. */
export const short = (n: number): string => counts.format(n)
export const exact = (n: number): string => whole.format(n)
export const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`
export const plural = (n: number, noun: string): string => `${exact(n)} ${noun}${n === 1 ? '' : 's'}`

const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

/** 14:03:07, where the reader is. */
export const clockTime = (at: number): string => time.format(at)
const dayOf = (at: number): string => day.format(at)

/** A time that may be on another day than `now`; a rough one has no seconds. */
export function moment(at: number, now: number, isRough = false): string {
  const words = isRough ? clockTime(at).slice(0, 5) : clockTime(at)
  return dayOf(at) === dayOf(now) ? words : `${dayOf(at)}, ${words}`
}

/** The whole board in one sentence. */
export function summary(views: readonly CircuitView[]): string {
  const imagined = views.filter(wouldRefuse).length
  const real = views.filter((view) => !wouldRefuse(view))
  const refusing = real.filter(({ state }) => state === 'open').length
  const trying = real.filter(({ state }) => state === 'half-open').length
  const all = views.length
  if (all === 0) return 'No circuit has been used yet.'
  const were = `were ${imagined === 1 ? 'it' : 'they'} not only observed`
  if (refusing + trying === 0 && imagined > 0)
    return `No circuit refuses a call; ${exact(imagined)} would, ${were}.`
  const watched = imagined === 0 ? '' : `; ${exact(imagined)} more would be, ${were}`
  const near = views.filter(({ state }) => state === 'degraded').length
  if (refusing + trying === 0) {
    const who = all === 1 ? 'The one circuit is' : `All ${exact(all)} circuits are`
    return `${who} closed: calls flow${near === 0 ? '' : `; ${exact(near)} near the threshold`}.`
  }
  const are = (n: number) => (n === 1 ? 'is' : 'are')
  if (refusing === 0)
    return `${exact(trying)} of ${plural(all, 'circuit')} ${are(trying)} on trial; none is open${watched}.`
  const trial = trying === 0 ? '' : `; ${exact(trying)} on trial`
  return `${exact(refusing)} of ${plural(all, 'circuit')} ${are(refusing)} open: calls refused${trial}${watched}.`
}
