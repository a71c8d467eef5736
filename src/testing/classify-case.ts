import { classify } from '../classify/classify.ts'
import { verdictOf } from '../classify/failure-table.ts'
import { classifyEvent, failureOfStreamEnd, hasContent } from '../classify/stream-parts.ts'
import type { ClassifyContext, Verdict } from '../classify/verdict.ts'

/** An error in JSON. `null` stands for `undefined`; `cause` nests. */
export interface ErrorShape {
  readonly name?: string | null
  readonly message?: string | null
  readonly cause?: ErrorShape | null
  readonly [property: string]: unknown
}

/** A recorded failure, as JSON can hold it. */
export type CaseInput =
  /** An answer over HTTP: header names in lower case, body as JSON or text. */
  | {
      readonly kind: 'http'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: unknown
    }
  /** What a client library threw: its class and its own properties (`props.name` is the error's own `name`). */
  | { readonly kind: 'sdk'; readonly className: string; readonly props: ErrorShape }
  /** The parsed events of a stream in order; after the last one the connection closed cleanly. */
  | {
      readonly kind: 'stream'
      readonly events: readonly { readonly event?: string; readonly data?: unknown }[]
    }
  /** What Node threw, with its chain of causes. */
  | ({ readonly kind: 'node' } & ErrorShape)

/** What the failure itself cannot tell; absent means no. */
export interface CaseContext {
  /** The caller's own signal fired. */
  readonly callerAborted?: boolean
  /** The option whose limit fired. */
  readonly ownLimit?: 'timeoutMs' | 'firstContentTimeoutMs' | 'idleTimeoutMs'
  /** Default `model`. */
  readonly surface?: 'model' | 'tool'
  /** The user's detector said yes. */
  readonly detectSoftFailure?: boolean
}

const limits = {
  timeoutMs: 'timeout',
  firstContentTimeoutMs: 'first_content_timeout',
  idleTimeoutMs: 'idle_timeout',
} as const

function toContext({ callerAborted, ownLimit, surface, detectSoftFailure }: CaseContext): ClassifyContext {
  return {
    ...(callerAborted === undefined ? {} : { callerAborted }),
    ...(ownLimit === undefined ? {} : { ownLimit: limits[ownLimit] }),
    ...(surface === undefined ? {} : { surface }),
    ...(detectSoftFailure === undefined ? {} : { softFailure: detectSoftFailure }),
  }
}

type ErrorClass = new (message?: string) => Error

const builtIns: Readonly<Record<string, ErrorClass>> = {
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  Error,
}

const classNamed = (name: string): ErrorClass =>
  builtIns[name] ?? ({ [name]: class extends Error {} }[name] as ErrorClass)

const isCause = (value: unknown): value is ErrorShape => typeof value === 'object' && value !== null

function define(error: Error, properties: Readonly<Record<string, unknown>>): Error {
  for (const [key, value] of Object.entries(properties)) {
    const shown = key === 'cause' && isCause(value) ? toError(value) : (value ?? undefined)
    Object.defineProperty(error, key, { value: shown, enumerable: true, configurable: true, writable: true })
  }
  return error
}

function toError({ name, message, ...rest }: ErrorShape): Error {
  const { kind: _kind, ...properties } = rest
  // A DOMException brings its own code, which cannot be set.
  if (name === 'AbortError' || name === 'TimeoutError') return new DOMException(message ?? '', name)
  const error = new (classNamed(name ?? 'Error'))(message ?? undefined)
  return define(error, name && !(name in builtIns) ? { ...properties, name } : properties)
}

/**
 * Builds what a client would throw for a recorded failure. A stream has no such error: it is walked by
 * {@link classifyCase}.
 */
export function toThrown(input: Exclude<CaseInput, { kind: 'stream' }>): unknown {
  if (input.kind === 'node') return toError(input)
  if (input.kind === 'sdk') {
    const { message, ...props } = input.props
    return define(new (classNamed(input.className))(message ?? undefined), props)
  }
  const { status, headers = {}, body } = input
  return Object.assign(new Error(`Request failed with status code ${status}`), {
    status,
    headers: new Headers(headers),
    body,
  })
}

function classifyStream(events: readonly { readonly data?: unknown }[], context: ClassifyContext): Verdict {
  let content = false
  for (const { data } of events) {
    const part = classifyEvent(data)
    if (part === 'error') return classify(data, context)
    content ||= hasContent(data)
    if (part !== 'terminal') continue
    return verdictOf(failureOfStreamEnd({ content, terminal: data }) ?? 'unknown')
  }
  return verdictOf(failureOfStreamEnd({ content, terminal: undefined }) ?? 'unknown')
}

/**
 * Classifies a recorded failure: builds the error a real client would throw, or walks the stream, and asks `classify`.
 * A stream without a fault is no failure; it comes back as `unknown`.
 *
 * @example classifyCase({ kind: 'http', status: 429, headers: { 'retry-after': '2' } }).retryAfterMs // 2000
 */
export function classifyCase(input: CaseInput, context: CaseContext = {}): Verdict {
  const known = toContext(context)
  return input.kind === 'stream' ? classifyStream(input.events, known) : classify(toThrown(input), known)
}
