import type { TrippingRule } from '../../../machines/tripping.ts'
import { failureTable, verdictOf } from '../../classify/failure-table.ts'
import type { FailureKind } from '../../classify/verdict.ts'
import type { AuditedPolicy } from '../audited.ts'
import { untilInARow } from '../chances.ts'
import { callsIn as meanCallsIn } from '../mistakes.ts'
import { lasting, listed, percent, plural } from '../words.ts'
import { shutOffByMistake } from './by-mistake.ts'
import { ofPolicy } from './finding.ts'
import type { LintRule } from './finding.ts'

const BUSY_PER_MINUTE = 100

type Windowed = Extract<TrippingRule, { readonly windowMs: number }>
const isWindowed = (rule: TrippingRule): rule is Windowed => 'windowMs' in rule
const isNever = (rule: TrippingRule) => 'threshold' in rule && rule.threshold === Infinity

const rulesOf = ({ rules }: AuditedPolicy) => rules.policy.rules
const kindsOf = ({ rules }: AuditedPolicy) => Object.entries(rules.policy.kinds)

/** Kinds that the table does not count, because they say nothing about the target. */
const neutralKinds = Object.entries(failureTable)
  .filter(([, { outcome }]) => outcome !== 'failure')
  .map(([kind]) => kind as FailureKind)

const callsIn = (windowMs: number, perMinute: number) => Math.floor(meanCallsIn(windowMs, perMinute))

const tooFew: LintRule = {
  id: 'threshold-out-of-reach',
  severity: 'problem',
  reason: 'A rule that can never be met protects nobody, and looks as if it did.',
  find: ofPolicy((policy, input) => {
    const rate = input.rate(policy, 'least')
    if (rate === undefined) return undefined
    const windows = rulesOf(policy).filter(isWindowed)
    const isDead = ({ windowMs, minCalls }: Windowed) => callsIn(windowMs, rate) < minCalls
    // one for busy hours beside one for quiet hours is meant so
    const isCovered = ({ kind }: Windowed) => windows.some((other) => other.kind === kind && !isDead(other))
    const dead = windows.filter((rule) => isDead(rule) && !isCovered(rule))
    const told = dead.map(
      ({ minCalls, windowMs }) =>
        `asks for ${plural(minCalls, 'call')} within ${lasting(windowMs)}, but at ${plural(rate, 'call')} a minute there are ${callsIn(windowMs, rate)}`,
    )
    if (told.length === 0) return undefined
    const [{ windowMs } = { windowMs: 0 }] = dead
    const seen = callsIn(windowMs, rate)
    return [
      `A rule ${listed(told)}.`,
      seen > 0
        ? `Set \`minCalls: ${seen}\` or less there, or a longer window.`
        : 'Set a longer window, or a count of failures instead of a share.',
    ]
  }),
}

const quietHours: LintRule = {
  id: 'quiet-hours-unprotected',
  severity: 'question',
  reason: 'Below its minimum of calls a window says nothing, and nothing else would open the circuit.',
  find: ofPolicy((policy) => {
    const rules = rulesOf(policy)
    if (rules.length === 0 || !rules.every(isWindowed)) return undefined
    const [least] = rules.toSorted((a, b) => a.minCalls / a.windowMs - b.minCalls / b.windowMs) as [Windowed]
    if (least.minCalls <= 5) return undefined
    return `Every rule needs a minimum of calls, ${least.minCalls} within ${lasting(least.windowMs)} at least. Do quiet hours have them? A second rule would cover them: 5 calls within a longer window, or a failure count of 10 (leaky).`
  }),
}

const never: LintRule = {
  id: 'never-opens',
  severity: 'problem',
  reason: 'A circuit that cannot open by itself is a switch for operators, no breaker.',
  find: ofPolicy((policy) => {
    const byKind = kindsOf(policy).some(
      ([, { threshold = Infinity, immediateOpen }]) => immediateOpen === true || threshold !== Infinity,
    )
    return rulesOf(policy).every(isNever) && !byKind
      ? ['Nothing opens this circuit but an operator.', 'Set `threshold: 5`, or leave it out.']
      : undefined
  }),
}

