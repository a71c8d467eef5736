import { setTimeout as delay } from 'node:timers/promises'

import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { rejection } from './clients-support.ts'
import { TOKEN, Wire, asAlice, exchange, startWhole, statuses } from './security-support.ts'
import type { Service } from './security-support.ts'
import { ask, sseHead, startUpstream, until } from './support.ts'

const LIMIT = 1_000_000
const HUNDRED_MB = 100 * 1024 * 1024
// what the two sockets may hold beside the limit
const IN_FLIGHT = 16 * 1024 * 1024
const REQUEST_MS = 500

let provider: ScriptedProvider
let whole: Service
/** Without patience, and with operators on a port of their own. */
let hasty: Service

beforeAll(async () => {
  provider = await startScriptedProvider()
  const targets = [{ name: 'one', baseUrl: provider.baseURL, maxRetries: 0 }] as const
  whole = await startWhole(() => ({ server: { maxBodyBytes: LIMIT }, targets }))
  const server = { requestTimeoutMs: REQUEST_MS, admin: { port: 0 } }
  hasty = await startWhole(() => ({ server, targets }))
})
afterAll(async () => {
  await whole[Symbol.asyncDispose]()
  await hasty[Symbol.asyncDispose]()
  await provider.close()
})

const works = async () => {
  expect((await ask(whole)).status).toBe(200)
  expect((await fetch(`${whole.url}/admin/circuits`, { headers: asAlice })).status).toBe(200)
}

/** A body of 100 MB that knows how much of it was asked for. */
function endless(): { body: ReadableStream<Uint8Array>; taken: () => number } {
  let taken = 0
  const part = new Uint8Array(64 * 1024).fill(0x78)
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (taken >= HUNDRED_MB) return controller.close()
      taken += part.length
      controller.enqueue(part)
    },
  })
  return { body, taken: () => taken }
}

