import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { longestOpenMs, openPeriod, openPeriods } from '../open-periods.ts'
import { lasting, plural } from '../words.ts'
import { ofPolicy } from './finding.ts'
import type { LintRule } from './finding.ts'

const VERY_LONG_MS = 900_000
const LONG_RETRY_AFTER_MS = 600_000
const MANY_PROBES = 3
const NEXT_TO_NOTHING = 0.1

const longestTimeout = (targets: readonly { readonly timeoutMs: number }[]) =>
  Math.max(...targets.map(({ timeoutMs }) => timeoutMs))

/** Options with which the open periods become as long as `ms`. */
function longerPeriods({ backoff, cooldownMs }: BreakerPolicy, ms: number): string {
  if (backoff === null || typeof backoff === 'function') return `\`cooldownMs: ${ms}\` or more`
  const long = `\`maxMs: ${ms}\` or more in cooldownBackoff`
  return backoff.multiplier > 1 && cooldownMs > 0 ? long : `\`cooldownMs: ${ms}\` and ${long}`
}

const belowTimeout: LintRule = {
  id: 'cooldown-below-timeout',
  severity: 'warning',
  reason:
    'A probe that hangs is seen only when the limit of a call is over. While the open periods are shorter than that, most of such an outage is spent in trials, and somebody waits in each.',
  find: ofPolicy(({ rules: { policy }, targets }) => {
    const mostMs = openPeriods(policy).at(-1)?.mostMs ?? 0
    const timeoutMs = longestTimeout(targets)
    if (timeoutMs === Infinity || mostMs >= timeoutMs) return undefined
    const grows = openPeriods(policy).length > 1
    return [
      `An open period lasts ${lasting(mostMs)} at most${grows ? ', also after many failed trials' : ''}; a call that hangs is given up after ${lasting(timeoutMs)}.`,
      `Set ${longerPeriods(policy, timeoutMs)}${mostMs > 0 ? `, or \`timeoutMs: ${mostMs}\` or less` : ''}.`,
    ]
  }),
}

const belowRecovery: LintRule = {
  id: 'cooldown-below-recovery',
  severity: 'warning',
  reason:
    'Trials during an outage cost the users who are the probes, and add load to a provider that is getting up.',
  find: ofPolicy(({ rules: { policy } }, { usualRecoveryMs }) => {
    const longest = openPeriods(policy).at(-1)?.mostMs ?? 0
    if (longest * 2 >= usualRecoveryMs) return undefined
    const trials =
      longest === 0 ? 'one trial after the other' : `${Math.floor(usualRecoveryMs / longest)} trials or more`
    return [
      `An outage of ${lasting(usualRecoveryMs)} brings ${trials}: the open periods never grow beyond ${lasting(longest)}.`,
      `Set ${longerPeriods(policy, Math.ceil(usualRecoveryMs / 2))}.`,
    ]
  }),
}

const nearZero: LintRule = {
  id: 'cooldown-near-zero',
  severity: 'question',
  reason:
    'Full jitter spreads the trials of many processes; alone it lets chance say when the next trial comes.',
  find: ofPolicy(({ rules: { policy } }) => {
    const { leastMs, mostMs } = openPeriod(policy, 0)
    if (mostMs === 0 || leastMs >= mostMs * NEXT_TO_NOTHING) return undefined
    return `Chance may make an open period as short as ${lasting(leastMs)}. Is that meant? A minMs or equal jitter would give a floor.`
  }),
}

const tooLong: LintRule = {
  id: 'cooldown-too-long',
  severity: 'warning',
  reason:
    'A target that has been well for minutes is left alone all that time, unless an operator closes the circuit.',
  find: ofPolicy(({ rules: { policy } }) => {
    const { maxRetryAfterMs: _told, ...own } = policy
    const longest = longestOpenMs({ ...own, maxRetryAfterMs: 0 })
    if (longest <= VERY_LONG_MS) return undefined
    const where = policy.backoff === null || typeof policy.backoff === 'function' ? 'cooldownMs' : 'maxMs'
    return [
      `An open period may last ${lasting(longest)}.`,
      `Set \`${where}: ${VERY_LONG_MS}\` or less, for a kind of failure its own \`cooldownMs\` likewise.`,
    ]
  }),
}

const longRetryAfter: LintRule = {
  id: 'retry-after-too-long',
  severity: 'warning',
  reason: 'One answer of the provider, or of a proxy before it, decides how long nobody tries.',
  find: ofPolicy(({ rules: { policy } }) =>
    policy.maxRetryAfterMs > LONG_RETRY_AFTER_MS
      ? [
          `A Retry-After is followed for up to ${lasting(policy.maxRetryAfterMs)}.`,
          `Set \`maxRetryAfterMs: ${LONG_RETRY_AFTER_MS}\` or less.`,
        ]
      : undefined,
  ),
}

const noRetryAfter: LintRule = {
  id: 'retry-after-ignored',
  severity: 'question',
  reason:
    'A provider that says when to come back is asked earlier than that, and may count it against the account.',
  find: ofPolicy(({ rules: { policy } }) =>
    policy.maxRetryAfterMs === 0 ? 'A Retry-After never lengthens an open period.' : undefined,
  ),
}

const shortLease: LintRule = {
  id: 'lease-below-timeout',
  severity: 'problem',
  reason:
    'A probe that is slow but well within its limit counts as lost: the trial fails although the target answers.',
  find: ofPolicy(({ rules, targets }) => {
    const limit = Math.max(...targets.map(({ longestLimitMs }) => longestLimitMs))
    if (rules.leaseIsDefault || rules.probeLeaseMs >= limit) return undefined
    return [
      `A probe counts as lost after ${lasting(rules.probeLeaseMs)} of silence; a call may take ${lasting(limit)}.`,
      `Set \`probeLeaseMs: ${limit}\` or more, or leave it out.`,
    ]
  }),
}

const manyProbes: LintRule = {
  id: 'many-probes-at-once',
  severity: 'warning',
  reason: 'Probes are calls of real users: so many of them wait for a target that may still be down.',
  find: ofPolicy(({ rules: { policy } }) =>
    policy.halfOpenConcurrency > MANY_PROBES
      ? [
          `Up to ${plural(policy.halfOpenConcurrency, 'probe')} are under way at a time.`,
          `Set \`halfOpenConcurrency: ${MANY_PROBES}\` or less.`,
        ]
      : undefined,
  ),
}

const luckyProbe: LintRule = {
  id: 'one-probe-decides',
  severity: 'question',
  reason: 'While a target recovers, one answer may be luck; the whole traffic follows it.',
  find: ofPolicy(({ rules: { policy } }) => {
    const needed = Math.ceil(policy.halfOpenSuccessRatio * policy.halfOpenProbes - 1e-9)
    return needed === 1
      ? 'One good probe closes the circuit. Would two or three be worth the wait?'
      : undefined
  }),
}

const observed: LintRule = {
  id: 'observe-mode',
  severity: 'question',
  reason: 'It counts and reports, and protects nobody.',
  find: ofPolicy(({ rules: { observe } }) =>
    observe ? 'The circuit is only observed: it refuses no call. Until when?' : undefined,
  ),
}

export const recoveryRules = [
  belowTimeout,
  belowRecovery,
  nearZero,
  tooLong,
  longRetryAfter,
  noRetryAfter,
  shortLease,
  manyProbes,
  luckyProbe,
  observed,
] as const
