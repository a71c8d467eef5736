import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createSocketServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { breakerFetch } from '../../src/adapters/fetch/index.ts'

async function serving<T>(listener: RequestListener, then: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    return await then(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

const ask = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }

describe('an answer that a constructor of Response would refuse', () => {
  it.each([600, 999])('status %i reaches the caller as it is', async (status) => {
    const answer = await serving(
      (_request, response) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end('{"a":1}'),
      async (url) => {
        const got = await breakerFetch()(url, ask)
        return { status: got.status, ok: got.ok, text: await got.text() }
      },
    )
    expect(answer).toEqual({ status, ok: false, text: '{"a":1}' })
  })

  it('a reason phrase in Chinese reaches the caller as it is', async () => {
    const head =
      'HTTP/1.1 503 服务不可用\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}'
    const server = createSocketServer((socket) => void socket.once('data', () => socket.end(head))).listen(
      0,
      '127.0.0.1',
    )
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`
    const got = await breakerFetch()(url, ask)
    expect([got.status, await got.text()]).toEqual([503, '{}'])
    server.close()
  })
})

describe("the caller's own faults", () => {
  it.each([
    ['ftp://127.0.0.1/x', {}],
    ['http://127.0.0.1:6000/x', {}],
  ])('%s is not held against anybody', async (url, init) => {
    const fetch = breakerFetch({ threshold: 1 })
    await expect(fetch(url, init)).rejects.toThrow(TypeError)
    for (const name of fetch.registry.names()) expect(fetch.registry.get(name).state).toBe('closed')
  })

  it('an integrity that does not match is not held against the provider', async () => {
    const state = await serving(
      (_request, response) => response.end('hello'),
      async (url) => {
        const fetch = breakerFetch({ threshold: 1 })
        await expect(fetch(url, { integrity: 'sha256-AAAA' })).rejects.toThrow()
        return fetch.registry.names().map((name) => fetch.registry.get(name).state)
      },
    )
    expect(state).toEqual(['closed'])
  })
})
