import { readFileSync } from 'node:fs'

import { TOKEN_FILE } from '../gateway/admin/token-file.ts'

/** Why a command could not be carried out, and the exit code that says so. */
export class CommandFailed extends Error {
  readonly exitCode: number
  constructor(exitCode: number, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

export const EXIT = { refused: 1, unreachable: 2, unauthorized: 3, unknownCircuit: 4 } as const

export const EXIT_CODES = `
Exit codes: 0 done, 1 a mistake or refused, 2 no gateway answers, 3 no token or a wrong one, 4 there is no such circuit.`

/** Where the gateway is, and who asks. */
export interface Connection {
  /** Without a slash at its end. */
  readonly url: string
  /** Where the URL comes from, for people. */
  readonly urlFrom: string
  readonly token: string
  readonly tokenFrom: string
}

const DEFAULT_URL = 'http://127.0.0.1:4000'

/**
 * Finds gateway and token: options first, then the environment, then what stands to reason.
 *
 * @throws CommandFailed where the URL is none, or there is no token
 */
export function findConnection(
  { url, token }: { readonly url?: string; readonly token?: string },
  env: Readonly<Record<string, string | undefined>>,
): Connection {
  const [place, urlFrom] =
    url !== undefined
      ? [url, '--url']
      : env['SWITCHGEAR_URL']
        ? [env['SWITCHGEAR_URL'], 'SWITCHGEAR_URL']
        : [DEFAULT_URL, 'the default']
  return { url: checkUrl(place, urlFrom), urlFrom, ...findToken(token, env) }
}

function checkUrl(text: string, from: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '') {
    const text = `The URL from ${from} is none of a gateway; give one such as ${DEFAULT_URL}.`
    throw new CommandFailed(EXIT.refused, text)
  }
  // what people copy from the settings of their clients
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/(v1|admin|status)$/, '')
}

function findToken(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Pick<Connection, 'token' | 'tokenFrom'> {
  if (given !== undefined) return checkToken(given, '--token')
  if (env['SWITCHGEAR_TOKEN']) return checkToken(env['SWITCHGEAR_TOKEN'], 'SWITCHGEAR_TOKEN')
  try {
    return checkToken(readFileSync(TOKEN_FILE, 'utf8'), `./${TOKEN_FILE}`)
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    const { code } = error as { code?: string }
    const why = code === 'ENOENT' ? 'is not here' : `cannot be read (${code})`
    const text = `There is no token: neither --token nor SWITCHGEAR_TOKEN is given, and ./${TOKEN_FILE} ${why}. The gateway writes that file beside its journal where no admin.tokens are configured.`
    throw new CommandFailed(EXIT.unauthorized, text)
  }
}

function checkToken(text: string, tokenFrom: string): Pick<Connection, 'token' | 'tokenFrom'> {
  const token = text.trim()
  if (/^[\x21-\x7e]+$/.test(token)) return { token, tokenFrom }
  throw new CommandFailed(EXIT.unauthorized, `The token from ${tokenFrom} is none: it must be one word.`)
}
