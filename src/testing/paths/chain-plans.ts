import type { ChainPlan, PlannedTarget } from '../../../machines/chain-events.ts'

export const CHAIN_STARTED_AT = 1_000_000

const retry = { baseMs: 100, multiplier: 2, maxMs: 1000 } as const

const known = (retries: Readonly<Record<string, number>>): Record<string, PlannedTarget> =>
  Object.fromEntries(Object.entries(retries).map(([name, maxRetries]) => [name, { name, maxRetries, retry }]))

const plan = (retries: Readonly<Record<string, number>>, more: Partial<ChainPlan> = {}): ChainPlan => ({
  targets: Object.keys(retries),
  known: known(retries),
  lists: { 'context-window': {}, 'content-policy': {} },
  whenAllOpen: { kind: 'fail' },
  startedAt: CHAIN_STARTED_AT,
  deadlineAt: null,
  ...more,
})

/** The family over which the chain's paths are explored. */
export const chainPlans: Readonly<Record<string, ChainPlan>> = {
  'one target, no retry': plan({ a: 0 }),
  'three targets, two retries': plan({ a: 2, b: 1, c: 0 }),
  'one second of patience': plan({ a: 0, b: 0 }, { whenAllOpen: { kind: 'wait', waitMs: 1000 } }),
  'patience and a deadline': plan(
    { a: 1, b: 0 },
    { whenAllOpen: { kind: 'wait', waitMs: 1000 }, deadlineAt: CHAIN_STARTED_AT + 300 },
  ),
  'a last resort': plan({ a: 1, b: 1, c: 0 }, { whenAllOpen: { kind: 'last-resort' } }),
  'no fallback': plan(
    { a: 1, b: 0 },
    { noFallback: true, lists: { 'context-window': { a: ['b'] }, 'content-policy': { b: ['a'] } } },
  ),
  'lists of their own': plan(
    { a: 0, b: 0 },
    {
      known: known({ a: 0, b: 0, wide: 1, wider: 0, calm: 0 }),
      lists: {
        // a name twice, as a user may write it
        'context-window': { a: ['wide', 'b', 'wide', 'wider'] },
        'content-policy': { a: ['calm'], b: ['calm', 'a'] },
      },
    },
  ),
}
