import { isBag } from './shape.ts'
import type { ScriptEntry } from './scenario.ts'

/** An error as SDKs throw it for an HTTP answer: `status`, `headers`, and the body's `error`. */
export function httpError({ status = 500, headers = {}, body }: ScriptEntry): Error {
  const error = isBag(body) && 'error' in body ? body['error'] : body
  const said = isBag(error) ? error['message'] : error
  const text =
    typeof said === 'string' && said !== '' ? `${status} ${said}` : `${status} status code (no body)`
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)])
  return Object.assign(new Error(text), {
    status,
    headers: Object.fromEntries(lowered) as Record<string, string>,
    error,
  })
}

/** An error as Node throws it when the connection fails. */
export const transportError = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code })

/** A connection that ended before the answer did. */
export function cutError(): Error {
  const cause = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
  return new TypeError('terminated', { cause })
}

/** The reason of a caller who hangs up. */
export const callerAbort = (): Error =>
  Object.assign(new Error('The caller hung up.'), { name: 'AbortError', code: 'ABORT_ERR' })
