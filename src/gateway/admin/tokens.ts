import { createHash, timingSafeEqual } from 'node:crypto'

import { ConfigError } from '../../core/errors.ts'
import { SHORTEST_TOKEN } from '../config/secrets.ts'
import { keepToken, makeToken } from './token-file.ts'
import { cleanWords } from './words.ts'

// 32 characters cannot be guessed at any speed
const STRONG_LENGTH = 32

/** Who a token belongs to. */
export interface Operator {
  readonly name: string
  /** The token is too long to be guessed, so its owner need not wait for others' guesses. */
  readonly strong: boolean
}

/** The tokens of the admin API. */
export interface AdminTokens {
  /** Whose token this is; undefined = nobody's. Takes the same time for every answer. */
  identify(presented: string): Operator | undefined
  /** There is one alone, which the gateway made itself. */
  readonly isOwn: boolean
  /** Made just now because none is configured: show it once. */
  readonly made: string | undefined
  /** The file that keeps the made token; undefined where none does, or tokens are configured. */
  readonly file: string | undefined
  /** What a person should know about that file. */
  readonly warning: string | undefined
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * The tokens in force: those configured, by name, or else one called `admin`, made at the first start and kept in
 * `file`. Without a file it lasts as long as the process.
 *
 * @param before those in force until now: one that was made goes on through a reload
 * @throws ConfigError for a token of fewer than 16 characters, for two names with one token, and for a file that cannot
 * be trusted
 */
export function adminTokens({
  configured = {},
  file,
  before,
}: {
  readonly configured?: Readonly<Record<string, string>> | undefined
  readonly file: string | undefined
  readonly before?: AdminTokens | undefined
}): AdminTokens {
  const names = Object.entries(configured)
  if (names.length > 0) return { ...recognizing(names), ...NOTHING_KEPT }
  if (before?.isOwn === true) return { ...before, made: undefined, warning: undefined }
  const { token, isNew, isKept, warning } = file === undefined ? unkept() : keepToken(file)
  return {
    ...recognizing([['admin', token]]),
    isOwn: true,
    made: isNew ? token : undefined,
    file: isKept ? file : undefined,
    warning,
  }
}

const NOTHING_KEPT = { isOwn: false, made: undefined, file: undefined, warning: undefined }
const unkept = () => ({ token: makeToken(), isNew: true, isKept: false, warning: undefined })

function recognizing(tokens: readonly (readonly [string, string])[]): Pick<AdminTokens, 'identify'> {
  const known = tokens.map(([name, token]) => {
    if (token.length < SHORTEST_TOKEN) throw tooShort(name)
    const operator = { name: cleanWords(name, 100), strong: token.length >= STRONG_LENGTH }
    return { operator, hash: digest(token) }
  })
  refuseTwins(known)
  return {
    identify(presented) {
      const hash = digest(presented)
      let found: Operator | undefined
      // every one is compared, whichever fits
      for (const { operator, hash: own } of known) if (timingSafeEqual(hash, own)) found = operator
      return found
    },
  }
}

function refuseTwins(known: readonly { readonly operator: Operator; readonly hash: Buffer }[]): void {
  const owners = Map.groupBy(known, ({ hash }) => hash.toString('hex'))
  for (const [one, other] of owners.values()) {
    if (one === undefined || other === undefined) continue
    throw new ConfigError(`'${one.operator.name}' and '${other.operator.name}' have the same admin token.`, {
      path: 'admin.tokens',
      hint: 'Give each a token of its own: the journal tells by it who acted.',
    })
  }
}

function tooShort(name: string): ConfigError {
  return new ConfigError(`The admin token of '${name}' has fewer than ${SHORTEST_TOKEN} characters.`, {
    path: `admin.tokens.${name}`,
    hint: 'Give one that cannot be guessed, such as the output of: openssl rand -base64 32',
  })
}
