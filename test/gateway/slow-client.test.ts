import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { describe, expect, it } from 'vitest'

import { createGateway } from '../../src/gateway/server.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { chunk, sseHead, startGateway, startUpstream, until } from './support.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

const DONE = chunk({}, 'stop') + 'data: [DONE]\n\n'

/** A client that reads only when it is told to. */
function stream({ url }: { url: string }, path = '/v1/chat/completions'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ model: 'ok', stream: true })
    request(`${url}${path}`, { method: 'POST' }, (response) => resolve(response.pause()))
      .on('error', reject)
      .end(body)
  })
}

const textOf = async (response: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part
  return text
}

describe('while a client waits', () => {
  const server = { port: 0, keepAliveMs: 30 }

  it('it gets comments, and then the answer', async () => {
    await using upstream = await startUpstream((_request, response) => {
      setTimeout(() => response.writeHead(200, sseHead).end(chunk({ content: 'Hi' }) + DONE), 150)
    })
    await using gateway = await startGateway([{ name: 'p', baseUrl: upstream.baseUrl }], { server })
    const answer = await stream(gateway)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['x-switchgear-call']).toMatch(/^[\w-]{36}$/)
    // nobody has answered yet
    expect(answer.headers['x-switchgear-target']).toBeUndefined()
    const text = await textOf(answer)
    expect(text).toMatch(/^(: keep-alive\n\n){2,}data: /)
    expect(text.endsWith(chunk({ content: 'Hi' }) + DONE)).toBe(true)
  })

  it.each([
    [
      '/v1/chat/completions',
      'openai',
      /^(: keep-alive\n\n)+data: \{"error".*"failure":"server_error".*\n\n$/,
    ],
    ['/v1/responses', 'openai', /^(: keep-alive\n\n)+event: error\ndata: \{"type":"error".*\n\n$/],
    ['/v1/messages', 'anthropic', /^(: keep-alive\n\n)+event: error\ndata: \{"type":"error".*\n\n$/],
  ] as const)('a failure becomes an event of its own (%s)', async (path, api, expected) => {
    await using upstream = await startUpstream((_request, response) => {
      setTimeout(() => response.writeHead(503).end('{}'), 100)
    })
    await using gateway = await startGateway([{ name: 'p', baseUrl: upstream.baseUrl, api }], { server })
    const answer = await stream(gateway, path)
    expect(answer.statusCode).toBe(200)
    expect(await textOf(answer)).toMatch(expected)
  })

  it('what the provider says of the client’s own fault is told as it is', async () => {
    const body = { error: { message: 'temperature is no number', type: 'invalid_request_error', code: 'x' } }
    await using upstream = await startUpstream((_request, response) => {
      setTimeout(() => response.writeHead(400).end(JSON.stringify(body)), 100)
    })
    await using gateway = await startGateway([{ name: 'p', baseUrl: upstream.baseUrl }], { server })
    expect(await textOf(await stream(gateway))).toMatch(
      /data: \{"error":\{"message":"temperature is no number"/,
    )
  })

  it('comments come between events, too, where a provider pauses', async () => {
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, sseHead).write(chunk({ content: 'Hi' }))
      setTimeout(() => response.end(DONE), 200)
    })
    await using gateway = await startGateway([{ name: 'p', baseUrl: upstream.baseUrl }], { server })
    const text = await textOf(await stream(gateway))
    expect(text.replaceAll(': keep-alive\n\n', '')).toBe(chunk({ content: 'Hi' }) + DONE)
    expect(text).toMatch(/^data: .*\n\n(: keep-alive\n\n)+data: /)
  })

  it('a quick answer has none', async () => {
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, sseHead).end(chunk({ content: 'Hi' }) + DONE)
    })
    await using gateway = await startGateway([{ name: 'p', baseUrl: upstream.baseUrl }], { server })
    expect(await textOf(await stream(gateway))).toBe(chunk({ content: 'Hi' }) + DONE)
  })
})

describe('a client that reads slowly', () => {
  const block = chunk({ content: 'x'.repeat(64 * 1024) })

  /** Writes for as long as the gateway takes it, until told to end. */
  function fountain() {
    const state = { written: 0, wanted: Infinity, closed: false }
    const opening = startUpstream((_request, response) => {
      response.once('close', () => (state.closed = true))
      response.writeHead(200, sseHead)
      const write = () => {
        while (state.written < state.wanted) {
          state.written++
          if (!response.write(block)) return void response.once('drain', write)
        }
        response.end(DONE)
      }
      write()
    })
    return { state, opening }
  }

  it('slows its provider, and memory stays flat however much there would be', async () => {
    const { state, opening } = fountain()
    await using upstream = await opening
    await using gateway = await startGateway([{ baseUrl: upstream.baseUrl }])
    const answer = await stream(gateway)
    let before = -1
    // until nothing more is taken
    while (state.written !== before) {
      before = state.written
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    // what the sockets of three processes hold, and not 64 MB and more
    expect(before * block.length).toBeLessThan(40 * 1024 * 1024)
    state.wanted = before + 1000
    const held = () => {
      gc()
      return process.memoryUsage().arrayBuffers
    }
    const atRest = held()
    const samples: number[] = []
    let bytes = 0
    for await (const part of answer) {
      const tenths = (n: number) => Math.floor((n * 10) / (state.wanted * block.length))
      const isNext = tenths(bytes + (part as Buffer).length) > tenths(bytes)
      bytes += (part as Buffer).length
      if (isNext) samples.push(held())
    }
    expect(bytes).toBe(state.wanted * block.length + DONE.length)
    // 65 MB have passed, and nothing has grown; a single sample may be caught before its sweep
    expect(samples).toHaveLength(10)
    expect(Math.min(...samples.slice(5)) - atRest).toBeLessThan(4 * 1024 * 1024)
  })

  it('and leaves ends its provider', async () => {
    const { state, opening } = fountain()
    await using upstream = await opening
    await using gateway = await startGateway([{ baseUrl: upstream.baseUrl }])
    const answer = await stream(gateway)
    await until(() => state.written > 2)
    answer.destroy()
    await until(() => state.closed)
    await until(() => gateway.gear.stats().calls.aborted === 1)
    expect(gateway.gear.getStatus()).toMatchObject({ failureCount: 0 })
  })

  it('is a probe as long as it reads now and then, and has left once it has read nothing for a minute', async () => {
    const clock = new VirtualClock()
    const { state, opening } = fountain()
    await using upstream = await opening
    const circuitBreaker = { cooldownMs: 1000, probeLeaseMs: 12_000 }
    await using gateway = await createGateway(
      { server: { port: 0 }, targets: [{ name: 'p', baseUrl: upstream.baseUrl, circuitBreaker }] },
      { clock },
    )
    gateway.gear.openCircuit()
    clock.advance(1000)
    const answer = await stream(gateway)
    let before = -1
    while (state.written !== before) {
      before = state.written
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const waiting = clock.pending
    for (let seconds = 5; seconds < 60; seconds += 5) {
      expect(gateway.gear.getStatus()).toMatchObject({ state: 'half-open', probes: { inFlight: 1 } })
      clock.advance(5000)
      await until(() => clock.pending === waiting)
    }
    clock.advance(5000)
    await until(() => gateway.gear.stats().calls.aborted === 1)
    expect(gateway.gear.getStatus()).toMatchObject({ state: 'half-open', probes: { inFlight: 0, failed: 0 } })
    await until(() => state.closed)
    await expect(textOf(answer)).rejects.toThrow()
  })
})
