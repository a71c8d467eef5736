import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { Agent } from 'undici'

import { measured, upstreamUrl } from './proxy.ts'

// All that a proxy can leave out is left out: bytes go in, bytes come out.

const origin = upstreamUrl()
const agent = new Agent()

/** A body in one piece is a tenth cheaper to pass on than one that is piped. */
function read(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    request.on('error', reject)
  })
}

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { host: _, connection: __, ...headers } = request.headers
  const body = await read(request)
  const answer = await agent.request({ origin, path: request.url ?? '/', method: 'POST', headers, body })
  const { connection: ___, 'keep-alive': ____, ...rest } = answer.headers
  response.writeHead(answer.statusCode, rest)
  answer.body.pipe(response)
}

const server = createServer((request, response) => {
  forward(request, response).catch(() => response.destroy())
})
server.listen(0, '127.0.0.1', () => measured(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
