import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Logger } from '../../src/core/notifier.ts'
import type { GatewayConfig } from '../../src/gateway/config/schema.ts'
import type { Gateway } from '../../src/gateway/server.ts'
import { startService } from '../../src/gateway/service.ts'

export const TOKEN = 'the-admin-token-of-alice-0123456789'
export const asAlice = { authorization: `Bearer ${TOKEN}` }

/** The gateway as `switchgear serve` runs it, and everything it leaves behind. */
export interface Service extends AsyncDisposable {
  readonly gateway: Gateway
  readonly url: string
  /** Where its journal and its token file are. */
  readonly directory: string
  /** Every line it has logged, as pino would write it. */
  readonly log: readonly string[]
}

/** With admin API, dashboard, metrics and a journal in a file. `config` is read anew at every reload. */
export async function startWhole(config: (directory: string) => GatewayConfig): Promise<Service> {
  const directory = mkdtempSync(join(tmpdir(), 'switchgear-security-'))
  const log: string[] = []
  const write = (fields: object, message: string) =>
    void log.push(JSON.stringify({ ...fields, msg: message }, withErrors))
  const logger: Logger = { info: write, warn: write, error: write }
  const read = (): GatewayConfig => {
    const { server, ...rest } = config(directory)
    return { admin: { tokens: { alice: TOKEN } }, ...rest, server: { port: 0, ...server } }
  }
  const gateway = await startService({ file: join(directory, 'gateway.yaml'), read, logger })
  const end = async () => {
    await gateway.close({ drainMs: 0 })
    rmSync(directory, { recursive: true, force: true })
  }
  return { gateway, url: gateway.url, directory, log, [Symbol.asyncDispose]: end }
}

/** As pino's standard serializer does it: with message, stack and everything that hangs on the error. */
function withErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const { message, stack, cause } = value
  return { ...value, message, stack, cause }
}

/** A connection that sends whatever the test wants, and keeps all that comes back. */
export class Wire {
  readonly socket: Socket
  text = ''
  readonly closed: Promise<void>
  readonly #waiting = new Set<() => void>()

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect({ host: hostname, port: Number(port) })
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()))
    this.socket.setEncoding('latin1').on('data', (part: string) => {
      this.text += part
      for (const look of this.#waiting) look()
    })
    // what was still being sent when the other side had enough
    this.socket.on('error', () => {})
  }

  send(...lines: readonly string[]): this {
    this.socket.write(lines.join('\r\n'), 'latin1')
    return this
  }

  /** Waits for a text that fits, or for the end of the connection. */
  async until(pattern: RegExp): Promise<string> {
    const seen = new Promise<void>((resolve) => {
      const look = () => pattern.test(this.text) && resolve()
      this.#waiting.add(look)
      look()
    })
    await Promise.race([seen, this.closed])
    return this.text
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}

/** Sends `lines`, with `connection: close` among them, and gives back all that comes. */
export async function exchange(url: string, ...lines: readonly string[]): Promise<string> {
  using wire = new Wire(url)
  wire.send(...lines)
  await wire.closed
  return wire.text
}

/** The status lines among what came. */
export const statuses = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
