import type { ClassifyContext, OwnVerdict } from '../../classify/verdict.ts'
import { BREAKER_KEYS, resolveBreaker } from '../../core/breaker-options.ts'
import type { CircuitBreakerOptions, ResolvedBreaker } from '../../core/breaker-options.ts'
import { Buckets } from '../../core/buckets.ts'
import type { RegistryLimits } from '../../core/buckets.ts'
import type { Clock } from '../../core/clock.ts'
import { takeRuntime } from '../../core/create-breaker.ts'
import type { RuntimeOptions } from '../../core/create-breaker.ts'
import { Limits } from '../../core/limits.ts'
import type { LimitQueue } from '../../core/limits.ts'
import { Notifier } from '../../core/notifier.ts'
import { tellTransition } from '../../core/tell-transition.ts'
import { checkFunction, checkKeys, checkNumber, checkWord } from '../../core/validate.ts'

/** Any function that is called like fetch. */
export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * Options of `breakerFetch`. The rules of a breaker hold for every bucket alike. Every duration is in ms; Infinity
 * switches a limit off.
 */
export interface BreakerFetchOptions
  extends Omit<CircuitBreakerOptions, 'snapshot'>, RegistryLimits, RuntimeOptions {
  /**
   * How a refusal looks. `throw` rejects with a `CircuitOpenError`: right for the AI SDK, `@google/genai`, MCP and plain
   * fetch. `respond` answers 503 with `x-should-retry: false`: right for `openai` and `@anthropic-ai/sdk`, which retry
   * what is thrown. Default `throw`.
   */
  readonly whenOpen?: 'throw' | 'respond'
  /**
   * Names the breaker of a request. `model` is read from a JSON body or from the path; undefined = it names none.
   * Default: the host with its port; under `isolateByModel` followed by `/` and the model.
   */
  readonly bucket?: (url: URL, model: string | undefined) => string
  /** Until the headers. > 0. Default 60 000. An answer that is not streamed sends them when it is complete. */
  readonly timeoutMs?: number
  /** From the first read of the body to the first content, while a read waits. > 0. Default 30 000. */
  readonly firstContentTimeoutMs?: number
  /** Between two signs of life after the first content, while a read waits. > 0. Default 30 000. */
  readonly idleTimeoutMs?: number
  /** Answers for the classifier; undefined = the table decides. */
  readonly classify?: (error: unknown, context: ClassifyContext) => OwnVerdict | undefined
}

/** Everything that one `breakerFetch` shares between its calls. */
export interface Around {
  readonly whenOpen: 'throw' | 'respond'
  readonly bucket: BreakerFetchOptions['bucket']
  readonly classify: BreakerFetchOptions['classify']
  readonly rules: ResolvedBreaker
  readonly buckets: Buckets
  readonly clock: Clock
  readonly notifier: Notifier
  readonly limits: Limits
  readonly timeout: LimitQueue | undefined
  readonly firstContent: LimitQueue | undefined
  readonly idle: LimitQueue | undefined
}

const LEASE_MARGIN_MS = 10_000

const FETCH_KEYS = [
  ...['whenOpen', 'bucket', 'classify', 'timeoutMs', 'firstContentTimeoutMs', 'idleTimeoutMs'],
  ...['maxBuckets', 'idleMs', 'clock', 'random', 'logger', 'journal'],
  ...BREAKER_KEYS.filter((key) => key !== 'snapshot'),
]

/** Checks the options and makes what they describe. */
export function resolveOptions(options: BreakerFetchOptions): Around {
  checkKeys('', options, FETCH_KEYS)
  const { whenOpen, bucket, classify, timeoutMs, firstContentTimeoutMs, idleTimeoutMs, ...rest } = options
  const { maxBuckets, idleMs, clock: _c, random: _r, logger: _l, journal: _j, ...own } = rest
  const { clock, random, logger, journal } = takeRuntime(rest)
  const limitOf = (name: string, value: number) => checkNumber(name, value, POSITIVE)
  const durations = [
    limitOf('timeoutMs', timeoutMs ?? 60_000),
    limitOf('firstContentTimeoutMs', firstContentTimeoutMs ?? 30_000),
    limitOf('idleTimeoutMs', idleTimeoutMs ?? 30_000),
  ] as const
  const resolved = resolveBreaker(own)
  // a probe that our own limits still allow to be silent is not lost
  const longest = Math.max(0, ...durations.filter((ms) => ms !== Infinity))
  const rules =
    resolved.leaseIsDefault && longest > 0
      ? { ...resolved, probeLeaseMs: longest + LEASE_MARGIN_MS }
      : resolved
  const notifier = new Notifier(logger)
  const bounds = { ...(maxBuckets !== undefined && { maxBuckets }), ...(idleMs !== undefined && { idleMs }) }
  const buckets = new Buckets(
    { clock, random, notifier, journal },
    bounds,
    tellTransition(rules.onStateChange, notifier),
  )
  const limits = new Limits(clock)
  return {
    whenOpen: checkWord('whenOpen', whenOpen ?? 'throw', ['throw', 'respond']),
    bucket: checkFunction('bucket', bucket),
    classify: checkFunction('classify', classify),
    rules,
    buckets,
    clock,
    notifier,
    limits,
    timeout: limits.of(durations[0]),
    firstContent: limits.of(durations[1]),
    idle: limits.of(durations[2]),
  }
}

const POSITIVE = { min: 0, above: true, infinite: true }
