import { isIPv6 } from 'node:net'

import Fastify from 'fastify'

import { addControlRoutes } from './control-routes.ts'
import { outageKinds } from './faults.ts'
import type { OutageKind } from './faults.ts'
import { ListenError } from './listen-error.ts'
import { addProviderRoutes } from './provider-routes.ts'
import type { Stage } from './provider-routes.ts'
import { RequestLog } from './request-log.ts'
import type { RequestLogEntry } from './request-log.ts'
import { seededRandom } from './seeded-random.ts'

export interface ScriptedProviderOptions {
  /** 0 to 65535. Default 0: any free port. */
  readonly port?: number
  /** Address to listen on. Default `127.0.0.1`: this machine only. */
  readonly host?: string
  /** Named in every answer. Default `scripted`. */
  readonly name?: string
  /** What an outage looks like once it is switched on. Default `503`. */
  readonly outage?: OutageKind
  /** Answer 404 to a model name that selects no fault. Default `false`: such names are answered like `ok`. */
  readonly strict?: boolean
  /** Time between two keep-alives of the fault `keep-alives`, in ms, at least 1. Default 1000. */
  readonly keepAliveMs?: number
  /** Chance for `flaky`: 0 ≤ random() < 1. Default: a fixed sequence, begun anew by `reset()`. */
  readonly random?: () => number
}

/** A running scripted provider. */
export interface ScriptedProvider extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** The URL with `/v1`, as OpenAI clients take it. */
  readonly baseURL: string
  readonly port: number
  readonly name: string
  /** Every request below `/v1` in order of arrival, the last 10 000. A live view. */
  readonly requests: readonly RequestLogEntry[]
  /** Requests by model name since the start or the last reset; from the 1001st name on under `other`. */
  readonly counts: ReadonlyMap<string, number>
  /** Whether everything below `/v1` fails at present. */
  readonly outage: boolean
  /** Switches the outage. Requests already running are not touched. */
  setOutage(on: boolean): void
  /** Empties the log and the counts, ends an outage, begins the default chance anew. */
  reset(): void
  /** Stops listening and drops every connection at once, hanging ones too. */
  close(): Promise<void>
}

/**
 * Starts an OpenAI-compatible server whose model name selects the fault; `faultTable` lists them.
 *
 * @throws ListenError `ERR_PORT_IN_USE` when the port is taken, `ERR_LISTEN` when it cannot be had otherwise.
 * @throws RangeError for an option out of range.
 * @example
 * await using provider = await startScriptedProvider()
 * const client = new OpenAI({ baseURL: provider.baseURL, apiKey: 'any', maxRetries: 0 })
 * await client.chat.completions.create({ model: '503', messages: [] }) // rejects with status 503
 */
export async function startScriptedProvider(
  options: ScriptedProviderOptions = {},
): Promise<ScriptedProvider> {
  const { port = 0, host = '127.0.0.1', name = 'scripted', outage = '503', keepAliveMs = 1000 } = options
  checkRange('port', port, 0, 65_535)
  checkRange('keepAliveMs', keepAliveMs, 1, 2_147_483_647)
  if (!outageKinds.includes(outage)) {
    throw new RangeError(`outage is ${String(outage)}: it must be one of ${outageKinds.join(', ')}`)
  }
  const startChance = () => options.random ?? seededRandom(1)
  const stage: Stage = {
    name,
    outageKind: outage,
    strict: options.strict ?? false,
    keepAliveMs,
    log: new RequestLog(),
    random: startChance(),
    outage: false,
    closing: false,
  }
  const setOutage = (on: boolean) => {
    stage.outage = on
  }
  const reset = () => {
    stage.log.clear()
    stage.outage = false
    stage.random = startChance()
  }

  const server = Fastify({ bodyLimit: 64 * 1024 * 1024, forceCloseConnections: true })
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  addProviderRoutes(server, stage)
  addControlRoutes(server, {
    log: stage.log,
    get outage() {
      return stage.outage
    },
    setOutage,
    reset,
  })
  try {
    await server.listen({ port, host })
  } catch (error) {
    await server.close()
    throw new ListenError(port, host, error)
  }
  const address = server.server.address()
  const actualPort = typeof address === 'object' && address !== null ? address.port : port
  const url = `http://${isIPv6(host) ? `[${host}]` : host}:${actualPort}`

  let closed: Promise<void> | undefined
  const close = () => {
    stage.closing = true
    closed ??= server.close()
    return closed
  }
  return {
    url,
    baseURL: `${url}/v1`,
    port: actualPort,
    name,
    requests: stage.log.entries,
    counts: stage.log.counts,
    get outage() {
      return stage.outage
    },
    setOutage,
    reset,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function checkRange(option: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw new RangeError(`${option} is ${value}: it must be a whole number from ${min} to ${max}`)
}
