import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { KindPolicy } from '../../../machines/cooldown.ts'
import { ruleInWords } from '../../../machines/sentences.ts'
import type { TrippingRule } from '../../../machines/tripping.ts'
import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import { kindInWords } from '../incident/kind-in-words.ts'
import { neededOf } from '../mistakes.ts'
import { openPeriods } from '../open-periods.ts'
import type { OpenPeriod } from '../open-periods.ts'
import { lasting, percent, plural } from '../words.ts'

const isSame = (a: unknown, b: unknown) => textOf(a) === textOf(b)
const textOf = (value: unknown) =>
  JSON.stringify(value, (_key, each: unknown) => (each === Infinity ? '∞' : each))

/** What the rules of B do where those of A do something else, in general: one sentence for each number that differs. */
export function whatChanges(a: ResolvedBreaker, b: ResolvedBreaker): string[] {
  const [was, is] = [a.policy, b.policy]
  return [
    ...observing(a, b),
    ...rulesChanged(was, is),
    ...kindsChanged(was, is),
    ...openPeriodsChanged(was, is),
    ...waitsChanged(was, is),
    ...trialsChanged(was, is),
    ...(a.probeLeaseMs === b.probeLeaseMs
      ? []
      : [
          `A probe may be silent for ${lasting(b.probeLeaseMs)} instead of ${lasting(a.probeLeaseMs)} before it counts as failed.`,
        ]),
    ...(was.degradedAt === is.degradedAt
      ? []
      : [
          `The circuit is called degraded (calls flow) ${degradedInWords(is)} instead of ${degradedInWords(was)}.`,
        ]),
  ]
}

function observing(a: ResolvedBreaker, b: ResolvedBreaker): string[] {
  if (a.observe === b.observe) return []
  return [
    b.observe ? 'B only observes: it refuses no call.' : 'B refuses calls while it is open; A only observes.',
  ]
}

/** Rules that are not the same on both sides, side by side where they are of one kind. */
function rulesChanged({ rules: was }: BreakerPolicy, { rules: is }: BreakerPolicy): string[] {
  const rest = [...was]
  const changed = is.filter((rule) => {
    const same = rest.findIndex((other) => isSame(other, rule))
    if (same >= 0) rest.splice(same, 1)
    return same < 0
  })
  const several = was.length > 1 || is.length > 1
  const told = changed.map((rule) => {
    const like = rest.findIndex(({ kind }) => kind === rule.kind)
    const [before] = like < 0 ? [] : rest.splice(like, 1)
    const who = several ? `Rule ${is.indexOf(rule) + 1}` : 'The circuit'
    return before === undefined
      ? `${who} is new: it opens on ${ruleInWords(rule)}.`
      : `${who} ${ruleChanged(before, rule)}.`
  })
  return [
    ...told,
    ...rest.map(
      (rule) => `Rule ${was.indexOf(rule) + 1} of A is gone: B does not open on ${ruleInWords(rule)}.`,
    ),
  ]
}

const instead = (name: string, was: number) =>
  was === Infinity ? `instead of never ${name}` : `instead of ${was}`

function ruleChanged(was: TrippingRule, is: TrippingRule): string {
  if (was.kind === 'consecutive' && is.kind === 'consecutive')
    return is.threshold === Infinity
      ? `does not open by failures in a row, instead of after ${was.threshold}`
      : `opens after ${plural(is.threshold, 'failure')} in a row, ${instead('by failures in a row', was.threshold)}`
  if (was.kind === 'leaky' && is.kind === 'leaky')
    return `opens once its count of failures, from which every success takes one off and which never falls below zero, reaches ${is.threshold} ${instead('', was.threshold)}`
  if (was.kind === 'rolling' && is.kind === 'rolling')
    return `opens ${windowChanged(was, was.failureRatio, is, is.failureRatio, 'failure')}`
  if (was.kind === 'latency' && is.kind === 'latency') {
    const slow =
      was.slowMs === is.slowMs
        ? ''
        : `; slow is what takes longer than ${lasting(is.slowMs)} instead of ${lasting(was.slowMs)}`
    return `opens ${windowChanged(was, was.slowRatio, is, is.slowRatio, 'slow call')}${slow}`
  }
  return `opens on ${ruleInWords(is)} instead of ${ruleInWords(was)}`
}

type Window = { readonly windowMs: number; readonly minCalls: number }

