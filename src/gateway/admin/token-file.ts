import { randomBytes } from 'node:crypto'
import { closeSync, constants, fchmodSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'

import { ConfigError } from '../../core/errors.ts'
import { SHORTEST_TOKEN } from '../config/secrets.ts'

/** What the file is called; it stands beside the journal. */
export const TOKEN_FILE = 'switchgear.token'

/** A token that nobody can guess. */
export const makeToken = (): string => `sgadm_${randomBytes(32).toString('base64url')}`

/** A token from a file, or one that was made just now. */
export interface KeptToken {
  readonly token: string
  /** Made just now; this is the only time to show it. */
  readonly isNew: boolean
  /** It is in the file. */
  readonly isKept: boolean
  /** What a person should know about the file. */
  readonly warning?: string
}

/**
 * The token in `file`, or a new one, kept there with mode 0600. A file that others could read is closed to them, with a
 * warning; where nothing can be written, the token lasts as long as the process.
 *
 * @throws ConfigError where the file is a link, is somebody else's or holds no token: whose token that is nobody knows
 */
export function keepToken(file: string): KeptToken {
  const kept = readToken(file)
  if (kept !== undefined) return kept
  const token = makeToken()
  try {
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' })
    return { token, isNew: true, isKept: true }
  } catch (error) {
    const { code } = error as { code?: string }
    // another process has just made one
    if (code === 'EEXIST') return readToken(file) ?? { token, isNew: true, isKept: false }
    const warning = `The admin token cannot be kept in ${file} (${code}): the next start makes another one. Set admin.tokens, or let the gateway write there.`
    return { token, isNew: true, isKept: false, warning }
  }
}

function readToken(file: string): KeptToken | undefined {
  const descriptor = openToken(file)
  if (descriptor === undefined) return undefined
  try {
    const stat = fstatSync(descriptor)
    const { mode, uid } = stat
    if (!stat.isFile()) throw refused(file, 'is no file')
    const own = process.getuid?.()
    if (own !== undefined && uid !== own) {
      throw refused(file, 'belongs to another user, who may know the token')
    }
    const token = readFileSync(descriptor, 'utf8').trim()
    if (!/^[\x21-\x7e]{1,200}$/.test(token) || token.length < SHORTEST_TOKEN) {
      throw refused(file, `holds no token (one word of ${SHORTEST_TOKEN} to 200 characters)`)
    }
    if (own === undefined || (mode & 0o077) === 0) return { token, isNew: false, isKept: true }
    fchmodSync(descriptor, 0o600)
    const seen = (mode & 0o777).toString(8).padStart(4, '0')
    const warning = `${file} had the mode ${seen} and has 0600 now. Whoever could read it may know the admin token: delete the file and start again to get a new one.`
    return { token, isNew: false, isKept: true, warning }
  } finally {
    closeSync(descriptor)
  }
}

function openToken(file: string): number | undefined {
  try {
    // a pipe would keep the start waiting
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code === 'ELOOP') throw refused(file, 'is a link')
    throw refused(file, `cannot be read (${code})`)
  }
}

function refused(file: string, what: string): ConfigError {
  return new ConfigError(`The admin token file ${file} ${what}.`, {
    path: 'admin.tokens',
    hint: 'Delete it and start again to get a new token, or set admin.tokens.',
  })
}
