import type { CircuitOpenError } from '../../core/errors.ts'
import { sendsHeader } from './ask.ts'
import type { Ask } from './ask.ts'
import { likeness } from './watched-response.ts'

/**
 * A refusal as an answer of the provider: 503 that `openai` and `@anthropic-ai/sdk` do not retry, with an error body in
 * the provider's own shape.
 */
export function refusalResponse(ask: Ask, url: URL, error: CircuitOpenError, requestId: string): Response {
  const { message, code, retryAfterMs } = error
  const headers = new Headers({
    'content-type': 'application/json',
    'x-should-retry': 'false',
    'x-request-id': requestId,
    'request-id': requestId,
  })
  if (retryAfterMs !== undefined) {
    headers.set('retry-after', String(Math.ceil(retryAfterMs / 1000)))
    headers.set('retry-after-ms', String(Math.ceil(retryAfterMs)))
  }
  const anthropic = /\/v1\/messages\/?$/.test(url.pathname) || sendsHeader(ask, 'anthropic-version')
  const body = anthropic
    ? { type: 'error', error: { type: 'overloaded_error', message, code }, request_id: requestId }
    : { error: { message, type: 'circuit_open', param: null, code } }
  const response = new Response(JSON.stringify(body), {
    status: 503,
    statusText: 'Service Unavailable',
    headers,
  })
  return likeness(response, { url: url.href, redirected: false, type: 'basic' })
}
