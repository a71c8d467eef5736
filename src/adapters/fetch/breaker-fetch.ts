import type { SupervisorRef } from '../../core/host.ts'
import type { CircuitBreaker } from '../../core/circuit-breaker.ts'
import type { CircuitOpenError } from '../../core/errors.ts'
import { SwitchgearError } from '../../core/errors.ts'
import { checkName } from '../../core/validate.ts'
import { readAsk } from './ask.ts'
import { placeOf } from './bucket.ts'
import { resolveOptions } from './options.ts'
import type { BreakerFetchOptions, FetchLike } from './options.ts'
import { refusalResponse } from './refusal-response.ts'
import { run } from './run.ts'
import { Visit } from './visit.ts'

/** The breakers behind a {@link BreakerFetch}, by bucket. */
export interface FetchRegistry {
  /** The breaker of a bucket, made on first use: to read `getStatus()`, to `open()` or `close()` by hand. */
  get(bucket: string): CircuitBreaker
  names(): string[]
  readonly size: number
  /** The XState root actor, for inspection. */
  readonly supervisor: SupervisorRef
}

/** A fetch behind circuit breakers. */
export interface BreakerFetch extends FetchLike, Disposable {
  readonly registry: FetchRegistry
  /** Ends every breaker and timer; a later call rejects with `ERR_CLOSED`. Requests under way go on unwatched. */
  close(): void
}

/**
 * Puts a circuit breaker in front of fetch: the one line that protects an existing SDK client. A breaker only: it
 * neither retries nor falls back, and each request is one visit.
 *
 * - A status from 400 counts as the classifier says, with Retry-After; a caller's abort and 404 in a shared bucket are
 *   neutral. To wait for the error's body takes a second at most.
 * - An event stream succeeds at its terminal event. An error event, a drop or a silence beyond the limits is a failure;
 *   an end without terminal event is one too, and reaches the reader as `ERR_TRUNCATED_STREAM`.
 * - A JSON answer to a POST succeeds when it was read to its end and is not empty.
 * - GET, HEAD, answers without a body and other content types succeed at their headers.
 * - A body that is cancelled, or forgotten and collected, is neutral. One that is kept unread settles nothing; a
 *   probe's lease covers it.
 *
 * Give time limits here rather than to the SDK or by `AbortSignal.timeout`: those look like a caller's abort. A URL
 * without a host goes through unprotected.
 *
 * @param fetch What sends. Default: the global fetch, looked up at each call.
 * @returns fetch, which also rejects with `CircuitOpenError` (`whenOpen: 'throw'`) and `AttemptTimeoutError`
 * @throws RangeError for a number out of its range
 * @throws ConfigError for an unknown option or word, or a conflict
 * @example
 * ```ts
 * import OpenAI from 'openai'
 * import { breakerFetch } from 'switchgear/fetch'
 *
 * const client = new OpenAI({ fetch: breakerFetch({ whenOpen: 'respond', threshold: 3 }) })
 * ```
 */
export function breakerFetch(options?: BreakerFetchOptions): BreakerFetch
export function breakerFetch(fetch: FetchLike | undefined, options?: BreakerFetchOptions): BreakerFetch
export function breakerFetch(
  first?: FetchLike | BreakerFetchOptions,
  second?: BreakerFetchOptions,
): BreakerFetch {
  const send: FetchLike = typeof first === 'function' ? first : (input, init) => globalThis.fetch(input, init)
  const around = resolveOptions((typeof first === 'function' ? undefined : first) ?? second ?? {})
  const { buckets, limits, rules } = around
  let closed = false
  let refusals = 0

  const checkOpen = () => {
    if (closed) throw new SwitchgearError('ERR_CLOSED', 'This breakerFetch is closed.')
  }
  const call: FetchLike = async (input, init) => {
    checkOpen()
    const ask = readAsk(input, init)
    if (ask.url === undefined) return send(input, init)
    const place = await placeOf(ask, ask.url, around)
    if (ask.signal?.aborted === true) throw ask.signal.reason
    checkOpen()
    const breaker = buckets.obtain(place.bucket, rules, rules.isolateByModel ? place.model : undefined)
    const permit = breaker.tryAcquire()
    if (permit.admitted) return run(send, ask, new Visit(around, place, breaker, permit, ask.signal), around)
    const refusal = breaker.refusalError(permit, place.bucket, place.model) as CircuitOpenError
    if (around.whenOpen === 'throw') throw refusal
    const id = `req_switchgear_${around.clock.now().toString(36)}_${++refusals}`
    return refusalResponse(ask, ask.url, refusal, id)
  }
  const close = () => {
    closed = true
    limits.close()
    buckets.close()
  }
  const registry: FetchRegistry = {
    get(bucket) {
      checkOpen()
      return buckets.obtain(checkName('bucket', bucket), rules)
    },
    names: () => buckets.names(),
    get size() {
      return buckets.size
    },
    supervisor: buckets.supervisor,
  }
  return Object.assign(call, { registry, close, [Symbol.dispose]: close })
}
