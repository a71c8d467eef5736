import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Delivery {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A webhook's receiver that does what the test says: 204 unless told otherwise. */
export async function startReceiver(
  answer: (response: ServerResponse, n: number) => void = (response) => void response.writeHead(204).end(),
) {
  const deliveries: Delivery[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      deliveries.push({ headers: request.headers, body })
      answer(response, deliveries.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/top-secret-path`,
    deliveries,
    events: () => deliveries.map(({ body }) => JSON.parse(body) as Record<string, unknown>),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
