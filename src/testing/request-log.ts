/**
 * What became of a request. `failed`: a fault was sent, or the server closed first;
 * `aborted-by-client`: the client left before the end of the response.
 */
export type RequestOutcome = 'pending' | 'answered' | 'failed' | 'aborted-by-client'

/** One request as the scripted provider saw it. Neither keys nor messages are kept. */
export interface RequestLogEntry {
  /** Order of arrival, from 1. */
  readonly number: number
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** As the body names it, at most 200 characters. Left out where the body names none. */
  readonly model?: string
  readonly stream: boolean
  /** Length of the request body. */
  readonly bytes: number
  /** Whether a key came along, in `authorization`, `x-api-key` or `api-key`. */
  readonly authorized: boolean
  /** The last four characters of a key of at least 12. */
  readonly keyEnding?: string
  readonly outcome: RequestOutcome
}

/** The log's own view of an entry, which grows as the request goes on. */
export type OpenLogEntry = { -readonly [Key in keyof RequestLogEntry]: RequestLogEntry[Key] }

/** How many entries are kept; the oldest go first. */
export const maxLogEntries = 10_000
const maxCountedModels = 1000

export class RequestLog {
  readonly entries: OpenLogEntry[] = []
  readonly counts = new Map<string, number>()
  total = 0

  add(entry: Omit<OpenLogEntry, 'number' | 'outcome'>): OpenLogEntry {
    const added: OpenLogEntry = { ...entry, number: ++this.total, outcome: 'pending' }
    this.entries.push(added)
    if (this.entries.length > maxLogEntries) this.entries.shift()
    if (added.model !== undefined) this.#count(added.model)
    return added
  }

  clear(): void {
    this.entries.length = 0
    this.counts.clear()
    this.total = 0
  }

  #count(model: string): void {
    const key = this.counts.has(model) || this.counts.size < maxCountedModels ? model : 'other'
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1)
  }
}

/** What may be told of the key a request came with. */
export function describeKey(headers: Readonly<Record<string, string | string[] | undefined>>): {
  authorized: boolean
  keyEnding?: string
} {
  const header = [headers['authorization'], headers['x-api-key'], headers['api-key']].flat().find(Boolean)
  const key = header?.replace(/^bearer\s*/i, '') ?? ''
  if (key === '') return { authorized: false }
  return key.length < 12 ? { authorized: true } : { authorized: true, keyEnding: key.slice(-4) }
}
