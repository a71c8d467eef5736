import type { ServerResponse } from 'node:http'

import type { Reply } from './error-body.ts'

/** Sends an answer in one piece; `close` = the last one on its connection. */
export function send(response: ServerResponse, { status, headers, body }: Reply, close = false): void {
  const length = String(Buffer.byteLength(body))
  const last = close ? ['connection', 'close'] : []
  response.writeHead(status, [...headers, 'content-length', length, ...last])
  response.end(body)
}
