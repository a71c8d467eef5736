import { Agent } from 'undici'
import type { Dispatcher } from 'undici'

import type { AttemptContext } from '../core/target-options.ts'
import type { Answer, CallRequest } from './call-request.ts'
import type { BodyChanges } from './edit-body.ts'
import { endpoints } from './endpoints.ts'
import type { Endpoint } from './endpoints.ts'
import { WholeExchange } from './exchange.ts'
import type { Exchange } from './exchange.ts'
import type { ResolvedTarget } from './config/resolve-target.ts'
import type { SseSource } from './sse/source.ts'
import { StreamExchange } from './sse/stream-exchange.ts'
import { UnsupportedError } from './upstream-error.ts'

/** The one agent of a gateway: connections are kept and shared by all targets. */
export function createAgent(): Agent {
  // on one connection for many calls a slow reader would hold up the others
  return new Agent({ connect: { timeout: 10_000 }, keepAliveTimeout: 10_000, allowH2: false })
}

/** Sends the requests of one target. Only the target's own key leaves. */
export class Upstream {
  /** Requests under way. */
  busy = 0
  readonly #name: string
  readonly #origin: string
  readonly #paths: ReadonlyMap<Endpoint, string>
  readonly #headers: readonly string[]
  readonly #own: ReadonlySet<string>
  readonly #changes: BodyChanges
  readonly #agent: Dispatcher
  readonly #refusalIsError: boolean

  constructor(target: ResolvedTarget, agent: Dispatcher, refusalIsError: boolean) {
    const { name, baseUrl, api, auth, apiKey, headers, query, set, drop } = target
    const base = new URL(baseUrl)
    const search = new URLSearchParams(query).toString()
    this.#name = name
    this.#origin = base.origin
    this.#paths = new Map(
      endpoints
        .filter((endpoint) => endpoint.api === api)
        .map((endpoint) => [endpoint, pathOf(base.pathname, endpoint.upstreamPath, search)]),
    )
    const own = {
      'content-type': 'application/json',
      ...headers,
      ...(auth !== undefined && apiKey !== undefined && { [auth.header]: `${auth.prefix}${apiKey}` }),
    }
    this.#headers = Object.entries(own).flat()
    this.#own = new Set(Object.keys(own))
    this.#changes = {
      set: new Map(Object.entries(set).map(([field, value]) => [field, JSON.stringify(value)])),
      drop: new Set(drop),
    }
    this.#agent = agent
    this.#refusalIsError = refusalIsError
  }

  /** An answer in one piece. */
  invoke(request: CallRequest, context: AttemptContext): Promise<Answer> {
    const exchange = new WholeExchange(request, this.#left)
    this.#send(request, context, exchange)
    return exchange.answer
  }

  /** An answer in parts. */
  stream(request: CallRequest, context: AttemptContext): Promise<SseSource> {
    const rules = {
      choices: request.choices,
      refusalIsError: this.#refusalIsError,
      telling: request.endpoint.telling,
    }
    const exchange = new StreamExchange(request, rules, this.#left)
    this.#send(request, context, exchange)
    return exchange.opening
  }

  readonly #left = (): void => {
    this.busy--
  }

  #send(request: CallRequest, context: AttemptContext, exchange: Exchange): void {
    const { signal, model } = context
    const path = this.#paths.get(request.endpoint)
    if (path === undefined) throw new UnsupportedError(this.#name, request.endpoint.path)
    request.sent.push({ target: this.#name, model: model ?? request.model })
    const body = request.bodyFor(model, this.#changes)
    const headers = this.#headersWith(request.headers)
    const dispatcher = request.mock?.(this.#name) ?? this.#agent
    this.busy++
    signal.addEventListener('abort', () => exchange.cut(signal.reason), { once: true })
    // how long to wait is the core's to say
    const limits = { headersTimeout: 0, bodyTimeout: 0 }
    dispatcher.dispatch({ origin: this.#origin, path, method: 'POST', headers, body, ...limits }, exchange)
  }

  /** What the target says itself stands above what the client says. */
  #headersWith(theirs: readonly string[]): string[] {
    const headers = [...this.#headers]
    for (let i = 0; i < theirs.length; i += 2) {
      if (!this.#own.has(theirs[i]!)) headers.push(theirs[i]!, theirs[i + 1]!)
    }
    return headers
  }
}

const pathOf = (base: string, endpoint: string, search: string) =>
  `${base === '/' ? '' : base}${endpoint}${search === '' ? '' : `?${search}`}`
