import { isDeepStrictEqual } from 'node:util'
import { resolveBreaker } from '../../core/breaker-options.ts'
import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import type { TrippingRule } from '../../../machines/tripping.ts'
import { between, lasting, percent, plural } from '../words.ts'
import { openPeriod } from '../open-periods.ts'
import { neededProbes } from './refused.ts'

type Row = readonly [option: string, value: string, meaning: string, isDefault: boolean]

const standard = resolveBreaker()

function ruleValue(rule: TrippingRule): string {
  switch (rule.kind) {
    case 'rolling':
      return `rolling: ${percent(rule.failureRatio)} of ${rule.minCalls} or more calls in ${lasting(rule.windowMs)}`
    case 'latency':
      return `latency: ${percent(rule.slowRatio)} of ${rule.minCalls} or more calls slower than ${lasting(rule.slowMs)} in ${lasting(rule.windowMs)}`
    case 'custom':
      return 'code of your own'
    default:
      return `${rule.kind}: ${rule.threshold === Infinity ? 'never' : rule.threshold}`
  }
}

function ruleMeaning(rule: TrippingRule): string {
  switch (rule.kind) {
    case 'rolling':
      return `With fewer than ${plural(rule.minCalls, 'call')} in that time the rule is silent. With a lower share it opens sooner, and more often by mistake.`
    case 'latency':
      return `A call slower than ${lasting(rule.slowMs)} counts against the target even if it succeeds.`
    case 'leaky':
      return 'A failure adds 1, a success takes 1 off, and the count never goes below 0: however many calls went well before, so many failures in a row are enough.'
    case 'consecutive':
      return rule.threshold === Infinity
        ? 'Failures in a row never open it.'
        : 'One success in between, and counting starts anew.'
    case 'custom':
      return 'Outside of this report: nobody can read here what it decides.'
  }
}

function backoffRow({ policy }: ResolvedBreaker): Row {
  const { backoff } = policy
  if (backoff === null) return ['cooldownBackoff', 'none', 'Every open period is as long as the first.', true]
  if (typeof backoff === 'function')
    return ['cooldownBackoff', 'code of your own', 'Outside of this report.', false]
  const jitter = {
    full: 'anything from nothing to all of it',
    equal: 'between half and all of it',
    none: 'exactly that',
  }[backoff.jitter]
  return [
    'cooldownBackoff',
    `× ${backoff.multiplier} to ${backoff.maxMs === Infinity ? 'no end' : lasting(backoff.maxMs)}, jitter ${backoff.jitter}${backoff.minMs > 0 ? `, at least ${lasting(backoff.minMs)}` : ''}`,
    `Each failed trial in a row makes the next open period longer; chance takes ${jitter}.`,
    false,
  ]
}

function rows(rules: ResolvedBreaker): Row[] {
  const { policy, probeLeaseMs, leaseIsDefault, isolateByModel, observe } = rules
  const same = (key: keyof typeof policy) => isDeepStrictEqual(policy[key], standard.policy[key])
  const tripping = policy.rules.map((rule, i): Row => [
    i === 0 ? 'tripping' : '… or',
    ruleValue(rule),
    ruleMeaning(rule),
    same('rules'),
  ])
  const kinds = Object.entries(policy.kinds).map(([kind, { threshold, immediateOpen, cooldownMs }]): Row => [
    `kinds.${kind}`,
    [
      immediateOpen === true ? 'opens at once' : threshold === undefined ? '' : `opens after ${threshold}`,
      cooldownMs === undefined ? '' : `open for ${between(openPeriod(policy, 0, kind))}`,
    ]
      .filter((text) => text !== '')
      .join(', '),
    'On top of the rules above, never instead of them.',
    false,
  ])
  const first = openPeriod(policy, 0)
  const { halfOpenProbes, halfOpenConcurrency, halfOpenVerdict, maxRetryAfterMs, degradedAt } = policy
  return [
    ...tripping,
    ...kinds,
    [
      'cooldownMs',
      lasting(policy.cooldownMs),
      `How long calls are refused before somebody tries again${first.leastMs === first.mostMs ? '' : `: by chance ${between(first)}`}.`,
      same('cooldownMs'),
    ],
    backoffRow(rules),
    [
      'maxRetryAfterMs',
      lasting(maxRetryAfterMs),
      maxRetryAfterMs === 0
        ? 'A wait that the provider names is ignored.'
        : 'A wait that the provider names is followed up to this; a longer one is cut to it.',
      same('maxRetryAfterMs'),
    ],
    [
      'halfOpenProbes',
      String(halfOpenProbes),
      halfOpenProbes === 1
        ? 'One call of a real user finds out whether the target is back.'
        : `${halfOpenProbes} calls of real users find out whether the target is back.`,
      same('halfOpenProbes'),
    ],
    [
      'halfOpenConcurrency',
      String(halfOpenConcurrency),
      halfOpenConcurrency === 1
        ? 'One after the other: one user at a time waits for it.'
        : `${halfOpenConcurrency} of them at a time, at most, wait for it.`,
      halfOpenConcurrency === halfOpenProbes,
    ],
    [
      'halfOpenSuccessRatio',
      percent(policy.halfOpenSuccessRatio),
      `${neededProbes(policy)} of ${halfOpenProbes} must succeed.`,
      same('halfOpenSuccessRatio'),
    ],
    [
      'halfOpenVerdict',
      halfOpenVerdict,
      halfOpenVerdict === 'early'
        ? 'The trial ends as soon as its result is certain.'
        : 'The trial waits for every probe.',
      same('halfOpenVerdict'),
    ],
    [
      'probeLeaseMs',
      lasting(probeLeaseMs),
      'A probe that is silent for longer counts as failed, so that a lost one cannot block the trial. Each attempt of a probe, and each part of an answer that streams, begins this time anew: with its retries a probe may take longer.',
      leaseIsDefault,
    ],
    [
      'degradation',
      degradedAt === null ? 'off' : `from ${percent(degradedAt)}`,
      degradedAt === null
        ? 'There is no warning before it opens.'
        : 'From this share of the threshold on it is reported, and load balancing prefers others.',
      degradedAt === null,
    ],
    [
      'isolateByModel',
      isolateByModel ? 'yes' : 'no',
      isolateByModel ? 'Every model has a circuit of its own.' : 'All models of a target share its circuit.',
      !isolateByModel,
    ],
    [
      'mode',
      observe ? 'observe' : 'enforce',
      observe ? 'Nothing is refused: it only counts and reports.' : 'An open circuit refuses.',
      !observe,
    ],
  ]
}

/** Every option of a breaker, its value, and what it means in consequence. */
export function optionTable(rules: ResolvedBreaker): { head: readonly string[]; rows: string[][] } {
  return {
    head: ['Option', 'Value', 'What it means'],
    rows: rows(rules).map(([option, value, meaning, isDefault]) => [
      `\`${option}\``,
      isDefault ? `${value} (default)` : `**${value}**`,
      meaning,
    ]),
  }
}
