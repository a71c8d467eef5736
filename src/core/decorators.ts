import type { Verdict } from '../classify/verdict.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'
import { BREAKER_KEYS } from './breaker-options.ts'
import type { CircuitBreakerOptions } from './breaker-options.ts'
import type { RuntimeOptions } from './create-breaker.ts'
import { ConfigError } from './errors.ts'
import { causeInWords } from './explain.ts'
import { createSwitchgear } from './switchgear.ts'
import type { Switchgear } from './switchgear.ts'
import type { CallOptions } from './switchgear-options.ts'
import type { RetryOptions, TargetOptions } from './target-options.ts'
import type { Transition } from './transition.ts'
import { checkFunction, checkKeys, checkNumber, checkObject } from './validate.ts'

/** What a decorator tells of a call, through the hooks that came with it. */
export interface CircuitChangedReport {
  readonly kind: 'circuit-changed'
  readonly provider: string
  readonly from: CircuitState
  readonly to: CircuitState
  readonly reason: string
}

/** Hooks of one call. They are handed on inward; what else they carry stays untouched. */
export interface CallHooks {
  readonly signal?: AbortSignal
  /** Hears what happens to the circuit because of this call. */
  readonly onReport?: (report: CircuitChangedReport & Record<string, unknown>) => void
  /** Ids of the caller's own: every report carries them. */
  readonly ids?: Readonly<Record<string, unknown>>
}

/** Anything that answers a request, in one piece or in parts. */
export interface Provider<Request, Result, Part = unknown> {
  readonly name: string
  complete(request: Request, hooks?: CallHooks): Promise<Result>
  stream?(request: Request, hooks?: CallHooks): AsyncIterable<Part>
}

type Plain<Request, Result> = (request: Request, hooks?: CallHooks) => Promise<Result>

/** A provider, or a plain async function. */
export type Decoratable<Request, Result, Part = unknown> =
  | Provider<Request, Result, Part>
  | Plain<Request, Result>

/** Options of {@link withCircuitBreaker}: those of a breaker, also under the names that decorators elsewhere use. */
export interface WithCircuitBreakerOptions
  extends Omit<CircuitBreakerOptions, 'onStateChange' | 'shouldCount'>, RuntimeOptions {
  /** Failures in a row that open the circuit; another name of `threshold`. Default 5. */
  readonly failureThreshold?: number
  /** Successful probes, one at a time, that close the circuit. Default 2. */
  readonly halfOpenSuccessThreshold?: number
  readonly shouldCount?: (error: unknown, verdict: Verdict) => boolean
  readonly onStateChange?: (state: CircuitState, reason: string) => void
}

interface Passed<Request> {
  readonly request: Request
  readonly hooks: CallHooks | undefined
}

type Inner<Request, Result, Part> = TargetOptions<Passed<Request>, Result, Part>

// a decorator has no limits of its own: the innermost knows how long it may take
const NO_LIMITS = {
  timeoutMs: Infinity,
  firstContentTimeoutMs: Infinity,
  idleTimeoutMs: Infinity,
  maxRetries: 0,
}

function toTarget<Request, Result, Part>(
  inner: Decoratable<Request, Result, Part>,
  name: string,
): Inner<Request, Result, Part> {
  const complete = typeof inner === 'function' ? inner : inner.complete.bind(inner)
  const stream = typeof inner === 'function' ? undefined : inner.stream?.bind(inner)
  const inward = (hooks: CallHooks | undefined, signal: AbortSignal): CallHooks => ({ ...hooks, signal })
  return {
    ...NO_LIMITS,
    name,
    invoke: ({ request, hooks }, { signal }) => complete(request, inward(hooks, signal)),
    ...(stream && {
      stream: ({ request, hooks }: Passed<Request>, { signal }: { signal: AbortSignal }) =>
        stream(request, inward(hooks, signal)),
    }),
  }
}

/** @throws ConfigError for what cannot be asked */
function nameOf(inner: Decoratable<never, unknown>): string {
  if (typeof inner === 'function') return inner.name || 'anonymous'
  const { name, complete, stream } = checkObject('provider', inner)
  if (typeof complete !== 'function') {
    const hint = 'Give a function, or an object with complete().'
    throw new ConfigError('provider has no complete().', { path: 'provider', hint })
  }
  checkFunction('provider.stream', stream)
  return typeof name === 'string' && name !== '' ? name : 'anonymous'
}

type Hear = (transition: Transition, hooks: CallHooks) => unknown

/** A provider whose calls run through a switchgear of one purpose. */
function overGear<Request, Result, Part>(
  name: string,
  streams: boolean,
  gear: Switchgear<Passed<Request>, Result, Part>,
  hear?: Hear,
): Provider<Request, Result, Part> {
  const options = (hooks: CallHooks | undefined): CallOptions => ({
    ...(hooks?.signal && { signal: hooks.signal }),
    ...(hooks && hear && { onTransition: (transition) => hear(transition, hooks) }),
  })
  return {
    name,
    complete: (request, hooks) => gear.call({ request, hooks }, options(hooks)),
    ...(streams && {
      stream: (request: Request, hooks?: CallHooks) => gear.stream({ request, hooks }, options(hooks)),
    }),
  }
}

