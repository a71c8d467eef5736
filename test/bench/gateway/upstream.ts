import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'

import { answerParent } from '../../support/child.ts'
import { DONE, answer, answerHeaders, chunks } from './bodies.ts'

// A provider that costs as little as it can: whatever it takes is missing to the gateways on the same cores.

const json = {
  ...answerHeaders,
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(answer)),
}
const sse = { ...answerHeaders, 'content-type': 'text/event-stream; charset=utf-8' }
const events = [...chunks, DONE].map((chunk) => Buffer.from(chunk))
const whole = Buffer.from(answer)

const server = createServer((request, response) => {
  let streams = false
  request.on('data', (bytes: Buffer) => (streams ||= bytes.includes('"stream":true')))
  request.on('end', async () => {
    if (!streams) {
      response.writeHead(200, json).end(whole)
      return
    }
    response.writeHead(200, sse)
    for (const bytes of events) {
      response.write(bytes)
      // token by token, as fast as the reader's turns come
      await turn()
    }
    response.end()
  })
})
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  answerParent(upstream(url))
})

const upstream = (url: string) => ({ url: () => url })
export type Upstream = ReturnType<typeof upstream>
