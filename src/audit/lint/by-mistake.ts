import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { TrippingRule } from '../../../machines/tripping.ts'
import { assumedRate, mistakes, quietHour } from '../mistakes.ts'
import { aboutEvery, lasting, listed, percent } from '../words.ts'
import { ofPolicy } from './finding.ts'
import type { LintRule } from './finding.ts'

/** More openings than that, or a larger part of the time, are a fault of the rules. */
const MOST_A_DAY = 1
const MOST_OF_THE_TIME = 1e-4
const MOST_STEPS = 40
const RATIO_STEP = 0.05
const LARGEST_RATIO = 0.9

interface Given {
  readonly perMinute: number
  readonly failing: number
}

function isTooOften(policy: BreakerPolicy, given: Given): boolean {
  const { perDay, share } = mistakes(policy, given)
  return perDay > MOST_A_DAY || share > MOST_OF_THE_TIME
}

export const shutOffByMistake: LintRule = {
  id: 'shut-off-by-mistake',
  severity: 'warning',
  reason:
    'Every such opening refuses calls that would have been answered, and teaches people not to believe it.',
  find: ofPolicy((policy, input) => {
    const { policy: numbers, observe } = policy.rules
    const failing = input.healthyFailures
    const said = input.rate(policy, 'most')
    const usual = { perMinute: said ?? assumedRate(numbers, failing), failing }
    const given = isTooOften(numbers, usual) ? usual : { ...usual, ...quietHour(numbers, usual) }
    const { perMinute } = given
    if (observe || !isTooOften(numbers, given)) return undefined
    const { perDay, share } = mistakes(numbers, given)
    const calls = `${Math.round(perMinute * 10) / 10} ${perMinute === 1 ? 'call' : 'calls'} a minute`
    const where =
      said === undefined
        ? `${calls}, which is assumed (--calls-per-minute says it)`
        : given === usual
          ? calls
          : `${calls}, as it may be in a quiet hour`
    const text = `A healthy provider that fails ${percent(failing)} of its calls is shut off ${aboutEvery(perDay)}, at ${where}: ${lasting(share * 86_400_000)} of a day.`
    return [text, remedyFor(numbers, said, failing)]
  }),
}

/** The smallest change that is enough: of the worst rule alone, or of all that err. */
function remedyFor(policy: BreakerPolicy, said: number | undefined, failing: number): string {
  const errs = (rules: readonly TrippingRule[]) => {
    const changed = { ...policy, rules }
    const rates = [assumedRate(changed, failing), said ?? 0].filter(
      (rate) => said === undefined || rate <= said,
    )
    return rates.some((perMinute) => isTooOften(changed, { perMinute, failing }))
  }
  const guilty = policy.rules.flatMap((rule, at) => (errs([rule]) ? [at] : []))
  const erring = guilty.length > 0 ? guilty : policy.rules.map((_rule, at) => at)
  let rules = policy.rules
  const changed = new Map<number, string>()
  for (let step = 1; step <= MOST_STEPS; step++) {
    for (const at of erring) {
      const next = stricter(policy.rules[at]!, step)
      if (next === undefined) continue
      rules = rules.with(at, next.rule)
      changed.set(at, next.words)
    }
    if (!errs(rules)) {
      const told = [...changed].map(([at, words]) =>
        policy.rules.length === 1 ? words : `${words} in rule ${at + 1}`,
      )
      return `Set ${listed(told)}.`
    }
  }
  return 'Say what fails while all is well (--healthy-failures), or judge by something else: no number near these is enough.'
}

function stricter(
  rule: TrippingRule,
  step: number,
): { readonly rule: TrippingRule; readonly words: string } | undefined {
  if ('threshold' in rule) {
    const threshold = rule.threshold + step
    return { rule: { ...rule, threshold }, words: `\`threshold: ${threshold}\`` }
  }
  if (rule.kind !== 'rolling') return undefined
  const more = Math.round((rule.failureRatio + step * RATIO_STEP) * 100) / 100
  const failureRatio = Math.max(rule.failureRatio, Math.min(LARGEST_RATIO, more))
  return { rule: { ...rule, failureRatio }, words: `\`failureRatio: ${failureRatio}\`` }
}
