import type { FastifyRequest } from 'fastify'

import { AdminError } from './admin-error.ts'
import type { GuessLimit } from './guess-limit.ts'
import type { AdminTokens, Operator } from './tokens.ts'
import { isOwnOrigin } from '../own-origin.ts'

// where clients put tokens that end up in logs and histories
const TOKEN_KEYS = new Set(['token', 'access_token', 'auth', 'authorization', 'api_key', 'apikey', 'key'])

/**
 * Lets a request in, before anything of its body is read.
 *
 * @throws AdminError 403 from another origin, 400 with a token in the URL, 429 after too many wrong tokens, 401 without
 * a right one
 */
export function admit(request: FastifyRequest, tokens: AdminTokens, guesses: GuessLimit): Operator {
  const { origin, host, authorization } = request.headers
  // first, so that a page somewhere else cannot use up what the operator's own address may guess
  if (origin !== undefined && !isOwnOrigin(origin, host)) throw foreign()
  if (Object.keys(Object(request.query)).some((key) => TOKEN_KEYS.has(key.toLowerCase()))) throw inUrl()
  const presented = bearer(authorization)
  if (presented === undefined) {
    throw notIn('The admin API needs the header "authorization: Bearer <token>".')
  }
  const operator = tokens.identify(presented)
  const waitMs = guesses.waitMs(request.ip)
  if (waitMs > 0 && operator?.strong !== true) throw tooOften(waitMs)
  if (operator !== undefined) return operator
  guesses.wrong(request.ip)
  throw notIn(
    'This is not a token of this gateway. Tokens stand under admin.tokens in its configuration, or in the file switchgear.token beside its journal.',
  )
}

/** The token of a header `authorization: Bearer …`. */
export function bearer(authorization: string | undefined): string | undefined {
  return /^bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1]
}

const foreign = () =>
  new AdminError(
    403,
    'foreign_origin',
    'A page of another origin may not use the admin API. A proxy in front of the gateway must pass on the Host header.',
  )
const inUrl = () =>
  new AdminError(
    400,
    'token_in_url',
    'A token never stands in a URL, which ends up in logs: send it in the header "authorization: Bearer <token>", and take this one out of use.',
  )
const notIn = (message: string) => new AdminError(401, 'unauthorized', message)
const tooOften = (waitMs: number) => {
  const seconds = Math.ceil(waitMs / 1000)
  const text = `Too many wrong tokens. Try again in ${seconds} s.`
  return new AdminError(429, 'too_many_attempts', text, { retryAfterMs: waitMs })
}
