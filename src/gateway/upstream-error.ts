/** More of an error's body is not read. */
export const MOST_ERROR_BYTES = 256 * 1024

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** What a provider answered in place of an answer: a status, or an error inside of a 200. The classifier reads it. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly status: number
  readonly headers: Headers
  /** Parsed, where it is JSON. */
  readonly body: unknown
  /** As it came; undefined inside of a stream. */
  readonly bytes: Buffer | undefined

  constructor(status: number, headers: Headers, body: unknown, bytes?: Buffer) {
    super(`HTTP ${status}`)
    this.status = status
    this.headers = headers
    this.body = body
    this.bytes = bytes
  }
}

/** A list has sent a call to a target that does not speak its endpoint. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError'
  readonly code = 'ERR_UNSUPPORTED'

  constructor(target: string, path: string) {
    super(`'${target}' does not speak ${path}.`)
  }
}

/** The JSON of a body, else its text. */
export function jsonOrText(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
