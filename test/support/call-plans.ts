import fc from 'fast-check'
import type { SwitchgearOptions } from '../../src/core/switchgear-options.ts'

type Kind = keyof typeof ERRORS | 'ok' | 'empty' | 'hang' | 'throws' | 'defect'

interface Answer {
  readonly kind: Kind
  readonly afterMs: number
  readonly retryAfterMs: number
}

export interface TargetPlan {
  readonly answers: readonly Answer[]
  readonly breaker: {
    readonly threshold: number
    readonly cooldownMs: number
    readonly halfOpenProbes: number
    /** One breaker with the first target. */
    readonly shared: boolean
    readonly backoff: boolean
  } | null
  readonly maxRetries: number
  readonly baseMs: number
  readonly maxMs: number
  readonly timeoutMs: number
}

export interface Call {
  readonly do: 'call'
  readonly at: number
  readonly deadlineMs: number | null
  readonly abortMs: number | null
  /** null = the chain as declared. */
  readonly targets: readonly number[] | null
  readonly noFallback: boolean
  readonly bypass: boolean
}

export type Step =
  | Call
  | { readonly do: 'reconfigure'; readonly at: number }
  | {
      readonly do: 'open' | 'close'
      readonly at: number
      readonly target: number
      readonly hold: boolean
      readonly ttlMs: number | null
    }

/** A world of calls: everything that is going to happen. */
export interface Plan {
  readonly targets: readonly TargetPlan[]
  readonly whenAllOpen: NonNullable<SwitchgearOptions['whenAllOpen']>
  readonly budget: false | { readonly capacity: number; readonly perCall: number }
  readonly deadlineMs: number | null
  readonly window: readonly (readonly number[])[]
  readonly policy: readonly (readonly number[])[]
  readonly fallbackOn: 'none' | 'stop-quota' | 'next-invalid'
  /** Somebody records the outcomes. */
  readonly recorded: boolean
  readonly steps: readonly Step[]
  readonly seed: number
}

const failure = (status: number, code: string, message: string) => (retryAfterMs: number) =>
  Object.assign(new Error(message), {
    status,
    code,
    ...(retryAfterMs > 0 && { headers: { 'retry-after-ms': String(retryAfterMs) } }),
  })

/** What a target may fail with. */
export const ERRORS = {
  down: failure(500, 'server_error', 'internal error'),
  overloaded: failure(529, 'overloaded_error', 'Overloaded'),
  limited: failure(429, 'rate_limit_exceeded', 'slow down'),
  quota: failure(429, 'insufficient_quota', 'You exceeded your current quota'),
  wrong: failure(400, 'invalid_type', 'Invalid type for temperature'),
  missing: failure(404, 'model_not_found', 'The model does not exist'),
  tooLong: failure(400, 'context_length_exceeded', 'maximum context length is 8192 tokens'),
  filtered: failure(400, 'content_filter', 'content management policy'),
  auth: failure(401, 'invalid_api_key', 'Incorrect API key provided'),
} as const

const kinds = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Kind>('ok') },
  {
    weight: 7,
    arbitrary: fc.constantFrom<Kind>(
      ...(Object.keys(ERRORS) as Kind[]),
      'down',
      'down',
      'limited',
      'tooLong',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom<Kind>('hang', 'throws', 'empty', 'defect') },
)
const answer = fc.record({
  kind: kinds,
  afterMs: fc.oneof(fc.constant(0), fc.nat(400)),
  retryAfterMs: fc.oneof(fc.constant(0), fc.nat(3000)),
})
const target: fc.Arbitrary<TargetPlan> = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 8, size: 'max' }),
  breaker: fc.option(
    fc.record({
      threshold: fc.integer({ min: 1, max: 3 }),
      cooldownMs: fc.integer({ min: 0, max: 2000 }),
      halfOpenProbes: fc.integer({ min: 1, max: 2 }),
      shared: fc.nat(3).map((n) => n === 0),
      backoff: fc.boolean(),
    }),
    { freq: 6 },
  ),
  maxRetries: fc.nat(2),
  baseMs: fc.constantFrom(0, 50, 300),
  maxMs: fc.constantFrom(0, 500, 2000),
  timeoutMs: fc.integer({ min: 100, max: 1000 }),
})
const hops = fc.array(fc.uniqueArray(fc.nat(3), { maxLength: 3 }), { minLength: 4, maxLength: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      at: fc.nat(5000),
      deadlineMs: fc.option(fc.integer({ min: 1, max: 3000 }), { freq: 2 }),
      abortMs: fc.option(fc.nat(1500), { freq: 2 }),
      targets: fc.option(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 1 }), { freq: 2 }),
      noFallback: fc.nat(3).map((n) => n === 0),
      bypass: fc.nat(3).map((n) => n === 0),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('open' as const, 'close' as const),
      at: fc.nat(5000),
      target: fc.nat(3),
      hold: fc.boolean(),
      ttlMs: fc.option(fc.integer({ min: 1, max: 3000 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('reconfigure' as const), at: fc.nat(5000) }),
  },
)
export const plans: fc.Arbitrary<Plan> = fc.record({
  targets: fc.array(target, { minLength: 1, maxLength: 4, size: 'max' }),
  whenAllOpen: fc.oneof(
    fc.constantFrom('fail' as const, 'last-resort' as const),
    fc.nat(3000).map((waitMs) => ({ waitMs })),
  ),
  budget: fc.constantFrom(
    false as const,
    { capacity: 3, perCall: 0 },
    { capacity: 2, perCall: 0.5 },
    { capacity: 10, perCall: 0.2 },
  ),
  deadlineMs: fc.option(fc.integer({ min: 1, max: 3000 }), { freq: 3 }),
  window: hops,
  policy: hops,
  fallbackOn: fc.constantFrom(
    'none' as const,
    'none' as const,
    'stop-quota' as const,
    'next-invalid' as const,
  ),
  recorded: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 16, size: 'max' }),
  seed: fc.nat(),
})
