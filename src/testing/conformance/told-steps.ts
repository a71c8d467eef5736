import { inText } from '../scenario/compare.ts'
import type { BreakerStep } from '../scenario/scenario.ts'

const MOST_LETTERS = 400

/** What a step does, in two or three words. */
export function verbOf(step: BreakerStep): string {
  const verbs = ['admit', 'reject', 'succeed', 'fail', 'ignore', 'cancel'] as const
  const verb = verbs.find((verb) => step[verb] !== undefined)
  if (verb !== undefined) return `${verb} ${step[verb]}`
  if (step.calls !== undefined) return `${step.calls.times} × ${step.calls.outcome}`
  return ['open', 'close', 'restart'].find((verb) => verb in step) ?? 'look'
}

function withWhat(step: BreakerStep): string {
  const { fail, calls, open, close, restart } = step
  const { failure, retryAfterMs } = calls ?? (fail === undefined ? {} : step)
  const details = { failure, retryAfterMs, ...open, ...close, ...restart }
  const told = Object.entries(details).filter(([, value]) => value !== undefined)
  const words = told.map(([key, value]) => `${key} ${inText(value)}`).join(', ')
  return words === '' ? verbOf(step) : `${verbOf(step)} (${words})`
}

function tell(step: BreakerStep): string | undefined {
  const { at, advance } = step
  const when = advance === undefined ? (at ? `at ${at} ms` : '') : `${advance} ms later`
  const what = verbOf(step) === 'look' ? '' : withWhat(step)
  return `${when} ${what}`.trim() || undefined
}

/** Steps in one line, the last ones where they are many; what only looks leaves no trace. */
export function toldSteps(steps: readonly BreakerStep[]): string {
  const told = steps.map(tell).filter((words) => words !== undefined)
  let letters = 0
  const kept = told.toReversed().filter((words) => (letters += words.length + 2) <= MOST_LETTERS)
  const left = told.length - kept.length
  return `${left === 0 ? '' : `… ${left} before, `}${kept.toReversed().join(', ')}`
}

/** Rules in one line. */
export const toldRules = (rules: object): string =>
  Object.entries(rules)
    .map(([key, value]) => `${key}: ${inText(value)}`)
    .join(', ')
