import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import { assumedRate, mistakes, USUAL_FAILURES } from '../mistakes.ts'
import { longestOpenMs, openPeriod } from '../open-periods.ts'
import type { OpenPeriod } from '../open-periods.ts'
import { lasting, percent } from '../words.ts'

const YEAR = 365

/** `about 3 times a day`, `about once in 12 days`. */
function often(perDay: number): string {
  if (perDay * YEAR * 100 < 1) return 'less than once in a hundred years'
  if (perDay >= 1.5) return `about ${Math.round(perDay)} times a day`
  const days = 1 / perDay
  if (days < 1.5) return 'about once a day'
  return days < YEAR
    ? `about once in ${Math.round(days)} days`
    : `about once in ${Math.round((days / YEAR) * 10) / 10} years`
}

/** What two sets of rules mean for those who call, where the numbers say it. */
export function forUsers(a: ResolvedBreaker, b: ResolvedBreaker): string[] {
  if (a.observe || b.observe) return []
  return [...byMistake(a, b), ...afterwards(a, b)]
}

function byMistake({ policy: was }: ResolvedBreaker, { policy: is }: ResolvedBreaker): string[] {
  const failing = USUAL_FAILURES
  const rates = [assumedRate(was, failing), assumedRate(is, failing)]
  // the traffic at which either errs most
  const perMinute = Math.max(...rates)
  const [before, after] = [was, is].map((policy) => mistakes(policy, { perMinute, failing }).perDay)
  const [x, y] = [before ?? 0, after ?? 0]
  if (Math.max(x, y) === 0 || Math.abs(x - y) < 0.1 * Math.max(x, y)) return []
  const premise = `a provider that is well, which means that ${percent(failing)} of its calls fail by chance, is shut off by mistake ${often(y)} instead of ${often(x)} (at ${Math.round(perMinute * 10) / 10} calls a minute)`
  if (often(x) === often(y))
    return [
      `${y > x ? 'B opens more easily' : 'B opens less easily'}, but of a provider that is well hardly anybody notices: it is shut off by mistake ${often(y)} with both.`,
    ]
  return y > x
    ? [`B opens more easily. Better: in an outage fewer calls fail before it opens. Worse: ${premise}.`]
    : [`B opens less easily. Worse: in an outage more calls fail before it opens. Better: ${premise}.`]
}

function afterwards({ policy: was }: ResolvedBreaker, { policy: is }: ResolvedBreaker): string[] {
  const [before, after] = [longestOpenMs(was), longestOpenMs(is)]
  if (before === after) return firstPeriods(was, is)
  const words = `once a provider is well again, its calls may still be refused for up to ${lasting(after)} instead of ${lasting(before)}`
  return after > before
    ? [`Worse: ${words}. Better: one that is down is troubled less often.`]
    : [`Better: ${words}. Worse: one that is down is asked more often, by calls that fail.`]
}

function firstPeriods(was: BreakerPolicy, is: BreakerPolicy): string[] {
  const [before, after] = [openPeriod(was, 0), openPeriod(is, 0)]
  const middle = ({ leastMs, mostMs }: OpenPeriod) => (leastMs + mostMs) / 2
  if (middle(before) === middle(after)) return []
  const words = `after a fault of a moment calls are refused for up to ${lasting(after.mostMs)} instead of ${lasting(before.mostMs)}`
  return middle(after) > middle(before)
    ? [`Worse: ${words}. Better: a provider that is down is troubled less often.`]
    : [`Better: ${words}. Worse: a provider that is down is asked more often, by calls that fail.`]
}