const streamsOf = (inner: Decoratable<never, unknown>) =>
  typeof inner !== 'function' && inner.stream !== undefined

/**
 * A breaker around a provider or a plain async function. `stream()` is decorated alike, `name` passes through.
 *
 * @throws RangeError, ConfigError for options that cannot work
 * @example
 * ```ts
 * const provider = withFallback(
 *   withCircuitBreaker(withRetry(anthropic), { failureThreshold: 5, cooldownMs: 30_000 }),
 *   withCircuitBreaker(openai),
 * )
 * const answer = await provider.complete({ prompt: 'Hello' })
 * ```
 */
export function withCircuitBreaker<Request, Result, Part = unknown>(
  inner: Decoratable<Request, Result, Part>,
  options: WithCircuitBreakerOptions = {},
): Provider<Request, Result, Part> {
  const {
    failureThreshold,
    halfOpenSuccessThreshold,
    onStateChange,
    clock,
    random,
    logger,
    journal,
    ...rules
  } = options
  checkDecorator(options)
  const name = nameOf(inner)
  const hear: Hear = ({ from, to, cause }, { onReport, ids }) =>
    onReport?.({ ...ids, kind: 'circuit-changed', provider: name, from, to, reason: causeInWords(cause) })
  const threshold = failureThreshold === undefined ? {} : { threshold: failureThreshold }
  const told: Pick<CircuitBreakerOptions, 'onStateChange'> = onStateChange
    ? { onStateChange: (_from, to, _failures, _model, { cause }) => onStateChange(to, causeInWords(cause)) }
    : {}
  const circuitBreaker = { ...trialOf(halfOpenSuccessThreshold, rules), ...rules, ...threshold, ...told }
  const runtime = {
    ...(clock && { clock }),
    ...(random && { random }),
    ...(logger && { logger }),
    ...(journal && { journal }),
  }
  const gear = createSwitchgear({
    targets: [{ ...toTarget(inner, name), circuitBreaker }],
    retryBudget: false,
    ...runtime,
  })
  return overGear(name, streamsOf(inner), gear, hear)
}

const SUCCESSES = { min: 1, integer: true }
const DECORATOR_KEYS = [
  'failureThreshold',
  'halfOpenSuccessThreshold',
  'clock',
  'random',
  'logger',
  'journal',
  ...BREAKER_KEYS,
]

function checkDecorator(options: WithCircuitBreakerOptions): void {
  checkKeys('', options, DECORATOR_KEYS)
  const { failureThreshold, halfOpenSuccessThreshold } = options
  if (failureThreshold !== undefined)
    checkNumber('failureThreshold', failureThreshold, { ...SUCCESSES, infinite: true })
  if (halfOpenSuccessThreshold !== undefined)
    checkNumber('halfOpenSuccessThreshold', halfOpenSuccessThreshold, SUCCESSES)
  if (failureThreshold !== undefined && options.threshold !== undefined)
    throw twice('failureThreshold', 'threshold')
  if (halfOpenSuccessThreshold !== undefined && options.halfOpenProbes !== undefined) {
    throw twice('halfOpenSuccessThreshold', 'halfOpenProbes')
  }
}

function trialOf(successes: number | undefined, rules: CircuitBreakerOptions): CircuitBreakerOptions {
  if (rules.halfOpenProbes !== undefined) return {}
  return {
    halfOpenProbes: successes ?? 2,
    halfOpenConcurrency: 1,
    halfOpenSuccessRatio: 1,
    halfOpenVerdict: 'early',
  }
}

const twice = (a: string, b: string) =>
  new ConfigError(`${a} and ${b} are both given.`, { path: a, hint: 'They mean the same; give one of them.' })

export interface WithRetryOptions extends RetryOptions, Omit<RuntimeOptions, 'journal'> {
  /** Attempts after the first; an integer ≥ 0. Default 2. */
  readonly maxRetries?: number
}

/** Retries inside of one visit, as the classifier's table says. A refusal of a breaker below is never retried. */
export function withRetry<Request, Result, Part = unknown>(
  inner: Decoratable<Request, Result, Part>,
  options: WithRetryOptions = {},
): Provider<Request, Result, Part> {
  checkKeys('', options, ['maxRetries', 'baseMs', 'multiplier', 'maxMs', 'clock', 'random', 'logger'])
  const { maxRetries = 2, clock, random, logger, ...retry } = options
  const name = nameOf(inner)
  const runtime = { ...(clock && { clock }), ...(random && { random }), ...(logger && { logger }) }
  const gear = createSwitchgear({
    targets: [{ ...toTarget(inner, name), maxRetries, retry }],
    retryBudget: false,
    ...runtime,
  })
  return overGear(name, streamsOf(inner), gear)
}

/** Asks one after the other, as the classifier's table says. The name is that of the first. */
export function withFallback<Request, Result, Part = unknown>(
  ...providers: [Decoratable<Request, Result, Part>, ...Decoratable<Request, Result, Part>[]]
): Provider<Request, Result, Part> {
  const targets = providers.map((inner, i) =>
    toTarget(inner, i === 0 ? nameOf(inner) : `${nameOf(inner)} (fallback ${i})`),
  )
  const gear = createSwitchgear({ targets, retryBudget: false })
  return overGear(nameOf(providers[0]), providers.every(streamsOf), gear)
}
