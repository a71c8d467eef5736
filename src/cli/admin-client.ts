import { systemClock } from '../core/clock.ts'
import type { CircuitDetail } from '../gateway/admin/admin-desk.ts'
import type { CircuitsReport, CommandResult, Order } from '../gateway/admin/wire.ts'
import { cleanWords } from '../gateway/admin/words.ts'
import { CommandFailed, EXIT } from './connection.ts'
import type { Connection } from './connection.ts'

const ANSWER_WITHIN_MS = 15_000
// the gateway says something every second
const LONGEST_SILENCE_MS = 15_000

/** A live event; a comment, which says no more than that the gateway is there, has no name. */
export interface LiveEvent {
  readonly event: string | undefined
  readonly data: string
}

/** The admin API of a running gateway. Every method throws CommandFailed with words for people. */
export class AdminClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get url(): string {
    return this.#connection.url
  }

  async circuits(): Promise<CircuitsReport> {
    return (await this.#json('GET', 'circuits')) as CircuitsReport
  }

  async circuit(name: string): Promise<CircuitDetail> {
    return (await this.#json('GET', `circuits/${encodeURIComponent(name)}`)) as CircuitDetail
  }

  async command(name: string, verb: 'open' | 'close', order: Order): Promise<CommandResult> {
    return (await this.#json('POST', `circuits/${encodeURIComponent(name)}/${verb}`, order)) as CommandResult
  }

  /** The live events, until the gateway ends them. */
  async *events(): AsyncGenerator<LiveEvent, void> {
    const silence = new AbortController()
    const { body } = await this.#ask('GET', 'events', undefined, silence.signal)
    const watchdog = { timer: undefined as unknown }
    const heard = () => {
      systemClock.clearTimeout(watchdog.timer)
      watchdog.timer = systemClock.setTimeout(() => silence.abort(new Error('silence')), LONGEST_SILENCE_MS)
    }
    heard()
    let rest = ''
    try {
      for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        heard()
        const blocks = (rest + text).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) yield liveEvent(block)
      }
    } catch (error) {
      throw this.#unreachable(error)
    } finally {
      systemClock.clearTimeout(watchdog.timer)
      // whoever has seen enough does not keep the connection
      silence.abort()
    }
  }

  async #json(method: string, path: string, body?: object): Promise<unknown> {
    const response = await this.#ask(method, path, body, AbortSignal.timeout(ANSWER_WITHIN_MS))
    try {
      return await response.json()
    } catch {
      throw this.#strange(response)
    }
  }

  async #ask(method: string, path: string, body: object | undefined, signal: AbortSignal): Promise<Response> {
    const { url, token } = this.#connection
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const init = { method, headers, signal, ...(body !== undefined && { body: JSON.stringify(body) }) }
    let response: Response
    try {
      // a token is not for whoever a redirect leads to
      response = await fetch(`${url}/admin/${path}`, { ...init, redirect: 'manual' })
    } catch (error) {
      throw this.#unreachable(error)
    }
    if (response.ok) return response
    throw await this.#refused(response)
  }

  #unreachable(error: unknown): CommandFailed {
    const { url, urlFrom } = this.#connection
    const { name, cause } = error as { name?: string; cause?: { code?: string } }
    const why =
      name === 'TimeoutError'
        ? `it does not answer within ${ANSWER_WITHIN_MS / 1000} s`
        : cause?.code === 'ECONNREFUSED'
          ? 'the connection is refused'
          : (cause?.code ?? 'the connection fails')
    const text = `No gateway answers at ${url} (${urlFrom}): ${why}. Is it running there? Say where it is with --url or SWITCHGEAR_URL; with server.admin in its configuration, the admin API has a port of its own.`
    return new CommandFailed(EXIT.unreachable, text)
  }

  async #refused(response: Response): Promise<CommandFailed> {
    const { tokenFrom, url } = this.#connection
    const { message, code } = await errorOf(response)
    if (message === undefined) return this.#strange(response)
    if (response.status === 401) {
      const text = `The gateway at ${url} does not know the token from ${tokenFrom}. ${message}`
      return new CommandFailed(EXIT.unauthorized, text)
    }
    if (response.status === 403 || response.status === 429)
      return new CommandFailed(EXIT.unauthorized, message)
    if (code === 'unknown_circuit') return new CommandFailed(EXIT.unknownCircuit, message)
    if (code === 'unknown_url') return this.#strange(response)
    return new CommandFailed(EXIT.refused, message)
  }

  #strange({ status }: Response): CommandFailed {
    const { url, urlFrom } = this.#connection
    const text = `What answers at ${url} (${urlFrom}) has no admin API (status ${status}). With server.admin in the configuration of the gateway, it has a port of its own: say which with --url or SWITCHGEAR_URL.`
    return new CommandFailed(EXIT.unreachable, text)
  }
}

function liveEvent(block: string): LiveEvent {
  const lines = block.split('\n')
  const field = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
  return { event: field('event')[0], data: field('data').join('\n') }
}

async function errorOf(response: Response): Promise<{ message?: string; code?: string }> {
  try {
    const { error } = (await response.json()) as { error?: { message?: unknown; code?: unknown } }
    const { message, code } = error ?? {}
    return {
      ...(typeof message === 'string' && {
        message: message
          .split('\n')
          .map((line) => cleanWords(line, 1000))
          .join('\n'),
      }),
      ...(typeof code === 'string' && { code }),
    }
  } catch {
    return {}
  }
}
