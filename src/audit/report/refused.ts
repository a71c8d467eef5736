import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { TrippingRule } from '../../../machines/tripping.ts'
import type { AuditedPolicy } from '../audited.ts'
import { longestVisitMs } from '../longest-visit.ts'
import { callsIn, neededOf } from '../mistakes.ts'
import { longestOpenMs, openPeriod, openPeriods } from '../open-periods.ts'
import type { OpenPeriod } from '../open-periods.ts'

/** Probes that must succeed. */
export const neededProbes = ({ halfOpenProbes, halfOpenSuccessRatio }: BreakerPolicy): number =>
  Math.ceil(halfOpenSuccessRatio * halfOpenProbes - 1e-9)

/** A trial once calls come in: how many probes follow each other, and how long each may take. */
export interface LongestTrial {
  readonly rounds: number
  readonly probeMs: number
  readonly ms: number
}

/** How long a trial may take that ends well, with every probe as slow as it may be. */
export function longestTrial({ rules: { policy }, targets }: AuditedPolicy): LongestTrial {
  const probes = policy.halfOpenVerdict === 'early' ? neededProbes(policy) : policy.halfOpenProbes
  const rounds = Math.ceil(probes / policy.halfOpenConcurrency)
  const probeMs = Math.max(...targets.map(longestVisitMs))
  return { rounds, probeMs, ms: rounds * probeMs }
}

/** How long calls are refused, from one side to the other, in ms. */
export interface Refused {
  /** One open period as the rules draw it, whatever opened the circuit. */
  readonly first: OpenPeriod
  /** The longest that the rules draw by themselves, after so many failed trials that it grows no more. */
  readonly grownMs: number
  /** The longest open period that nobody but the provider brings about. */
  readonly openMs: number
  /** True = it is that long because of an answer that came late. */
  readonly isLate: boolean
  readonly trial: LongestTrial
  /** An open period and a trial, both at their longest. */
  readonly worstMs: number
}

export function refused(audited: AuditedPolicy): Refused {
  const { rules, targets } = audited
  const { policy } = rules
  const kinds = Object.entries(policy.kinds).flatMap(([kind, { cooldownMs }]) =>
    cooldownMs === undefined ? [] : [openPeriod(policy, 0, kind)],
  )
  const own = openPeriod(policy, 0)
  const attemptMs = Math.max(...targets.map(({ timeoutMs }) => timeoutMs))
  // a request from before the opening may be answered as late as its limit allows
  const lateMs = policy.maxRetryAfterMs === 0 ? 0 : attemptMs + policy.maxRetryAfterMs
  const longest = longestOpenMs(policy)
  const trial = longestTrial(audited)
  const openMs = Math.max(longest, lateMs)
  return {
    first: {
      leastMs: Math.min(own.leastMs, ...kinds.map(({ leastMs }) => leastMs)),
      mostMs: Math.max(own.mostMs, ...kinds.map(({ mostMs }) => mostMs)),
    },
    grownMs: longest === Infinity ? Infinity : (openPeriods(policy).at(-1)?.mostMs ?? 0),
    openMs,
    isLate: openMs > longest,
    trial,
    worstMs: openMs + trial.ms,
  }
}

/** Failed calls that one rule needs while every call fails. */
export interface Lost {
  readonly least: number
  /** Infinity = the rule is never met; undefined = it depends on how many calls there are. */
  readonly most: number | undefined
}

/** `perMinute`: calls that come; undefined = nobody has said it. */
export function lostTo(rule: TrippingRule, perMinute: number | undefined): Lost {
  if ('threshold' in rule) return { least: rule.threshold, most: rule.threshold }
  if (rule.kind !== 'rolling') return { least: Infinity, most: Infinity }
  const minCalls = Math.max(1, rule.minCalls)
  const least = neededOf(rule, minCalls)
  if (perMinute === undefined) return { least, most: undefined }
  const calls = callsIn(rule.windowMs, perMinute)
  return { least, most: calls < minCalls ? Infinity : Math.max(minCalls, neededOf(rule, calls)) }
}

/** … by the rule that is met first. */
export function lostToAny({ rules }: BreakerPolicy, perMinute: number | undefined): Lost {
  const all = rules.map((rule) => lostTo(rule, perMinute))
  const known = all.flatMap(({ most }) => most ?? [])
  const most = Math.min(Infinity, ...known)
  return {
    least: Math.min(Infinity, ...all.map(({ least }) => least)),
    most: most === Infinity && known.length < all.length ? undefined : most,
  }
}