describe('100 MB', () => {
  it.each(['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/messages', '/nowhere'])(
    'to %s are not taken in: the answer comes as soon as the limit is passed',
    async (path) => {
      const { body, taken } = endless()
      const answer = await fetch(`${whole.url}${path}`, {
        method: 'POST',
        body,
        duplex: 'half',
      } as RequestInit)
      expect(answer.status).toBe(413)
      expect(await answer.json()).toMatchObject({ error: { message: 'The body is too large.' } })
      expect(taken()).toBeLessThan(LIMIT + IN_FLIGHT)
      expect(provider.requests).toHaveLength(0)
      await works()
      provider.reset()
    },
  )

  it('that are announced are refused before they are sent', async () => {
    for (const size of [HUNDRED_MB, Number.MAX_SAFE_INTEGER]) {
      using wire = new Wire(whole.url)
      wire.send('POST /v1/chat/completions HTTP/1.1', 'host: x', `content-length: ${size}`, '', '')
      await wire.closed
      expect(statuses(wire.text)).toEqual([413])
    }
  })

  it('are not sent three times by a client that tries again', async () => {
    const client = new OpenAI({ baseURL: `${whole.url}/v1`, apiKey: 'any' })
    const content = 'x'.repeat(3 * LIMIT)
    const error = await rejection(
      client.chat.completions.create({ model: 'ok', messages: [{ role: 'user', content }] }),
    )
    expect(error).toMatchObject({ status: 413 })
    expect(provider.requests).toHaveLength(0)
  })

  it('to the admin API are refused, to strangers before anything of them is read', async () => {
    const stranger = endless()
    const unknown = await fetch(`${whole.url}/admin/circuits/one/open`, {
      method: 'POST',
      body: stranger.body,
      duplex: 'half',
    } as RequestInit)
    expect(unknown.status).toBe(401)
    expect(stranger.taken()).toBeLessThan(IN_FLIGHT)

    const { body, taken } = endless()
    const known = await fetch(`${whole.url}/admin/circuits/one/open`, {
      method: 'POST',
      headers: { ...asAlice, 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit)
    expect(known.status).toBe(413)
    expect(taken()).toBeLessThan(IN_FLIGHT)
    expect(whole.gateway.gear.getCircuitState()).toBe('closed')
    await works()
  })

  it('as one SSE event or as an endless error of a provider end the attempt, not the gateway', async () => {
    let ended = 0
    await using upstream = await startUpstream((request, response) => {
      response.once('close', () => ended++)
      const wrong = request.url?.endsWith('embeddings')
      if (wrong) response.writeHead(500, { 'content-type': 'application/json' })
      else response.writeHead(200, sseHead).write('data: "')
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
      }
      response.on('drain', more)
      more()
    })
    await using service = await startWhole(() => ({
      targets: [{ baseUrl: upstream.baseUrl, maxRetries: 0 }],
    }))
    const answer = await ask(service, { stream: true })
    expect(answer.status).toBe(502)
    await answer.text()
    const error = await fetch(`${service.url}/v1/embeddings`, { method: 'POST', body: '{"model":"ok"}' })
    expect(error.status).toBe(502)
    expect(await error.text()).not.toContain('xxxx')
    await until(() => ended === 2)
  })
})

/** One byte after the other, until the other side has had enough. */
async function drip(wire: Wire, text: string): Promise<void> {
  for (const letter of text) {
    if (wire.socket.destroyed) return
    wire.send(letter)
    await Promise.race([wire.closed, delay(20)])
  }
}

describe('whoever is slow', () => {
  const doors = ['clients', 'operators'] as const
  const urlOf = (door: (typeof doors)[number]) =>
    door === 'clients' ? hasty.gateway.url : hasty.gateway.adminUrl

  it.each(doors)('with its headers is cut off, however steadily they come (%s)', async (door) => {
    using wire = new Wire(urlOf(door))
    await drip(wire, `GET /livez HTTP/1.1\r\nhost: x\r\nx-slow: ${'a'.repeat(1000)}`)
    await wire.closed
    expect(statuses(wire.text)).toEqual([408])
  })

  it.each(doors)('with its body is cut off, however steadily it comes (%s)', async (door) => {
    using wire = new Wire(urlOf(door))
    const path = door === 'clients' ? '/v1/chat/completions' : '/admin/circuits/one/open'
    const auth = `authorization: Bearer ${TOKEN}`
    wire.send(
      `POST ${path} HTTP/1.1`,
      'host: x',
      auth,
      'content-type: application/json',
      'content-length: 4000',
      '',
      '',
    )
    await drip(wire, `{"model":"${'a'.repeat(1000)}`)
    await wire.closed
    expect(statuses(wire.text)).toEqual([408])
  })

  it.each(doors)('to say anything at all is cut off (%s)', async (door) => {
    using wire = new Wire(urlOf(door))
    await wire.closed
    expect(wire.text).not.toContain('200')
  })

  it('with its second request is cut off, too', async () => {
    using wire = new Wire(hasty.url)
    wire.send('GET /livez HTTP/1.1', 'host: x', '', '')
    await wire.until(/"ok"/)
    await drip(wire, `GET /livez HTTP/1.1\r\nx-slow: ${'a'.repeat(1000)}`)
    await wire.closed
    expect(statuses(wire.text)).toEqual([200, 408])
  })

  it('holds up nobody else', async () => {
    const slow = Array.from({ length: 200 }, () =>
      new Wire(hasty.url).send('POST /v1/chat/completions HTTP/1.1\r\n'),
    )
    expect((await ask(hasty)).status).toBe(200)
    await Promise.all(slow.map(({ closed }) => closed))
    expect((await ask(hasty)).status).toBe(200)
  })
})

describe('a head that is too long', () => {
  it.each([
    ['URL', [`GET /${'a'.repeat(20_000)} HTTP/1.1`, 'host: x']],
    ['query', [`GET /status?${'a=1&'.repeat(5000)} HTTP/1.1`, 'host: x']],
    ['header', ['GET /livez HTTP/1.1', 'host: x', `x-long: ${'a'.repeat(20_000)}`]],
    ['name', ['GET /livez HTTP/1.1', 'host: x', `${'x'.repeat(20_000)}: 1`]],
    [
      'list of headers',
      ['GET /livez HTTP/1.1', 'host: x', ...Array.from({ length: 2000 }, (_, i) => `x-${i}: aaaa`)],
    ],
  ])('in its %s is a 431', async (_what, lines) => {
    const answer = await exchange(whole.url, ...lines, 'connection: close', '', '')
    expect(statuses(answer)).toEqual([431])
    expect(answer).toContain('The headers are too large.')
    await works()
  })

  it.each(['/', '/v1/models/', '/admin/circuits/', '/assets/'])(
    'by little is answered in short (%s)',
    async (path) => {
      const long = `${path}${'a'.repeat(14_000)}`
      const answer = await exchange(
        whole.url,
        `GET ${long} HTTP/1.1`,
        'host: x',
        `authorization: Bearer ${TOKEN}`,
        'connection: close',
        '',
        '',
      )
      expect(statuses(answer)).toEqual([404])
      expect(answer.length).toBeLessThan(1500)
    },
  )
})
