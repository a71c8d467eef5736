import { FallbackExhaustedError, isSwitchgearError } from '../core/errors.ts'
import type { CallRequest } from './call-request.ts'
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

/** What a call without an answer went through, in order. */
export function attemptsOf(error: unknown, call: CallRequest): AttemptNote[] {
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
    const wait = retryAfterMs !== undefined && { retryAfterMs }
    return [{ target, model, outcome: 'refused', failure: 'circuit_open', code, ...wait }]
  }
  return asked(error, call)
}

function asked(error: unknown, { sent, failed }: CallRequest): AttemptNote[] {
  const notes = failed.map((one): AttemptNote => ({ ...one, outcome: 'failed' }))
  // the deadline, or the end of the gateway, cut this one off before it could fail
  const cut = sent.length === failed.length + 1 ? sent.at(-1) : undefined
  if (cut !== undefined) {
    const failure = isSwitchgearError(error) && error.code === 'ERR_CLOSED' ? 'aborted' : 'timeout'
    return [...notes, { ...cut, outcome: 'failed', failure, ...codesOf(error) }]
  }
  const last = notes.pop()
  return last === undefined ? [] : [...notes, { ...last, ...codesOf(error) }]
}

function codesOf(error: unknown): { status?: number; code?: string } {
  if (error instanceof UpstreamError) return { status: error.status }
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? { code } : {}
}
