import { failureTable, verdictOf } from './failure-table.ts'
import { read } from './safe-read.ts'
import type { FailureKind, FallbackRoute, OutcomeKind, Verdict } from './verdict.ts'

const OUTCOMES: readonly OutcomeKind[] = ['success', 'failure', 'neutral']
const RETRIES: readonly Verdict['retry'][] = ['yes', 'no', 'after']
const ROUTES: readonly FallbackRoute[] = ['next', 'stop', 'context-window', 'content-policy']

const wordOf = <Word extends string>(value: unknown, words: readonly Word[]): Word | undefined =>
  words.find((word) => word === value)

const isWait = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0

/**
 * What a classifier of the user's own has answered, read once into a verdict of ours; undefined = it is none, because it
 * has no kind or no outcome. Columns that it leaves out come from the table. Never throws.
 *
 * @example readVerdict({ failure: 'auth', outcome: 'failure' })?.fallback // 'next'
 */
export function readVerdict(answer: unknown): Verdict | undefined {
  const failure = read(answer, 'failure')
  const outcome = wordOf(read(answer, 'outcome'), OUTCOMES)
  if (typeof failure !== 'string' || outcome === undefined) return undefined
  const wait = read(answer, 'retryAfterMs')
  const retryAfterMs = isWait(wait) ? wait : undefined
  // kinds of the user's own are in no row
  const table = verdictOf(
    Object.hasOwn(failureTable, failure) ? (failure as FailureKind) : 'unknown',
    retryAfterMs,
  )
  const alert = read(answer, 'alert')
  return {
    failure: failure as FailureKind,
    outcome,
    retry: wordOf(read(answer, 'retry'), RETRIES) ?? table.retry,
    fallback: wordOf(read(answer, 'fallback'), ROUTES) ?? table.fallback,
    alert: typeof alert === 'boolean' ? alert : table.alert,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}