function windowChanged(was: Window, wasRatio: number, is: Window, isRatio: number, noun: string): string {
  const [few, calls] = [Math.max(1, was.minCalls), Math.max(1, is.minCalls)]
  const needs = (failureRatio: number, n: number) => neededOf({ failureRatio }, n)
  const within = was.windowMs === is.windowMs ? '' : ` within ${lasting(was.windowMs)}`
  const ratios =
    wasRatio === isRatio
      ? `${percent(isRatio)} as before`
      : `${percent(isRatio)} instead of ${percent(wasRatio)}`
  return `from ${plural(needs(isRatio, calls), noun)} among ${plural(calls, 'call')} within ${lasting(is.windowMs)} on, instead of ${needs(wasRatio, few)} among ${few}${within}; of more calls, from ${ratios}`
}

function kindsChanged({ kinds: was }: BreakerPolicy, { kinds: is }: BreakerPolicy): string[] {
  const names = new Set([...Object.keys(was), ...Object.keys(is)])
  return [...names].flatMap((name) =>
    isSame(was[name], is[name])
      ? []
      : [`Failures of kind "${kindInWords(name)}": ${ownRule(is[name])}, instead of: ${ownRule(was[name])}.`],
  )
}

function ownRule(own: KindPolicy | undefined): string {
  const { immediateOpen = false, threshold, cooldownMs } = own ?? {}
  const opens =
    immediateOpen || threshold === 1
      ? 'one opens the circuit'
      : threshold === undefined
        ? 'they count like any other'
        : `${threshold} without a success between open the circuit`
  return cooldownMs === undefined ? opens : `${opens}, and the cooldown begins at ${lasting(cooldownMs)}`
}

const spanOf = ({ leastMs, mostMs }: OpenPeriod) =>
  leastMs === mostMs ? lasting(mostMs) : `${lasting(leastMs)} to ${lasting(mostMs)}`

function openPeriodsChanged(was: BreakerPolicy, is: BreakerPolicy): string[] {
  const [before, after] = [openPeriods(was), openPeriods(is)]
  if (isSame(before, after)) return []
  const [first, last] = [0, -1].map((at) => [before.at(at)!, after.at(at)!] as const)
  const one = `The first open period lasts ${spanOf(first![1])}${isSame(...first!) ? ' as before' : ` instead of ${spanOf(first![0])}`}`
  if (before.length === 1 && after.length === 1)
    return [`Every open period lasts ${spanOf(first![1])} instead of ${spanOf(first![0])}.`]
  return [
    `${one}; after failed trials ${spanOf(last![1])}${isSame(...last!) ? ' as before' : ` instead of ${spanOf(last![0])}`}.`,
  ]
}

const waitsChanged = (was: BreakerPolicy, is: BreakerPolicy): string[] =>
  was.maxRetryAfterMs === is.maxRetryAfterMs
    ? []
    : [
        `Where a provider asks for patience, it gets ${lasting(is.maxRetryAfterMs)} at most instead of ${lasting(was.maxRetryAfterMs)}.`,
      ]

const trialInWords = ({ halfOpenProbes, halfOpenSuccessRatio }: BreakerPolicy) =>
  `${Math.ceil(halfOpenSuccessRatio * halfOpenProbes - 1e-9)} of ${plural(halfOpenProbes, 'probe')}`

function trialsChanged(was: BreakerPolicy, is: BreakerPolicy): string[] {
  const verdict = ({ halfOpenVerdict }: BreakerPolicy) =>
    halfOpenVerdict === 'early' ? 'as soon as its end is certain' : 'once all of its probes have reported'
  return [
    ...(trialInWords(was) === trialInWords(is)
      ? []
      : [`A trial closes the circuit once ${trialInWords(is)} succeeded, instead of ${trialInWords(was)}.`]),
    ...(was.halfOpenConcurrency === is.halfOpenConcurrency
      ? []
      : [
          `A trial has ${plural(is.halfOpenConcurrency, 'probe')} under way at a time at most, instead of ${was.halfOpenConcurrency}.`,
        ]),
    ...(was.halfOpenVerdict === is.halfOpenVerdict
      ? []
      : [`A trial is decided ${verdict(is)}, instead of ${verdict(was)}.`]),
  ]
}

const degradedInWords = ({ degradedAt }: BreakerPolicy) =>
  degradedAt === null ? 'never' : `from ${percent(degradedAt)} of a limit on`
