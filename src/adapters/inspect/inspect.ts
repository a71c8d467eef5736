import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { ConfigError } from '../../core/errors.ts'
import type { SupervisorRef } from '../../core/host.ts'
import { silentLogger } from '../../core/notifier.ts'
import type { Logger } from '../../core/notifier.ts'
import { checkKeys, checkNumber } from '../../core/validate.ts'
import { checkToken, makeToken } from './gatekeeper.ts'
import { STATELY } from './page-files.ts'
import { PageServer } from './page-server.ts'
import { Relay } from './relay.ts'

const HOST = '127.0.0.1'

/** Whoever has a supervisor: a switchgear, a registry of breakers, the breakers of a fetch. */
export interface Inspectable {
  readonly supervisor: SupervisorRef
}

export interface InspectOptions {
  /** Default 0: any free one. */
  readonly port?: number
  /** What a page must present to see anything; 32 characters or more. Default: made anew at each start. */
  readonly token?: string
  /** Page of the Stately inspector. Asked for by the browser, and only once somebody asks for it. Default: its public one. */
  readonly inspectorUrl?: string
  readonly clock?: Clock
  readonly logger?: Logger
}

export interface Inspection extends AsyncDisposable {
  /** To be opened in a browser on this machine; carries the token behind the `#`, which no server sees. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves a page on 127.0.0.1 that shows every actor live: supervisor, breakers and chains, each on the chart of its
 * machine. From there they can be passed on to the Stately inspector. Actors are observed while a page is open, and not
 * otherwise; names, kinds, numbers and operators' words are shown, nothing of requests or answers. It never keeps the
 * process alive.
 *
 * @throws ConfigError for an unknown option, a token that could be guessed, an address that is none, a port in use
 * @throws RangeError for a port out of its range
 * @example
 * ```ts
 * const inspection = await inspect(gear)
 * console.log(`Actors: ${inspection.url}`)
 * ```
 */
export async function inspect(gear: Inspectable, options: InspectOptions = {}): Promise<Inspection> {
  checkKeys('inspect', options, ['port', 'token', 'inspectorUrl', 'clock', 'logger'])
  const { clock = systemClock, logger = silentLogger } = options
  const port = checkNumber('port', options.port ?? 0, { min: 0, max: 65_535, integer: true })
  const token = options.token === undefined ? makeToken() : checkToken(options.token)
  const inspector = checkAddress(options.inspectorUrl ?? STATELY)
  const relay = new Relay({ supervisor: gear.supervisor, inspector, clock, logger })
  const page = new PageServer({ relay, token, inspector })
  const server = createServer((request, response) => page.answer(request, response))
  // whoever looks on does not keep the process alive
  server.on('connection', (socket) => socket.unref())
  let actual: number
  try {
    actual = await listen(server, port)
  } catch (error) {
    relay.close()
    throw error
  }
  let closed: Promise<void> | undefined
  const close = () =>
    (closed ??= new Promise<void>((resolve) => {
      relay.close()
      server.close(() => resolve())
      server.closeAllConnections()
    }))
  return { url: `http://${HOST}:${actual}/#token=${token}`, close, [Symbol.asyncDispose]: close }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', (cause) => reject(unheard(port, cause)))
    server.listen(port, HOST, () => {
      server.unref()
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function unheard(port: number, cause: Error & { code?: string }): ConfigError {
  const why = cause.code === 'EADDRINUSE' ? 'is in use' : `cannot be had: ${cause.message}`
  return new ConfigError(`Port ${port} on ${HOST} ${why}.`, {
    path: 'port',
    hint: 'Give another one, or 0 for any free one.',
  })
}

/** What is sent there goes through the browser of whoever looks: to a page that nobody can have exchanged. */
function checkAddress(address: string): string {
  const url = URL.parse(address)
  const isLocal = url?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)
  if (url !== null && (url.protocol === 'https:' || isLocal)) return url.href
  throw new ConfigError(`inspectorUrl is '${address}'.`, {
    path: 'inspectorUrl',
    hint: 'It must be an https address, or an http one of this machine.',
  })
}
