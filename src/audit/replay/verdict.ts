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
  /** Policies that no other beats in both, time to detect and needless refusals. */
  readonly front: readonly string[]
}

const of = ({ numbers }: Judged, key: string) => numbers[key]?.mean ?? 0

/**
 * The best is the one that sends the fewest calls the wrong way: to a target that was down, or not to one that would have
 * answered. Both cost a caller the same: a wait or a backup for nothing.
 */
export function verdictOf(policies: readonly Judged[]): Verdict {
  const ranked = policies.toSorted((a, b) => of(a, 'misled') - of(b, 'misled'))
  const best = ranked[0]!
  const front = frontOf(policies)
  return {
    best: best.name,
    front: front.map(({ name }) => name),
    why: [
      `${best.name} sends the fewest calls the wrong way: ${shares(best)}.`,
      ...ranked.slice(1).map((other) => comparison(best, other)),
      frontInWords(policies, front),
    ],
  }
}

const shares = (policy: Judged) => {
  const [all, wasted] = [of(policy, 'misled'), of(policy, 'wasted')]
  return `${countInWords(all)}, of which ${countInWords(wasted)} to a dead target and ${countInWords(all - wasted)} refused although they would have been answered`
}

function comparison(best: Judged, other: Judged): string {
  const [detects, needs] = [of(other, 'detectMs') - of(best, 'detectMs'), of(other, 'misled')]
  const soon =
    Math.abs(detects) < 500
      ? 'notices outages as soon'
      : `notices outages ${lasting(Math.abs(detects))} ${detects > 0 ? 'later' : 'sooner'}`
  const factor = of(best, 'misled') === 0 ? Infinity : needs / of(best, 'misled')
  const times = Number.isFinite(factor) ? `${factor.toFixed(factor < 10 ? 1 : 0)} times as many` : 'some'
  const recovers = of(other, 'recoverMs') - of(best, 'recoverMs')
  const back =
    Math.abs(recovers) < 500
      ? ''
      : `, and is back ${lasting(Math.abs(recovers))} ${recovers > 0 ? 'later' : 'sooner'} after one`
  return `${other.name} ${soon}${back}, but sends ${times} the wrong way: ${shares(other)}.`
}

function frontInWords(policies: readonly Judged[], front: readonly Judged[]): string {
  const beaten = policies.filter((policy) => !front.includes(policy))
  const on = `${listed(front.map(({ name }) => name))} ${front.length === 1 ? 'is' : 'are'} on the front of time to detect against needless refusals`
  if (beaten.length === 0) return `${on}: none is beaten in both.`
  const by = beaten.map((policy) => {
    const winner = front.find((other) => beats(other, policy))!
    return `${policy.name} is beaten in both by ${winner.name}`
  })
  return `${on}; ${listed(by)}.`
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
