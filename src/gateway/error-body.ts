import { classify } from '../classify/classify.ts'
import { FallbackExhaustedError, isSwitchgearError } from '../core/errors.ts'
import { BadRequest } from './chat-request.ts'
import type { ChatRequest } from './chat-request.ts'
import { headersToClient, refusalHeaders } from './headers.ts'
import { UpstreamError } from './upstream-error.ts'

/** What one attempt, or one refusal, came to: kinds, codes and numbers, never a provider's text. */
export interface AttemptNote {
  readonly target: string | undefined
  readonly model: string | undefined
  readonly outcome: 'refused' | 'failed'
  readonly failure: string
  /** The HTTP status of the provider. */
  readonly status?: number
  /** The code of the error. */
  readonly code?: string
  readonly retryAfterMs?: number
}

export interface ErrorReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
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

/** The answer to a call that got none. */
export function errorReply(error: unknown, chat: ChatRequest | undefined): ErrorReply {
  if (error instanceof BadRequest) {
    return plainError(400, 'invalid_request_error', 'invalid_request', error.message, error.param)
  }
  const last = error instanceof FallbackExhaustedError ? error.cause : error
  if (last instanceof UpstreamError && isCallersFault(last, chat)) return providersOwn(last)
  const notes = attemptsOf(error, chat)
  const status = statusOf(error, notes)
  const retryAfterMs = isSwitchgearError(error) ? error.retryAfterMs : classify(error).retryAfterMs
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...refusalHeaders(retryAfterMs) },
    body: JSON.stringify(errorBody(error, notes, status, chat?.id)),
  }
}

/** An event for a stream that breaks after its first content. It never ends with `[DONE]`. */
export function errorEvent(error: unknown, chat: ChatRequest): string {
  return `data: ${JSON.stringify(errorBody(error, attemptsOf(error, chat), 502, chat.id))}\n\n`
}

/** An error of the gateway itself, in the shape of OpenAI's. */
export function plainError(
  status: number,
  type: string,
  code: string,
  message: string,
  param: string | null = null,
): ErrorReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ error: { message, type, param, code } }),
  }
}

function errorBody(
  error: unknown,
  attempts: readonly AttemptNote[],
  status: number,
  call: string | undefined,
): object {
  const note = attempts.at(-1)
  const own = isSwitchgearError(error)
  const message = own
    ? error.message
    : note === undefined
      ? 'The gateway failed.'
      : `Target '${note.target}' failed: ${[note.failure, note.status ?? note.code].filter(Boolean).join(', ')}.`
  const code = own ? error.code : (note?.failure ?? 'internal_error')
  const type = status === 429 ? 'rate_limit_error' : 'server_error'
  return { error: { message, type, param: null, code }, switchgear: { call, attempts } }
}

function isCallersFault(error: UpstreamError, chat: ChatRequest | undefined): boolean {
  const { failure } = classify(error)
  // a model that the client chose and the provider does not know
  if (failure === 'not_found') return chat?.model !== undefined && chat.sent.at(-1)?.model === chat.model
  return CALLERS_FAULT.has(failure)
}

function providersOwn({ status, headers, body, bytes }: UpstreamError): ErrorReply {
  // an error inside of a 200 is none to the client's library
  const isAnswer =
    status < 400 && bytes !== undefined && typeof body === 'object' && body !== null && !('error' in body)
  return {
    status: status >= 400 || isAnswer ? status : 400,
    // the client's library would send it again, and get the same
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-should-retry': 'false',
      ...headersToClient(headers),
    },
    body: bytes ?? JSON.stringify(body),
  }
}

function attemptsOf(error: unknown, chat: ChatRequest | undefined): AttemptNote[] {
  if (error instanceof FallbackExhaustedError) {
    return error.attempts.map(({ target, model, outcome, failure, retryAfterMs, error: cause }) => ({
      target,
      model,
      outcome: outcome === 'refused' ? 'refused' : 'failed',
      failure,
      ...codesOf(cause),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }))
  }
  if (isSwitchgearError(error) && error.code === 'ERR_CIRCUIT_OPEN') {
    const { target, model, retryAfterMs, code } = error
    return [
      {
        target,
        model,
        outcome: 'refused',
        failure: 'circuit_open',
        code,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      },
    ]
  }
  const notes = (chat?.failed ?? []).map((failed): AttemptNote => ({ ...failed, outcome: 'failed' }))
  const last = notes.pop()
  const cut = chat?.sent.length === notes.length + (last === undefined ? 1 : 2) ? chat.sent.at(-1) : undefined
  if (last !== undefined) notes.push(cut === undefined ? { ...last, ...codesOf(error) } : last)
  // the deadline cut this one off before it could fail
  if (cut !== undefined) notes.push({ ...cut, outcome: 'failed', failure: 'timeout', ...codesOf(error) })
  return notes
}

function codesOf(error: unknown): { status?: number; code?: string } {
  if (error instanceof UpstreamError) return { status: error.status }
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? { code } : {}
}

function statusOf(error: unknown, notes: readonly AttemptNote[]): number {
  const code = isSwitchgearError(error) ? error.code : undefined
  if (code === 'ERR_DEADLINE_EXCEEDED') return 504
  if (code === 'ERR_CLOSED' || code === 'ERR_REGISTRY_FULL') return 503
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
