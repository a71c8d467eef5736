import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ConfigError } from '../../core/errors.ts'

// cannot be guessed at any speed
const LEAST_LENGTH = 32
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** Why a request is not answered. */
export interface Refused {
  readonly status: number
  readonly why: string
}

const refused = (status: number, why: string): Refused => ({ status, why })
const digest = (text: string) => createHash('sha256').update(text).digest()

export const makeToken = (): string => randomBytes(32).toString('base64url')

/** @throws ConfigError for a token that could be guessed, or that is no word */
export function checkToken(token: string): string {
  if (token.length >= LEAST_LENGTH && /^[\w.~+/=-]+$/.test(token)) return token
  throw new ConfigError(
    `The token must have ${LEAST_LENGTH} characters or more, letters, digits and -._~+/=.`,
    {
      path: 'token',
      hint: 'Leave it out to have one made.',
    },
  )
}

/**
 * Whether a request comes from a page of this server on this machine. A page elsewhere may let its own name lead here:
 * then the Host header tells.
 */
export function placeRefusal({ host, origin }: IncomingHttpHeaders): Refused | undefined {
  const asked = host === undefined ? null : URL.parse(`http://${host}`)
  if (asked === null || !LOOPBACK.has(asked.hostname)) {
    return refused(403, 'This page is only for this machine: ask for 127.0.0.1, localhost or [::1].')
  }
  if (origin !== undefined && URL.parse(origin)?.host !== asked.host) {
    return refused(403, 'A page of another origin may not read this.')
  }
  return undefined
}

/** Whether the header `authorization: Bearer …` carries the token. Takes the same time for every wrong one. */
export function tokenRefusal(
  { authorization = '' }: IncomingHttpHeaders,
  token: string,
): Refused | undefined {
  const [, presented = ''] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
  if (timingSafeEqual(digest(presented), digest(token))) return undefined
  return refused(401, 'This needs the token that the address of the page carried: open it anew.')
}
