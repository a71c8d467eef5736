import type { Cause } from '../../../machines/breaker-events.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { causeInWords } from '../../core/explain.ts'
import { lasting, percent, plural } from '../words.ts'
import { kindInWords } from './kind-in-words.ts'

/** Any cause, with its kind as people say it. */
export function causeForPeople(cause: Cause): string {
  const { failure } = cause
  return causeInWords(failure === undefined ? cause : { ...cause, failure: `"${kindInWords(failure)}"` })
}

/**
 * Why a circuit opened: what was counted, and the limit and the window of the rule that decided.
 *
 * @param policy the rules that were in force; undefined = nobody knows them any more
 */
export function whyOpened(cause: Cause, policy: BreakerPolicy | undefined): string {
  if (policy === undefined) return causeForPeople(cause)
  if (cause.why === 'kind_tripped') return kindReached(cause, policy) ?? causeForPeople(cause)
  const counted = cause.why === 'tripped' ? ruleReached(cause, policy) : undefined
  if (counted === undefined) return causeForPeople(cause)
  const { rules } = policy
  const place = rules.length > 1 ? ` (rule ${(cause.rule?.at ?? 0) + 1} of ${rules.length})` : ''
  const last =
    cause.failure === undefined ? '' : `. The last failure was of kind "${kindInWords(cause.failure)}"`
  return `${counted}${place}${last}`
}

function ruleReached({ rule: decided, reading }: Cause, { rules }: BreakerPolicy): string | undefined {
  const rule = decided && rules[decided.at]
  const counted = decided && reading?.rules[decided.at]
  // rules that were changed meanwhile do not explain what was counted under those before
  if (rule === undefined || counted === undefined || rule.kind !== decided?.kind) return undefined
  const { count, calls } = counted
  switch (rule.kind) {
    case 'consecutive':
      return `${plural(count, 'call')} failed in a row; the limit is ${rule.threshold}`
    case 'leaky':
      return `the count of failures, from which every success takes one off and which never falls below zero, reached ${count}; the limit is ${rule.threshold}`
    case 'rolling':
      return `${count} of ${plural(calls, 'call')} failed within ${lasting(rule.windowMs)}; the limit is ${percent(rule.failureRatio)} of at least ${plural(Math.max(1, rule.minCalls), 'call')}`
    case 'latency':
      return `${count} of ${plural(calls, 'call')} took longer than ${lasting(rule.slowMs)} within ${lasting(rule.windowMs)}; the limit is ${percent(rule.slowRatio)} of at least ${plural(Math.max(1, rule.minCalls), 'call')}`
    case 'custom':
      return undefined
  }
}

function kindReached({ failure = '', reading }: Cause, { kinds }: BreakerPolicy): string | undefined {
  const own = kinds[failure]
  if (own === undefined) return undefined
  const kind = `of kind "${kindInWords(failure)}"`
  if (own.immediateOpen === true || own.threshold === undefined)
    return `a failure ${kind}; one is enough to open this circuit`
  const count = reading?.kinds[failure] ?? own.threshold
  return `${plural(count, 'failure')} ${kind} without a success between; the limit is ${own.threshold}`
}
