import type { SupervisorRef } from '../../core/host.ts'
import type { CircuitBreaker } from '../../core/circuit-breaker.ts'
import type { CircuitOpenError } from '../../core/errors.ts'
import { SwitchgearError } from '../../core/errors.ts'
import { asksModel, readAsk } from './ask.ts'
import type { Ask } from './ask.ts'
import { placeOf } from './bucket.ts'
import { HttpFailure, peekText } from './http-failure.ts'
import { JsonWatch } from './json-watch.ts'
import { resolveOptions } from './options.ts'
import type { Around, BreakerFetchOptions } from './options.ts'
import { refusalResponse } from './refusal-response.ts'
import { Source } from './source.ts'
import { SseWatch } from './sse-watch.ts'
import { Visit } from './visit.ts'
import { noWatch } from './watch.ts'
import type { Watch } from './watch.ts'
import { watchedResponse } from './watched-response.ts'

/** Any function that is called like fetch. */
export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

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

  const call: FetchLike = async (input, init) => {
    if (closed) throw new SwitchgearError('ERR_CLOSED', 'This breakerFetch is closed.')
    const ask = readAsk(input, init)
    if (ask.url === undefined) return send(input, init)
    const place = await placeOf(ask, ask.url, around)
    if (ask.signal?.aborted === true) throw ask.signal.reason
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
    get: (bucket) => buckets.obtain(bucket, rules),
    names: () => buckets.names(),
    get size() {
      return buckets.size
    },
    supervisor: buckets.supervisor,
  }
  return Object.assign(call, { registry, close, [Symbol.dispose]: close })
}

async function run(send: FetchLike, ask: Ask, visit: Visit, around: Around): Promise<Response> {
  let answer: Promise<Response> | undefined
  try {
    answer = send(ask.input, { ...ask.init, signal: visit.signal })
    const response = await visit.wait(answer)
    visit.headersCame()
    return await watch(response, ask, visit, around)
  } catch (error) {
    visit.fail(error)
    visit.finish()
    // a fetch that did not listen to its signal may still answer
    if (visit.isCut) answer?.then((late) => late.body?.cancel()).catch(() => {})
    throw error
  }
}

/** Judges what the headers tell, and has the body watched for the rest. */
async function watch(response: Response, ask: Ask, visit: Visit, around: Around): Promise<Response> {
  const source = new Source(response)
  // another implementation of fetch may have another kind of body
  const readable = typeof response.body?.getReader === 'function'
  if (response.status >= 400) {
    visit.fail(new HttpFailure(response, readable ? await peekText(source, visit, around) : ''))
  }
  const watch = readable ? watchOf(response, ask, visit) : undefined
  if (watch === undefined && !visit.settled) visit.succeed()
  if (readable) return watchedResponse(response, source, visit, watch ?? noWatch)
  visit.finish()
  return response
}

/** Undefined where the headers are all that tells. */
function watchOf(response: Response, ask: Ask, visit: Visit): Watch | undefined {
  if (visit.settled || !response.ok || ask.method !== 'POST') return undefined
  const type = response.headers.get('content-type')?.toLowerCase() ?? ''
  const known = asksModel(ask)
  if (type.startsWith('text/event-stream')) return new SseWatch(visit, known)
  if (/^application\/(?:[^;]*\+)?json\b/.test(type)) return new JsonWatch(visit, known)
  if (known && type.startsWith('text/html')) {
    const { bucket: target, model } = visit.place
    const text = `'${target}' answered with a web page.`
    visit.failAs('malformed_response', new SwitchgearError('ERR_EMPTY_RESPONSE', text, { target, model }))
  }
  return undefined
}
