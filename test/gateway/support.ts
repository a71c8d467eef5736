import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { GatewayConfig, GatewayTarget } from '../../src/gateway/config/schema.ts'
import { createGateway } from '../../src/gateway/server.ts'

/** A gateway on a free port, without retries unless the target says so. */
export const startGateway = (
  targets: readonly [GatewayTarget, ...GatewayTarget[]],
  rules: Omit<GatewayConfig, 'targets'> = {},
) => {
  const quick = (target: GatewayTarget) => ({ maxRetries: 0, ...target })
  const [first, ...others] = targets
  return createGateway({ server: { port: 0 }, ...rules, targets: [quick(first), ...others.map(quick)] })
}

export const messages = [{ role: 'user', content: 'Hello' }]

export const ask = (
  { url }: { url: string },
  body: object = {},
  init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...init.headers },
    body: JSON.stringify({ model: 'ok', messages, ...body }),
    ...(init.signal && { signal: init.signal }),
  })

/** One request to any endpoint. */
export const post = (
  { url }: { url: string },
  path: string,
  body: object = {},
  init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...init.headers },
    body: JSON.stringify({ model: 'ok', ...body }),
    ...(init.signal && { signal: init.signal }),
  })

/** An upstream that does what the test says. */
export async function startUpstream(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<{ baseUrl: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => handle(request, response, body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.asyncDispose]: close,
  }
}

export const chunk = (delta: object, finish: string | null = null, index = 0) =>
  `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason: finish }] })}\n\n`

export const sseHead = { 'content-type': 'text/event-stream' }

/** Waits until it holds; fails the test after 3 s. */
export async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 300 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10))
  if (!holds()) throw new Error('what the test waits for did not happen')
}
