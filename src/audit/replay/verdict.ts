import { lasting, listed } from '../words.ts'
import { countInWords } from './number-words.ts'
import type { Spread } from './numbers.ts'

/** A policy as far as a verdict looks at it. */
export interface Judged {
  readonly name: string
  readonly numbers: Readonly<Record<string, Spread>>
}

/** Which policy serves best, and why. */
export interface Verdict {
  readonly best: string
  /** Sentences. */
  readonly why: readonly string[]
  /** In what others are better than the best, in sentences; empty = in nothing. */
  readonly price: readonly string[]
  /** Policies that no other beats in both, time to detect and needless refusals. */
  readonly front: readonly string[]
}

const of = ({ numbers }: Judged, key: string) => numbers[key]?.mean ?? 0

/**
 * The best is the one with the fewest calls that went wrong: sent to a target that was down, or not sent to one that would
 * have answered. Both cost a caller the same: a wait or a backup for nothing.
 */
export function verdictOf(policies: readonly Judged[]): Verdict {
  const ranked = policies.toSorted((a, b) => of(a, 'misled') - of(b, 'misled'))
  const best = ranked[0]!
  const front = frontOf(policies)
  return {
    best: best.name,
    front: front.map(({ name }) => name),
    why: [
      `Measured by the calls that went wrong, failed in an outage or refused in vain, ${fewestInWords(best, ranked)}: ${shares(best)}.`,
      ...ranked.slice(1).map((other) => comparison(best, other)),
      frontInWords(policies, front),
    ],
    price: priceOf(best, ranked.slice(1)),
  }
}

const asMany = (one: Judged, other: Judged) =>
  countInWords(of(one, 'misled')) === countInWords(of(other, 'misled'))

function fewestInWords(best: Judged, ranked: readonly Judged[]): string {
  const tied = ranked.filter((other) => asMany(best, other)).map(({ name }) => name)
  return tied.length === 1
    ? `${best.name} has the fewest`
    : `${listed(tied)} have equally many${tied.length < ranked.length ? ', and the fewest' : ''}; of ${best.name}`
}

const shares = (policy: Judged) => {
  const [all, wasted] = [of(policy, 'misled'), of(policy, 'wasted')]
  return `${countInWords(all)}, of which ${countInWords(wasted)} were sent in an outage and failed, and ${countInWords(all - wasted)} were refused although they would have been answered`
}

/** What the best is worse in than others. */
function priceOf(best: Judged, others: readonly Judged[]): string[] {
  const inTime = (['detectMs', 'recoverMs'] as const).flatMap((key) => {
    const sooner = others.filter((other) => of(other, key) < of(best, key) && !asSoon(best, other, key))
    if (sooner.length === 0) return []
    const what = key === 'detectMs' ? 'notices an outage' : 'lets calls flow again, once an outage is over,'
    const theirs = sooner.map((other) => `${other.name} ${lasting(of(other, key))}`)
    return [`${what} after ${lasting(of(best, key))} (${theirs.join(', ')})`]
  })
  const refused = of(best, 'refusedHealthy')
  const fewer = others.filter((other) => of(other, 'refusedHealthy') < refused)
  const most = fewer.length === others.length ? 'the most of all' : 'more than others'
  const inCalls =
    fewer.length === 0 || refused === 0
      ? []
      : [
          `refuses ${countInWords(refused)} calls while the target is healthy, ${most} (${fewer.map((other) => `${other.name} ${countInWords(of(other, 'refusedHealthy'))}`).join(', ')})`,
        ]
  const all = [...inTime, ...inCalls]
  return all.length === 0 ? [] : [`What that costs: ${best.name} ${all.join('; it ')}.`]
}

/** They differ by less than luck alone makes of each of them, or by next to nothing. */
function asSoon(one: Judged, other: Judged, key: 'detectMs' | 'recoverMs'): boolean {
  const [a, b] = [one.numbers[key], other.numbers[key]]
  if (a === undefined || b === undefined) return true
  return Math.abs(a.mean - b.mean) < 500 || (isWithin(a.mean, b) && isWithin(b.mean, a))
}

const isWithin = (value: number, { low, high }: Spread) => low <= value && value <= high

function comparison(best: Judged, other: Judged): string {
  const detects = of(other, 'detectMs') - of(best, 'detectMs')
  const soon = asSoon(best, other, 'detectMs')
    ? 'notices outages about as soon'
    : `notices outages ${lasting(Math.abs(detects))} ${detects > 0 ? 'later' : 'sooner'}`
  const recovers = of(other, 'recoverMs') - of(best, 'recoverMs')
  const back = asSoon(best, other, 'recoverMs')
    ? ''
    : `, and is back ${lasting(Math.abs(recovers))} ${recovers > 0 ? 'later' : 'sooner'} after one`
  return `${other.name} ${soon}${back}, ${asMany(best, other) ? 'and as many' : `but ${times(best, other)}`} calls go wrong: ${shares(other)}.`
}

function times(best: Judged, other: Judged): string {
  const factor = of(other, 'misled') / of(best, 'misled')
  if (!Number.isFinite(factor)) return 'some'
  return factor < 1.05 ? 'a few more' : `${factor.toFixed(factor < 10 ? 1 : 0)} times as many`
}

function frontInWords(policies: readonly Judged[], front: readonly Judged[]): string {
  const both = 'In time to detect and needless refusals together'
  const beaten = policies.filter((policy) => !front.includes(policy))
  if (beaten.length === 0)
    return `${both} no policy beats another: whichever is sooner also refuses more without need.`
  const by = beaten.map((policy) => {
    const winner = front.find((other) => beats(other, policy))!
    const soon = asSoon(winner, policy, 'detectMs') ? 'is about as soon' : 'is sooner'
    const few = of(winner, 'needless') < of(policy, 'needless') ? 'fewer' : 'as few'
    return `${policy.name} is beaten by ${winner.name}, which ${soon} and refuses ${few} without need`
  })
  return `${both} ${listed(front.map(({ name }) => name))} ${front.length === 1 ? 'is' : 'are'} beaten by none; ${by.join('; ')}.`
}

/** Policies that no other beats: as soon to detect and as few needless refusals, and better in one of them. */
export function frontOf<P extends Judged>(policies: readonly P[]): P[] {
  return policies.filter((policy) => !policies.some((other) => other !== policy && beats(other, policy)))
}

function beats(one: Judged, other: Judged): boolean {
  const [soon, few] = [
    of(one, 'detectMs') - of(other, 'detectMs'),
    of(one, 'needless') - of(other, 'needless'),
  ]
  return soon <= 0 && few <= 0 && (soon < 0 || few < 0)
}
