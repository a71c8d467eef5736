import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { ruleInWords } from '../../../machines/sentences.ts'
import type { AuditedPolicy } from '../audited.ts'
import { longestVisitMs } from '../longest-visit.ts'
import { longestOpenMs, openPeriod, openPeriods } from '../open-periods.ts'
import type { OpenPeriod } from '../open-periods.ts'
import { lasting, plural, sentence } from '../words.ts'

/** A question that a reader has, and what the rules answer. */
export interface Answer {
  readonly question: string
  readonly answer: string
}

/** `30 s`, or `between 15 s and 30 s`. */
export function between({ leastMs, mostMs }: OpenPeriod): string {
  return leastMs === mostMs ? lasting(mostMs) : `between ${lasting(leastMs)} and ${lasting(mostMs)}`
}

/** Probes that must succeed. */
export const neededProbes = ({ halfOpenProbes, halfOpenSuccessRatio }: BreakerPolicy): number =>
  Math.ceil(halfOpenSuccessRatio * halfOpenProbes - 1e-9)

/** How long a trial may take once calls come in, with every probe as slow as it may be. */
export function longestTrialMs({ rules: { policy }, targets }: AuditedPolicy): number {
  const { halfOpenProbes, halfOpenConcurrency, halfOpenVerdict } = policy
  const probes = halfOpenVerdict === 'early' ? neededProbes(policy) : halfOpenProbes
  return Math.ceil(probes / halfOpenConcurrency) * Math.max(...targets.map(longestVisitMs))
}

/** Everything that one policy means for those who live with it, computed from its numbers. */
export function consequences(audited: AuditedPolicy): Answer[] {
  const { policy } = audited.rules
  return [
    { question: 'What opens the circuit?', answer: opening(policy) },
    { question: 'For how long are calls refused then?', answer: refusing(policy) },
    { question: 'And if the provider is still down after that?', answer: growing(policy) },
    { question: 'What ends it?', answer: closing(audited) },
    { question: 'What is the worst case until calls flow again?', answer: worstCase(audited) },
    { question: 'What does an outage cost?', answer: cost(audited) },
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
    if (immediateOpen === true) return [`one single ${kind}`]
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
      : ' Where between is drawn by chance, so that many processes do not come back at the same moment.'
  const told =
    policy.maxRetryAfterMs === 0
      ? ' A wait that the provider names is ignored.'
      : ` If the provider names a longer wait (Retry-After), that long instead, but ${lasting(policy.maxRetryAfterMs)} at most.`
  const kinds = byKind.length === 0 ? '' : ` When such a failure decides: ${byKind.join('; ')}.`
  return `${sentence(between(first))}.${chance}${kinds}${told} A refused call costs no request: it goes on to the next target, or fails at once and is told when to come back.`
}

function growing(policy: BreakerPolicy): string {
  const periods = openPeriods(policy)
  if (typeof policy.backoff === 'function')
    return 'The trial fails, and a function of the user’s own says how long the next open period lasts.'
  if (periods.length === 1)
    return `The trial fails, and calls are refused again for ${between(periods[0]!)}. This time never grows.`
  const told = periods.slice(1).map((period) => `${lasting(period.mostMs)}`)
  const end = policy.backoff?.maxMs === Infinity ? 'and so on, without an upper end' : 'and no more'
  return `The trial fails, and the next open periods are longer: ${told.join(', ')} at most, ${end}.`
}

function closing({ rules: { policy } }: AuditedPolicy): string {
  const { halfOpenProbes, halfOpenConcurrency, halfOpenVerdict } = policy
  const needed = neededProbes(policy)
  const atATime =
    halfOpenProbes === 1 ? '' : `, ${halfOpenConcurrency === 1 ? 'one' : halfOpenConcurrency} at a time`
  const early =
    halfOpenVerdict === 'early' && halfOpenProbes > 1 ? ' The verdict falls as soon as it is certain.' : ''
  return `When the time is over, ${halfOpenProbes === 1 ? 'the next call passes as a probe' : `the next ${plural(halfOpenProbes, 'call')} pass as probes${atATime}`}; all others are still refused. If ${needed === halfOpenProbes ? (needed === 1 ? 'it succeeds' : `all ${needed} succeed`) : `${needed} of them succeed`}, the circuit closes and every counter starts anew; else it opens again.${early} An operator can close it at any time.`
}

function worstCase(audited: AuditedPolicy): string {
  const { policy } = audited.rules
  const longest = longestOpenMs(policy)
  if (longest === Infinity) return 'There is none: the open periods grow without an upper end.'
  const trial = longestTrialMs(audited)
  const probes = policy.halfOpenVerdict === 'early' ? neededProbes(policy) : policy.halfOpenProbes
  const rounds = Math.ceil(probes / policy.halfOpenConcurrency)
  if (trial === Infinity)
    return `An open period lasts ${lasting(longest)} at most; how long the trial takes has no limit.`
  return `${sentence(lasting(longest + trial))}, counted from the moment the provider is well again: it recovers right after a failed trial, the longest open period (${lasting(longest)}) has to pass, and the trial takes as long as it may (${rounds === 1 ? '' : `${rounds} × `}${lasting(trial / rounds)}, retries included). An answer that streams for longer counts when it ends; and if nobody calls, it takes until somebody does.`
}

function cost(audited: AuditedPolicy): string {
  const { policy } = audited.rules
  const rule = policy.rules.find(({ kind }) => kind === 'consecutive')
  const before =
    rule?.kind === 'consecutive' && rule.threshold !== Infinity
      ? `About ${plural(rule.threshold, 'failed call')} until it opens. `
      : ''
  const grown = openPeriods(policy).at(-1)!
  const least = Math.max(1, (grown.leastMs + grown.mostMs) / 2)
  const perHour = Math.floor(3_600_000 / least)
  const trials = perHour > 3600 ? 'more than one trial a second' : `about ${plural(perHour, 'trial')} an hour`
  const probes = plural(policy.halfOpenProbes, 'probe')
  return `${before}Then only probes reach the provider: ${trials} while it stays down, of ${policy.halfOpenProbes === 1 ? 'one probe each' : `up to ${probes} each`}. A probe is the call of a user; when it fails it goes on to the next target.`
}

function forgiving(policy: BreakerPolicy): string {
  const counts = Object.keys(policy.kinds)
  return `Wrong requests, prompts that are too long, refused content, answers that break a schema, callers who hang up. The table of failures says it for each kind${counts.length === 0 ? '' : `; ${counts.length === 1 ? `\`${counts[0]}\` has a rule of its own` : `${counts.map((kind) => `\`${kind}\``).join(', ')} have rules of their own`} here`}.`
}