const nearlyAll: LintRule = {
  id: 'ratio-near-one',
  severity: 'warning',
  reason: 'A target that answers one call in twenty is down for its users, and such a rule lets it go on.',
  find: ofPolicy((policy) => {
    const found = rulesOf(policy).find((rule) => rule.kind === 'rolling' && rule.failureRatio > 0.9)
    const inARow = rulesOf(policy).some((rule) => rule.kind === 'consecutive' && !isNever(rule))
    if (found?.kind !== 'rolling' || inARow) return undefined
    return [
      `${percent(found.failureRatio)} of the calls must fail before it opens.`,
      'Set `failureRatio: 0.7`, 0.9 at most.',
    ]
  }),
}

const inARow: LintRule = {
  id: 'in-a-row-at-a-high-rate',
  severity: 'warning',
  reason:
    'In a row fits seldom calls. At a high rate a blip is enough to open, while a target that fails every third call seldom does: a share of failures within a window says more.',
  find: ofPolicy((policy, input) => {
    const rate = input.rate(policy, 'most')
    const rules = rulesOf(policy)
    const found = rules.find((rule) => rule.kind === 'consecutive' && !isNever(rule))
    if (
      rate === undefined ||
      rate < BUSY_PER_MINUTE ||
      found?.kind !== 'consecutive' ||
      rules.some(isWindowed)
    )
      return undefined
    const { threshold } = found
    const blipMs = (threshold / rate) * 60_000
    const calls = Math.round(untilInARow(threshold, 0.3))
    return [
      `${plural(threshold, 'failure')} in a row at ${plural(rate, 'call')} a minute are a blip of ${lasting(blipMs)}; and a target that fails 30 % of its calls goes on for about ${plural(calls, 'call')} (${lasting((calls / rate) * 60_000)}) before it opens.`,
      'Set `tripping: { kind: rolling, windowMs: 60000, minCalls: 20, failureRatio: 0.5 }`.',
    ]
  }),
}

const noLatency: LintRule = {
  id: 'no-latency-condition',
  severity: 'question',
  reason: 'Failures alone do not see a target that answers, but so slowly that its users leave.',
  find: ofPolicy((policy) => {
    if (rulesOf(policy).some(({ kind }) => kind === 'latency' || kind === 'custom')) return undefined
    const slowest = Math.max(...policy.targets.map(({ longestLimitMs }) => longestLimitMs))
    return `No rule looks at how long answers take. Up to ${slowest === 0 ? 'any time' : lasting(slowest)} an answer counts as a success. Would users agree?`
  }),
}

const contentKinds: LintRule = {
  id: 'content-errors-counted',
  severity: 'warning',
  reason:
    'They say something about a request or an answer, nothing about the target: healthy targets would be shut off.',
  find: ofPolicy((policy) => {
    const kinds = kindsOf(policy)
      .map(([kind]) => kind)
      .filter((kind) => neutralKinds.some((neutral) => neutral === kind))
    if (kinds.length === 0) return undefined
    return [
      `A rule of its own is given for ${listed(kinds)}, which the table does not count.`,
      `Take ${listed(kinds)} out of \`kinds\`.`,
    ]
  }),
}

const ownJudgement: LintRule = {
  id: 'content-errors-judged-as-failures',
  severity: 'problem',
  reason: contentKinds.reason,
  find: ofPolicy(({ rules: { shouldCount } }) => {
    if (shouldCount === undefined) return undefined
    const counted = neutralKinds.filter((kind) => {
      try {
        return shouldCount(new Error(kind), verdictOf(kind))
      } catch {
        return false
      }
    })
    return counted.length === 0
      ? undefined
      : [
          `shouldCount says yes to ${listed(counted)}.`,
          'Let it say no where `verdict.outcome` is no failure.',
        ]
  }),
}

const unknownKinds: LintRule = {
  id: 'unknown-kind',
  severity: 'warning',
  reason: 'The classifier never says so: a rule for a name that nobody uses is a rule that never holds.',
  find: ofPolicy((policy) => {
    const own = policy.targets.some(({ custom }) => custom.includes('classify'))
    const strange = kindsOf(policy)
      .map(([kind]) => kind)
      .filter((kind) => !Object.hasOwn(failureTable, kind))
    return own || strange.length === 0
      ? undefined
      : [
          `No failure is of the kind ${listed(strange, 'or')}.`,
          'Use a kind out of the table of failures, such as `quota_exhausted` or `auth`.',
        ]
  }),
}

export const trippingRules = [
  shutOffByMistake,
  tooFew,
  quietHours,
  never,
  nearlyAll,
  inARow,
  noLatency,
  contentKinds,
  ownJudgement,
  unknownKinds,
] as const
