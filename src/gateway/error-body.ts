import { classify } from '../classify/classify.ts'
import { FallbackExhaustedError, isSwitchgearError } from '../core/errors.ts'
import { attemptsOf } from './attempt-notes.ts'
import type { AttemptNote } from './attempt-notes.ts'
import type { CallRequest } from './call-request.ts'
import type { ErrorFacts, ErrorShape } from './error-shape.ts'
import { headersToClient, refusalHeaders } from './headers.ts'
import { UpstreamError } from './upstream-error.ts'

/** An answer in one piece, ready to be sent. */
export interface Reply {
  readonly status: number
  /** Name, value, name, value … */
  readonly headers: readonly string[]
  readonly body: string | Buffer
}

/** Kinds that only the client can mend: it gets the provider's own words. */
const CALLERS_FAULT = new Set(['invalid_request', 'context_window', 'content_policy'])

const STATUS: Readonly<Record<string, number>> = {
  circuit_open: 503,
  overloaded: 503,
  quota_exhausted: 503,
  local_rate_limit: 503,
  budget: 503,
  rate_limit: 429,
  timeout: 504,
  first_content_timeout: 504,
  idle_timeout: 504,
  defect: 500,
}

const JSON_TYPE = ['content-type', 'application/json; charset=utf-8']

/** The answer to a call that got none. */
export function errorReply(error: unknown, call: CallRequest): Reply {
  const theirs = callersFault(error, call)
  if (theirs !== undefined && (theirs.bytes !== undefined || isWritable(theirs.body)))
    return providersOwn(theirs)
  const retryAfterMs = isSwitchgearError(error) ? error.retryAfterMs : classify(error).retryAfterMs
  return factsReply(factsOf(error, call), call.endpoint.errors, refusalHeaders(retryAfterMs))
}

/** An event for a stream that breaks after its first byte; `before` = what was delivered last. No end marker follows. */
export function errorEvent(error: unknown, call: CallRequest, before: string): string {
  const { errors } = call.endpoint
  const theirs = callersFault(error, call)?.body
  const body = hasError(theirs) && isWritable(theirs) ? theirs : errors.body(factsOf(error, call))
  return errors.event(body, before)
}

/** An error of the gateway itself, in the shape of an endpoint. */
export function factsReply(facts: ErrorFacts, shape: ErrorShape, headers: readonly string[] = []): Reply {
  return {
    status: facts.status,
    headers: [...JSON_TYPE, ...headers],
    body: JSON.stringify(shape.body(facts)),
  }
}

function factsOf(error: unknown, call: CallRequest): ErrorFacts {
  const attempts = attemptsOf(error, call)
  const note = attempts.at(-1)
  const own = isSwitchgearError(error)
  const message = own
    ? error.message
    : note === undefined
      ? 'The gateway failed.'
      : `Target '${note.target}' failed: ${[note.failure, note.status ?? note.code].filter(Boolean).join(', ')}.`
  const code = own ? error.code : (note?.failure ?? 'internal_error')
  return { status: statusOf(error, attempts), code, message, switchgear: { call: call.id, attempts } }
}

/** What a provider says of a request that only the client can mend. */
function callersFault(error: unknown, { model, sent }: CallRequest): UpstreamError | undefined {
  const last = error instanceof FallbackExhaustedError ? error.cause : error
  if (!(last instanceof UpstreamError)) return undefined
  const { failure } = classify(last)
  // a model that the client chose and the provider does not know
  const unknownModel = failure === 'not_found' && model !== undefined && sent.at(-1)?.model === model
  return unknownModel || CALLERS_FAULT.has(failure) ? last : undefined
}

/** What could be read may be too deep to be written. */
function isWritable(body: unknown): boolean {
  try {
    JSON.stringify(body)
    return true
  } catch {
    return false
  }
}

const hasError = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && 'error' in body

function providersOwn({ status, headers, body, bytes }: UpstreamError): Reply {
  // an error inside of a 200 is none to the client's library
  const isAnswer =
    status < 400 && bytes !== undefined && typeof body === 'object' && body !== null && !hasError(body)
  const kept = headersToClient(headers)
  return {
    status: status >= 400 || isAnswer ? status : 400,
    // the client's library would send it again, and get the same
    headers: [...(kept.includes('content-type') ? [] : JSON_TYPE), 'x-should-retry', 'false', ...kept],
    body: bytes ?? JSON.stringify(body),
  }
}

function statusOf(error: unknown, notes: readonly AttemptNote[]): number {
  const code = isSwitchgearError(error) ? error.code : undefined
  if (code === 'ERR_DEADLINE_EXCEEDED') return 504
  if (code === 'ERR_CLOSED' || code === 'ERR_REGISTRY_FULL') return 503
  if (code === 'ERR_STREAM_INTERRUPTED') return 502
  if (notes.length === 0) return 500
  const all = new Set(notes.map(({ failure }) => STATUS[failure] ?? 502))
  const [only = 502] = all
  if (all.size === 1) return only
  // a refusal says nothing new: what the others came to decides, unless they differ, too
  const asked = new Set(
    notes.filter(({ outcome }) => outcome === 'failed').map(({ failure }) => STATUS[failure] ?? 502),
  )
  const [told = 503] = asked
  return notes.some(({ outcome }) => outcome === 'refused') ? 503 : asked.size === 1 ? told : 502
}
