import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { ruleInWords } from '../../../machines/sentences.ts'
import type { AuditedPolicy } from '../audited.ts'
import { openPeriod, openPeriods } from '../open-periods.ts'
import { aboutEvery, between, lasting, listed, percent, plural, sentence } from '../words.ts'
import { lostTo, lostToAny, neededProbes, refused } from './refused.ts'
import { callsAMinute, inQuietHours } from './traffic.ts'
import type { Traffic } from './traffic.ts'

/** A question that a reader has, and what the rules answer. */
export interface Answer {
  readonly question: string
  readonly answer: string
}

/** Everything that one policy means for those who live with it, computed from its numbers. */
export function consequences(audited: AuditedPolicy, traffic: Traffic): Answer[] {
  const { policy } = audited.rules
  return [
    { question: 'What opens the circuit?', answer: opening(policy) },
    { question: 'For how long are calls refused then?', answer: refusing(policy) },
    { question: 'And if the provider is still down after that?', answer: growing(policy) },
    { question: 'What ends it?', answer: closing(audited.rules.policy) },
    { question: 'What is the worst case until calls flow again?', answer: worstCase(audited) },
    { question: 'What does an outage cost?', answer: cost(audited, traffic) },
    { question: 'How often would it shut off a healthy provider?', answer: mistaken(policy, traffic) },
    { question: 'What is not held against a target?', answer: forgiving(policy) },
    ...(audited.rules.observe
      ? [
          {
            question: 'What is refused?',
            answer: 'Nothing: the circuit is only observed. It counts, it reports, every call passes.',
          },
        ]
      : []),
  ]
}

function opening(policy: BreakerPolicy): string {
  const own = policy.rules
    .filter((rule) => !('threshold' in rule && rule.threshold === Infinity))
    .map(ruleInWords)
  const kinds = Object.entries(policy.kinds).flatMap(([kind, { immediateOpen, threshold }]) => {
    if (immediateOpen === true) return [`one single failure of the kind ${kind}`]
    return threshold === undefined
      ? []
      : [`${plural(threshold, 'failure')} of the kind ${kind} without a success between`]
  })
  const all = [...own, ...kinds]
  if (all.length === 0) return 'Nothing but an operator.'
  const degraded =
    policy.degradedAt === null
      ? ''
      : ` From ${Math.round(policy.degradedAt * 100)} % of that on it is reported as degraded, and nothing is refused.`
  return `${sentence(all.join('; or '))}.${all.length > 1 ? ' Each of these alone is enough.' : ''}${degraded}`
}

function refusing(policy: BreakerPolicy): string {
  const first = openPeriod(policy, 0)
  const byKind = Object.entries(policy.kinds).flatMap(([kind, { cooldownMs }]) =>
    cooldownMs === undefined ? [] : [`for ${kind} ${between(openPeriod(policy, 0, kind))}`],
  )
  const chance =
    first.leastMs === first.mostMs
      ? ''
      : ' How long exactly is drawn by chance each time, so that many processes do not come back at the same moment.'
  const told =
    policy.maxRetryAfterMs === 0
      ? ' A wait that the provider names is ignored.'
      : ` If the provider names a longer wait (Retry-After), that long instead; a wait of more than ${lasting(policy.maxRetryAfterMs)} is cut to that. An answer that comes late may still lengthen an open period, to ${lasting(policy.maxRetryAfterMs)} after that answer.`
  const kinds =
    byKind.length === 0 ? '' : ` Longer where the last failure was of a special kind: ${byKind.join('; ')}.`
  return `${sentence(between(first))}.${chance}${kinds}${told} A refused call costs no request: it goes on to the next target, or fails at once and is told when to come back.`
}

function growing(policy: BreakerPolicy): string {
  const periods = openPeriods(policy)
  if (typeof policy.backoff === 'function')
    return 'The trial fails, and a function of your own code says how long the next open period lasts.'
  const last = Object.values(policy.kinds).some(({ cooldownMs }) => cooldownMs !== undefined)
    ? ' The failure that ends a trial decides: after an opening for a special kind, a trial that fails for another reason is followed by the usual times, which may be shorter.'
    : ''
  if (periods.length === 1)
    return `The trial fails, and calls are refused again for ${between(periods[0]!)}. This time never grows.${last}`
  const told = periods.slice(1).map(between)
  const end = policy.backoff?.maxMs === Infinity ? 'and so on, without an upper end' : 'and no longer'
  return `The trial fails, and the next open periods are longer: ${told.join(', then ')}, ${end}.${last}`
}

function closing(policy: BreakerPolicy): string {
  const { halfOpenProbes, halfOpenConcurrency, halfOpenVerdict } = policy
  const needed = neededProbes(policy)
  const atATime =
    halfOpenProbes === 1 ? '' : `, ${halfOpenConcurrency === 1 ? 'one' : halfOpenConcurrency} at a time`
  const early =
    halfOpenVerdict === 'early' && halfOpenProbes > 1
      ? ' The trial ends as soon as its result is certain.'
      : ''
  return `When the time is over, ${halfOpenProbes === 1 ? 'the next call passes as a probe' : `the next ${plural(halfOpenProbes, 'call')} pass as probes${atATime}`}; all others are still refused. If ${needed === halfOpenProbes ? (needed === 1 ? 'it succeeds' : `all ${needed} succeed`) : `${needed} of them succeed`}, the circuit closes and every counter starts anew; otherwise it opens again.${early} An operator can close it at any time.`
}

