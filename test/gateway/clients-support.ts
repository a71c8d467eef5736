import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'

import type { GatewayConfig, GatewayTarget } from '../../src/gateway/config/schema.ts'
import type { Gateway } from '../../src/gateway/server.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { startGateway } from './support.ts'

/** A gateway before two scripted providers, and everything that reached it. */
export interface Stage extends AsyncDisposable {
  readonly primary: ScriptedProvider
  readonly backup: ScriptedProvider
  readonly gateway: Gateway
  /** Requests as they reached the gateway, each `POST /v1/…`. */
  readonly reached: readonly string[]
}

interface Rules extends Omit<GatewayConfig, 'targets'> {
  /** For the primary. */
  readonly primary?: Partial<GatewayTarget>
  /** Whether there is a second target. Default true. */
  readonly backup?: boolean
}

/** The backup answers whatever the client asks for; the primary plays the model that the client names. */
export async function startStage(
  api: 'openai' | 'anthropic',
  { primary: own = {}, backup: withBackup = true, ...config }: Rules = {},
): Promise<Stage> {
  const primary = await startScriptedProvider({ name: 'primary', keepAliveMs: 20 })
  const backup = await startScriptedProvider({ name: 'backup' })
  const first = { name: 'primary', baseUrl: primary.baseURL, api, ...own }
  const second = { name: 'backup', baseUrl: backup.baseURL, api, model: 'ok' }
  const gateway = await startGateway(withBackup ? [first, second] : [first], config)
  const port = Number(new URL(gateway.url).port)
  const reached: string[] = []
  const note = (message: unknown) => {
    const { request } = message as { request: IncomingMessage }
    if (request.socket.localPort === port) reached.push(`${request.method} ${request.url}`)
  }
  subscribe('http.server.request.start', note)
  const end = async () => {
    unsubscribe('http.server.request.start', note)
    await gateway.close({ drainMs: 0 })
    await Promise.all([primary.close(), backup.close()])
  }
  return { primary, backup, gateway, reached, [Symbol.asyncDispose]: end }
}

/** How the one that rejects does it. */
export const rejection = async (promise: PromiseLike<unknown>): Promise<Error> => {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('it was expected to reject')
}

/** What of a stream came, and how it ended: undefined = cleanly. */
export async function readAll<Part>(
  parts: AsyncIterable<Part>,
): Promise<{ readonly parts: Part[]; readonly error: Error | undefined }> {
  const read: Part[] = []
  try {
    for await (const part of parts) read.push(part)
  } catch (error) {
    return { parts: read, error: error as Error }
  }
  return { parts: read, error: undefined }
}
