import type { BreakerGuard } from './breaker-guards.ts'
import type { BreakerPolicy } from './breaker-policy.ts'
import type { ChainGuard } from './chain-guards.ts'
import type { KindPolicy } from './cooldown.ts'
import type { TrippingRule } from './tripping.ts'

const count = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`
const percent = (share: number) => `${Math.round(share * 1000) / 10} %`
function duration(ms: number): string {
  if (ms < 1000) return `${ms} ms`
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`
  return `${Math.round(ms / 6000) / 10} min`
}

/** A tripping rule with its numbers, as a product owner would say it. */
export function ruleInWords(rule: TrippingRule): string {
  switch (rule.kind) {
    case 'consecutive':
      return rule.threshold === Infinity
        ? 'never by failures in a row'
        : `${count(rule.threshold, 'failure')} in a row`
    case 'leaky':
      return `a failure count of ${rule.threshold} (a failure adds 1, a success takes 1 off, never below 0)`
    case 'rolling':
      return `${percent(rule.failureRatio)} of at least ${count(Math.max(1, rule.minCalls), 'call')} failed within ${duration(rule.windowMs)}`
    case 'latency':
      return `${percent(rule.slowRatio)} of at least ${count(Math.max(1, rule.minCalls), 'call')} took longer than ${duration(rule.slowMs)} within ${duration(rule.windowMs)}`
    case 'custom':
      return "the user's own policy says so"
  }
}

function kindInWords([kind, { immediateOpen, threshold }]: [string, KindPolicy]): string[] {
  if (immediateOpen === true) return [`one ${kind}`]
  return threshold === undefined ? [] : [`${threshold} × ${kind}`]
}

/** What opens the circuit: every rule, and every kind that opens it by itself. */
export const tripsWhen = ({ rules, kinds }: BreakerPolicy): string =>
  [...rules.map(ruleInWords), ...Object.entries(kinds).flatMap(kindInWords)].join(', or ')

const share = (degradedAt: number, factor: number) => `${percent(degradedAt * factor)} of the threshold`

function degradation({ degradedAt }: BreakerPolicy) {
  if (degradedAt === null) {
    const never = 'never: degradation is off'
    return { outcomeDegrades: never, readingRecovered: never, evidenceIsGone: never }
  }
  const below = `below ${share(degradedAt, 0.5)}`
  return {
    outcomeDegrades: `of this generation, does not trip, and has reached ${share(degradedAt, 1)}`,
    readingRecovered: `of this generation, and ${below}`,
    evidenceIsGone: `quiet for long enough, or ${below}`,
  }
}

/** What each guard of the breaker asks, with the numbers of the policy filled in. */
export function breakerSentences(policy: BreakerPolicy): Record<BreakerGuard, string> {
  const { halfOpenProbes, halfOpenConcurrency, halfOpenSuccessRatio, halfOpenVerdict, maxRetryAfterMs } =
    policy
  const early = halfOpenVerdict === 'early' ? ', as soon as that is certain' : ''
  const needed = `${Math.ceil(halfOpenSuccessRatio * halfOpenProbes - 1e-9)} of ${count(halfOpenProbes, 'probe')}`
  return {
    outcomeTrips: `of this generation, not held closed, and a rule is met: ${tripsWhen(policy)}`,
    ...degradation(policy),
    retryAfterLengthens: `its Retry-After, ${duration(maxRetryAfterMs)} at most, ends later than the cooldown`,
    slotIsFree: `fewer than ${count(halfOpenConcurrency, 'probe')} under way, and fewer than ${halfOpenProbes} under way or reported`,
    probeIsKnown: 'a probe of this trial that has not reported yet',
    ratioMet: `${needed} succeeded${early}`,
    ratioMissed: `${needed} can no longer succeed${early}`,
    asksHold: 'the operator asks for a hold',
    nobodyHolds: 'nobody holds the circuit',
    wasHeldClosed: 'it was held closed',
    wasHeldOpen: 'it was held open',
    wasCooling: 'it was open',
    wasHalfOpen: 'it was half-open',
  }
}

/** What each guard of the chain asks. */
export const chainSentences: Record<ChainGuard, string> = {
  worthWaiting: 'every circuit refuses, nobody was asked, and one may return within the time allowed',
  lastResortLeft:
    'every circuit refuses, nobody was asked, a last resort is wanted, and one returns by itself',
  nobodyLeft: 'no target is left',
  isNext: 'it is the next target',
  mayRetry: 'worth a retry, admitted by its circuit, retries and budget left, and the wait fits',
  hasListOfItsOwn: 'a list for such requests names a target not yet visited',
  goesOn: 'another target may do better',
  permitIsCurrent: 'the circuit has not moved meanwhile',
}

/** What each guard of the supervisor asks. */
export const supervisorSentences: Record<'bucketIsKnown' | 'breakerIsKnown', string> = {
  bucketIsKnown: 'the bucket has a breaker',
  breakerIsKnown: 'it was one of our breakers',
}
