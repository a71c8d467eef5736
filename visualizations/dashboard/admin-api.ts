import type { CircuitsReport, CircuitView, JournalRowView, Order } from '../../src/gateway/admin/wire.ts'
import { wordsOf } from './words-of.ts'

/** An answer that is no success, in words for people. */
export class ApiError extends Error {
  /** 0 = there was no answer at all. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const UNREACHABLE = 'The gateway does not answer. It may be down, or the network between.'

/** The admin API of the gateway that served this page. */
export class AdminApi {
  readonly #token: string

  constructor(token: string) {
    this.#token = token
  }

  async circuits(): Promise<CircuitsReport> {
    return (await (await this.#ask('circuits')).json()) as CircuitsReport
  }

  /** The newest rows first. */
  async journal(query: Readonly<Record<string, string>>): Promise<readonly JournalRowView[]> {
    const answer = await this.#ask(`journal?${new URLSearchParams(query)}`)
    const { rows } = (await answer.json()) as { rows: readonly JournalRowView[] }
    return rows
  }

  /** What is told of one circuit beyond its view. */
  async circuit(name: string): Promise<{ readonly journal: readonly JournalRowView[] }> {
    const answer = await this.#ask(`circuits/${encodeURIComponent(name)}`)
    return (await answer.json()) as { journal: readonly JournalRowView[] }
  }

  /** With the numbers of this circuit. */
  async chart(circuit: string): Promise<string> {
    const answer = await this.#ask(`chart?${new URLSearchParams({ circuit })}`)
    return ((await answer.json()) as { svg: string }).svg
  }

  async command(name: string, verb: 'open' | 'close', command: Order): Promise<CircuitView> {
    const answer = await this.#ask(`circuits/${encodeURIComponent(name)}/${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(command),
    })
    return (await answer.json()) as CircuitView
  }

  /** The live events, until `signal` fires. */
  async events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#ask('events', { signal })
    if (body === null) throw new ApiError(0, UNREACHABLE)
    return body
  }

  async #ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${this.#token}` }
    let answer: Response
    try {
      answer = await fetch(`admin/${path}`, { ...init, headers, cache: 'no-store', credentials: 'omit' })
    } catch {
      throw new ApiError(0, UNREACHABLE)
    }
    if (!answer.ok) throw new ApiError(answer.status, await wordsOf(answer))
    return answer
  }
}
