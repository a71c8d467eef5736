import { connect } from 'node:net'
import type { Socket } from 'node:net'

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import type { Gateway } from '../../src/gateway/server.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask, messages, post, startGateway } from './support.ts'

let provider: ScriptedProvider

beforeAll(async () => {
  provider = await startScriptedProvider({ name: 'p' })
})
afterAll(() => provider.close())
beforeEach(() => provider.reset())

const start = (server = {}) =>
  startGateway([{ name: 'p', baseUrl: provider.baseURL }], { server: { port: 0, ...server } })

describe('client keys', () => {
  const clientKeys = { team: 'key-of-the-team', other: 'another-key-0001' }

  it.each([
    ['bearer', { authorization: 'Bearer key-of-the-team' }],
    ['bearer, in any case', { authorization: 'bearer another-key-0001' }],
    ['x-api-key', { 'x-api-key': 'key-of-the-team' }],
  ])('that are known pass (%s)', async (_what, headers: Record<string, string>) => {
    await using gateway = await start({ clientKeys })
    expect((await ask(gateway, {}, { headers })).status).toBe(200)
    expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(200)
    // the provider never sees them
    expect(provider.requests[0]).toMatchObject({ authorized: false })
  })

  it.each([
    ['none', {}, 'is needed'],
    ['a wrong one', { authorization: 'Bearer key-of-the-tean' }, 'is not known'],
    ['a part of one', { authorization: 'Bearer key' }, 'is not known'],
    ['another scheme', { authorization: 'Basic key-of-the-team' }, 'is needed'],
    ['the name', { 'x-api-key': 'team' }, 'is not known'],
  ])(
    'that are %s are a 401, in the shape of the endpoint',
    async (_what, headers: Record<string, string>, words) => {
      await using gateway = await start({ clientKeys })
      const answer = await ask(gateway, {}, { headers })
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({
        error: { type: 'authentication_error', message: expect.stringContaining(words) },
      })
      const claude = await post(gateway, '/v1/messages', {}, { headers })
      expect(claude.status).toBe(401)
      expect(await claude.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } })
      expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(401)
      expect((await fetch(`${gateway.url}/livez`)).status).toBe(200)
      expect(provider.requests).toHaveLength(0)
    },
  )
})

describe('a page in a browser', () => {
  const from = (origin: string, more: Record<string, string> = {}) => ({ headers: { origin, ...more } })

  it('of another origin spends nothing where everybody may call', async () => {
    await using gateway = await start()
    for (const origin of ['https://evil.example', 'null']) {
      const answer = await ask(gateway, {}, from(origin))
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({
        error: { message: expect.stringContaining('server.clientKeys') },
      })
    }
    expect(provider.requests).toHaveLength(0)
    expect((await ask(gateway, {}, from(gateway.url))).status).toBe(200)
  })

  it('of another origin may call with a key', async () => {
    await using gateway = await start({ clientKeys: { page: 'key-of-the-page' } })
    const more = from('https://app.example', { authorization: 'Bearer key-of-the-page' })
    expect((await ask(gateway, {}, more)).status).toBe(200)
  })
})

describe('a body', () => {
  it('beyond the limit is a 413 that says so, with and without its length told before', async () => {
    await using gateway = await start({ maxBodyBytes: 1000 })
    const body = JSON.stringify({ model: 'ok', messages, padding: 'x'.repeat(2000) })
    for (const sent of [body, new Blob([body]).stream()]) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        body: sent,
        duplex: 'half',
      } as RequestInit)
      expect(answer.status).toBe(413)
      expect(await answer.json()).toMatchObject({ error: { message: 'The body is too large.' } })
    }
    expect(provider.requests).toHaveLength(0)
  })

  it('as deep as it is long hurts nobody', async () => {
    await using gateway = await start()
    const depth = 500_000
    const deep = `{"model":"ok","x":${'['.repeat(depth)}${']'.repeat(depth)}}`
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body: deep })
    expect([200, 400]).toContain(answer.status)
    expect((await ask(gateway)).status).toBe(200)
  })

  it('with __proto__ and constructor in it changes nothing but itself', async () => {
    await using gateway = await start()
    const body = `{"__proto__":{"stream":true,"model":"503"},"constructor":{"prototype":{"x":1}},"model":"ok"}`
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })
})

/** Speaks to a gateway as it likes. */
async function dial(gateway: Gateway): Promise<{ socket: Socket; closed: Promise<string> }> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (part: string) => (text += part))
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(text))
    socket.once('error', () => resolve(text))
  })
  await new Promise((resolve) => socket.once('connect', resolve))
  return { socket, closed }
}

describe('a slow request', () => {
  it.each([
    ['headers', 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n'],
    ['body', 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"model"'],
  ])('is cut off with 408 (%s)', async (_what, sent) => {
    await using gateway = await start({ requestTimeoutMs: 200 })
    const { socket, closed } = await dial(gateway)
    socket.write(sent)
    expect(await closed).toMatch(/^HTTP\/1.1 408 [\s\S]*took too long to arrive/)
    expect((await ask(gateway)).status).toBe(200)
  })

  it('that is no HTTP is a 400', async () => {
    await using gateway = await start()
    const { socket, closed } = await dial(gateway)
    socket.write('GARBAGE\r\n\r\n')
    expect(await closed).toMatch(/^HTTP\/1.1 400 [\s\S]*cannot be read/)
  })

  it('does not end a long answer', async () => {
    await using gateway = await start({ requestTimeoutMs: 100 })
    expect((await ask(gateway, { model: 'slow-400' })).status).toBe(200)
  })
})
