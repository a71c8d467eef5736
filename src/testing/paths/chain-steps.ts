import type { AttemptVerdict, ChainEvent } from '../../../machines/chain-events.ts'
import type { ChainContext } from '../../../machines/chain-context.ts'

/** Verdicts of every row of the classifier's table that the chain tells apart. */
const VERDICTS: readonly AttemptVerdict[] = [
  { failure: 'server_error', retry: 'yes', fallback: 'next' },
  { failure: 'overloaded', retry: 'yes', fallback: 'next' },
  { failure: 'timeout', retry: 'yes', fallback: 'next' },
  { failure: 'rate_limit', retry: 'after', fallback: 'next', retryAfterMs: 200 },
  { failure: 'rate_limit', retry: 'after', fallback: 'next', retryAfterMs: 60_000 },
  { failure: 'auth', retry: 'no', fallback: 'next' },
  { failure: 'invalid_request', retry: 'no', fallback: 'stop' },
  { failure: 'parse', retry: 'no', fallback: 'stop' },
  { failure: 'context_window', retry: 'no', fallback: 'context-window' },
  { failure: 'content_policy', retry: 'no', fallback: 'content-policy' },
]

/** Beyond every patience. */
export const FAR_AWAY = 1_000_000

function answers(target: string, at: number): ChainEvent[] {
  const refused = (reason: 'open' | 'half-open' | 'held', retryAt: number | null): ChainEvent => ({
    type: 'target.refused',
    at,
    target,
    reason,
    retryAt,
  })
  return [
    { type: 'target.admitted', at, target },
    refused('open', at + 50),
    refused('open', at + 5),
    refused('open', at + FAR_AWAY),
    refused('half-open', at + FAR_AWAY),
    refused('held', at + 50),
    refused('held', null),
  ]
}

function attempts(at: number): ChainEvent[] {
  const failed = (verdict: AttemptVerdict, more: object = {}): ChainEvent => ({
    type: 'attempt.failed',
    at,
    verdict,
    roll: 0.5,
    budget: true,
    ...more,
  })
  const [first, , , , , , stop, , context] = VERDICTS
  return [
    { type: 'attempt.succeeded', at },
    { type: 'stream.committed', at },
    ...VERDICTS.map((verdict) => failed(verdict)),
    ...[first, stop, context].flatMap((verdict) =>
      verdict === undefined
        ? []
        : [
            failed(verdict, { budget: false }),
            failed(verdict, { roll: 0.999_999 }),
            failed(verdict, { route: 'next' }),
            failed(verdict, { route: 'stop' }),
          ],
    ),
  ]
}

/** Everything that can happen to a chain in this configuration, a little after `now` or when its wait is over. */
export function chainSteps(context: ChainContext, now: number): ChainEvent[] {
  const { ahead, asked, waitUntil, patienceUntil } = context
  const at = now + 10
  const over = Math.max(at, waitUntil ?? at)
  const late = patienceUntil === null || patienceUntil <= at ? [] : [patienceUntil]
  const [next = 'nobody'] = ahead
  return [
    ...[at, ...late].flatMap((at) => answers(next, at)),
    // only the first target can be bypassed
    ...(asked.length > 0
      ? []
      : [{ type: 'target.admitted', at, target: next, bypassed: true } satisfies ChainEvent]),
    ...answers('stranger', at).slice(0, 2),
    ...attempts(at),
    { type: 'backoff.elapsed', at: over, permitIsCurrent: true },
    { type: 'backoff.elapsed', at: over, permitIsCurrent: false },
    { type: 'stream.completed', at },
    { type: 'stream.failed', at },
    { type: 'circuit.changed', at },
    { type: 'wait.elapsed', at: over },
    { type: 'caller.aborted', at },
    { type: 'deadline.passed', at },
  ]
}
