import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { TrippingRule } from '../../../machines/tripping.ts'
import { callsIn, mistakes, neededOf, openingsPerCall } from '../mistakes.ts'
import { openPeriods } from '../open-periods.ts'
import { aboutEvery, between, lasting, percent, rounded, roughly } from '../words.ts'
import type { Traffic } from './traffic.ts'

/** One number, changed. */
export interface WhatIf {
  readonly change: string
  readonly isConfigured: boolean
  /** What opens it then. */
  readonly opensAfter: string
  /** How often a healthy target would be shut off by mistake. */
  readonly byMistake: string
  /** How soon it opens where a third of the calls fails. */
  readonly whenAThirdFails: string
}

type Rolling = Extract<TrippingRule, { readonly kind: 'rolling' }>
type Given = Pick<Traffic, 'perMinute' | 'failing'>

const THIRD = 1 / 3
const YEAR_OF_MINUTES = 525_600

/** Calls until rules open the circuit where a share `p` fails. */
function callsUntil(rules: readonly TrippingRule[], p: number, { perMinute, failing }: Given): number {
  const sure = rules.flatMap((rule) => {
    if (rule.kind !== 'rolling' || rule.failureRatio > p) return []
    const calls = callsIn(rule.windowMs, perMinute)
    // good calls of before are in the window, and have to make room
    const part = Math.max(0, rule.failureRatio - failing) / (p - failing)
    return calls >= rule.minCalls ? [Math.max(1, rule.minCalls, part * calls)] : []
  })
  const perCall = rules.reduce((sum, rule) => sum + openingsPerCall(rule, p, perMinute), 0)
  return Math.min(...sure, perCall === 0 ? Infinity : 1 / perCall)
}

function afterCalls(calls: number, perMinute: number): string {
  const minutes = calls / perMinute
  if (minutes > YEAR_OF_MINUTES) return 'practically never'
  return `after about ${rounded(Math.max(1, Math.round(calls)))} calls (${roughly(minutes * 60_000)})`
}

const opensOn = (rule: TrippingRule, perMinute: number): string => {
  if ('threshold' in rule) {
    const { threshold } = rule
    if (rule.kind === 'consecutive') return `${threshold} of ${threshold} calls`
    return `${threshold} of ${threshold} calls, or ${threshold * 2} of ${threshold * 3}`
  }
  if (rule.kind !== 'rolling') return ''
  const least = Math.max(1, rule.minCalls)
  const full = Math.floor(callsIn(rule.windowMs, perMinute))
  const usual = full > least ? `; ${neededOf(rule, full)} of ${full} when it is full` : ''
  return `${neededOf(rule, least)} of ${least} calls${usual}`
}

function rowOf(
  policy: BreakerPolicy,
  rules: readonly TrippingRule[],
  { perMinute, failing }: Given,
): Pick<WhatIf, 'byMistake' | 'whenAThirdFails'> {
  return {
    byMistake: aboutEvery(mistakes(policy, { perMinute, failing }, rules).perDay),
    whenAThirdFails: afterCalls(callsUntil(rules, THIRD, { perMinute, failing }), perMinute),
  }
}

const nameOf = (rule: TrippingRule): string => {
  switch (rule.kind) {
    case 'leaky':
      return `a count of ${rule.threshold}`
    case 'consecutive':
      return `${rule.threshold} in a row`
    case 'rolling':
      return `${percent(rule.failureRatio)} of at least ${Math.max(1, rule.minCalls)} calls in ${lasting(rule.windowMs)}`
    default:
      return rule.kind
  }
}

/** The number in force among others, from low to high. */
const among = (others: readonly number[], own: number) => [...new Set([...others, own])].sort((a, b) => a - b)

function variantsOf(rule: TrippingRule): readonly TrippingRule[] {
  if ('threshold' in rule) {
    if (rule.threshold === Infinity) return []
    const others = rule.kind === 'leaky' ? [5, 15] : [3, 10]
    return among(others, rule.threshold).map((threshold) => ({ ...rule, threshold }))
  }
  if (rule.kind !== 'rolling') return []
  return among([0.3, 0.7], rule.failureRatio).map((failureRatio) => ({ ...rule, failureRatio }))
}

/** What would be another way if one number were another, each rule alone; and all of them together. */
export function whatIf(policy: BreakerPolicy, given: Given): WhatIf[] {
  const { rules } = policy
  const alone = rules.flatMap((own) =>
    variantsOf(own).map((rule): WhatIf => ({
      change: nameOf(rule),
      isConfigured: JSON.stringify(rule) === JSON.stringify(own),
      opensAfter: opensOn(rule, given.perMinute),
      ...rowOf(policy, [rule], given),
    })),
  )
  return rules.length < 2 ? alone : [...alone, ...together(policy, given)]
}

function together(policy: BreakerPolicy, given: Given): WhatIf[] {
  const { rules } = policy
  const windows = rules.filter((rule): rule is Rolling => rule.kind === 'rolling')
  const fewest = (all: readonly TrippingRule[]) =>
    `${Math.min(...all.map((rule) => ('threshold' in rule ? rule.threshold : rule.kind === 'rolling' ? neededOf(rule, Math.max(1, rule.minCalls)) : Infinity)))} failures at least`
  const own: WhatIf = {
    change: 'all rules together',
    isConfigured: true,
    opensAfter: fewest(rules),
    ...rowOf(policy, rules, given),
  }
  const ratios = windows.length === 0 ? [] : [0.3, 0.5, 0.7]
  const others = ratios.flatMap((failureRatio): WhatIf[] => {
    if (windows.every((rule) => rule.failureRatio === failureRatio)) return []
    const changed = rules.map((rule) => (rule.kind === 'rolling' ? { ...rule, failureRatio } : rule))
    return [
      {
        change: `all together, every share ${percent(failureRatio)}`,
        isConfigured: false,
        opensAfter: fewest(changed),
        ...rowOf(policy, changed, given),
      },
    ]
  })
  return [own, ...others]
}

/** The open periods, halved and doubled. */
export interface WhatIfCooldown {
  readonly change: string
  readonly isConfigured: boolean
  readonly first: string
  readonly longest: string
  readonly trialsAnHour: string
}

export function whatIfCooldown(policy: BreakerPolicy): WhatIfCooldown[] {
  const { backoff, cooldownMs } = policy
  if (typeof backoff === 'function' || cooldownMs === 0) return []
  return [0.5, 1, 2].map((factor): WhatIfCooldown => {
    const maxMs = backoff === null ? Infinity : backoff.maxMs * factor
    const changed: BreakerPolicy = {
      ...policy,
      cooldownMs: cooldownMs * factor,
      backoff: backoff === null ? null : { ...backoff, maxMs },
    }
    const periods = openPeriods(changed)
    const [first] = periods
    const last = periods.at(-1) ?? { leastMs: 0, mostMs: 0 }
    const endless = backoff !== null && backoff.maxMs === Infinity && backoff.multiplier > 1
    const limit = backoff === null || endless ? '' : `, at most ${lasting(maxMs)}`
    return {
      change: `cooldown ${lasting(cooldownMs * factor)}${limit}`,
      isConfigured: factor === 1,
      first: first === undefined ? '' : between(first),
      longest: endless ? 'no upper end' : lasting(last.mostMs),
      trialsAnHour: endless ? 'ever fewer' : rounded(Math.floor(7_200_000 / (last.leastMs + last.mostMs))),
    }
  })
}