function worstCase(audited: AuditedPolicy): string {
  const { policy } = audited.rules
  const { first, grownMs, openMs, isLate, trial, worstMs } = refused(audited)
  if (openMs === Infinity) return 'There is none: the open periods grow without an upper end.'
  if (trial.ms === Infinity)
    return `An open period lasts ${lasting(openMs)} at most; how long the trial takes has no limit.`
  const why = isLate
    ? `a request from before the opening is answered late, and its Retry-After lengthens the open period to ${lasting(openMs)}`
    : `the longest open period (${lasting(openMs)}) has to pass`
  const { rounds, probeMs } = trial
  const probes = `${rounds === 1 ? '' : `${rounds} × `}${lasting(probeMs)}`
  const attempts = Math.max(...audited.targets.map(({ maxRetries }) => maxRetries)) + 1
  const slow = attempts === 1 ? '' : `, each in ${plural(attempts, 'attempt')} and the waits between`
  const usual =
    grownMs + trial.ms < worstMs
      ? ` Without a Retry-After${policy.kinds['auth'] || policy.kinds['quota_exhausted'] ? ', without trouble with key or account' : ''} and with quick answers it is ${lasting(grownMs)} at most.`
      : ''
  return `${sentence(lasting(worstMs))}, counted from the moment the provider is well again: it recovers right after a failed trial, ${why}, and the trial takes as long as it may (${probes}${slow}). Counted from the first refusal, the length of the outage comes on top; the best case is ${lasting(first.leastMs)} and quick answers.${usual} What an operator holds open has no end of its own, unless one was given; and if nobody calls, it takes until somebody does.`
}

function cost(audited: AuditedPolicy, { said }: Traffic): string {
  const { policy } = audited.rules
  const { least, most } = lostToAny(policy, said)
  const before =
    least === Infinity
      ? 'No number of failed calls opens it by itself.'
      : most === Infinity
        ? `At ${callsAMinute(said ?? 0)} it does not open.`
        : most === undefined
          ? `${least} failed calls at least until it opens; how many at most depends on the traffic (--calls-per-minute).`
          : `About ${most <= least ? plural(most, 'failed call') : `${least} to ${most} failed calls`} until it opens${policy.rules.length > 1 ? ` (${eachRule(policy, said)})` : ''}.`
  const { leastMs, mostMs } = openPeriods(policy).at(-1)!
  const mean = Math.max(1, (leastMs + mostMs) / 2)
  const perHour = Math.floor(3_600_000 / mean)
  const trials =
    perHour > 3600
      ? 'more than one trial a second'
      : `about ${plural(perHour, 'trial')} an hour (one every ${lasting(mean)}, the middle of the longest open periods)`
  const probes = plural(policy.halfOpenProbes, 'probe')
  return `${before} Then only probes reach the provider: ${trials} while it stays down, of ${policy.halfOpenProbes === 1 ? 'one probe each' : `up to ${probes} each`}. A probe is the call of a user; when it fails it goes on to the next target.`
}

/** What each rule alone would need. */
const eachRule = ({ rules }: BreakerPolicy, said: number | undefined) =>
  listed(
    rules.flatMap((rule) => {
      const { least, most } = lostTo(rule, said)
      if (least === Infinity) return []
      const name = 'windowMs' in rule ? `the rule over ${lasting(rule.windowMs)}` : 'the count'
      if (most === Infinity) return [`${name} never, with so few calls`]
      return [`${name} from ${least} on`]
    }),
    'and',
  )

function mistaken(
  policy: BreakerPolicy,
  { perMinute, isAssumed, failing, mistakes: { perDay, share }, quiet }: Traffic,
): string {
  const known = policy.rules.some(({ kind }) => kind === 'latency' || kind === 'custom')
    ? ' Rules over latency, or in code, are not in this number.'
    : ''
  const so = isAssumed ? ', which is assumed: nobody has said how many there are' : ''
  const long = share === 0 ? '' : `, and refuses ${lasting(share * 86_400_000)} of calls a day`
  return `${sentence(aboutEvery(perDay))}${share * 86_400_000 < 1000 ? '' : long}: all its rules together, where ${percent(failing)} of the calls fail independently of each other, at ${callsAMinute(perMinute)}${so}${inQuietHours(quiet)}.${known}`
}

function forgiving(policy: BreakerPolicy): string {
  const counts = Object.keys(policy.kinds)
  return `Wrong requests, prompts that are too long, refused content, answers in another format than asked for, callers who hang up. An answer that is empty, cannot be read or breaks off is held against it. The table of failures says it for each kind${counts.length === 0 ? '' : `; ${counts.length === 1 ? `\`${counts[0]}\` has a rule of its own` : `${counts.map((kind) => `\`${kind}\``).join(', ')} have rules of their own`} here`}.`
}
