import { hostname } from 'node:os'

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { createGateway } from '../../src/gateway/server.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask, messages, startGateway, startUpstream, until } from './support.ts'

let primary: ScriptedProvider
let backup: ScriptedProvider

beforeAll(async () => {
  primary = await startScriptedProvider({ name: 'primary' })
  backup = await startScriptedProvider({ name: 'backup' })
})
afterAll(async () => {
  await primary.close()
  await backup.close()
})
beforeEach(() => {
  primary.reset()
  backup.reset()
})

const one = () => [{ name: 'primary', baseUrl: primary.baseURL }] as const
const two = (rules = {}) =>
  [
    { name: 'primary', baseUrl: primary.baseURL, ...rules },
    { name: 'backup', baseUrl: backup.baseURL, model: 'ok', ...rules },
  ] as const

describe('an answer in one piece', () => {
  it('comes through as it is, with the headers that say who gave it', async () => {
    await using gateway = await startGateway(two())
    const answer = await ask(gateway)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(
      Object.fromEntries([...answer.headers].filter(([name]) => name.startsWith('x-switchgear'))),
    ).toEqual({
      'x-switchgear-call': expect.stringMatching(/^[\w-]{36}$/),
      'x-switchgear-target': 'primary',
      'x-switchgear-model': 'ok',
      'x-switchgear-attempted-retries': '0',
      'x-switchgear-attempted-fallbacks': '0',
    })
    const direct = await fetch(`${primary.baseURL}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'ok', messages }),
    })
    const strip = (text: string) => text.replace(/chatcmpl-\d+/, '')
    expect(strip(await answer.text())).toBe(strip(await direct.text()))
  })

  it('comes from the backup when the primary fails, and from the start once its circuit is open', async () => {
    await using gateway = await startGateway(two({ circuitBreaker: { threshold: 2 } }))
    primary.setOutage(true)
    for (let i = 0; i < 5; i++) {
      const answer = await ask(gateway)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-switchgear-target')).toBe('backup')
      expect(answer.headers.get('x-switchgear-attempted-fallbacks')).toBe('1')
      expect(await answer.text()).toContain('Hello from backup')
    }
    expect(primary.requests).toHaveLength(2)
    expect(gateway.gear.getCircuitStates().map(({ state }) => state)).toEqual(['open', 'closed'])
  })

  it('counts the retries', async () => {
    let asked = 0
    await using upstream = await startUpstream((_request, response) => {
      asked++
      if (asked === 1) response.writeHead(503).end('{}')
      else
        response.end(
          JSON.stringify({
            object: 'chat.completion',
            choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
          }),
        )
    })
    await using gateway = await startGateway([
      { baseUrl: upstream.baseUrl, maxRetries: 1, retry: { baseMs: 1 } },
    ])
    const answer = await ask(gateway)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-switchgear-attempted-retries')).toBe('1')
  })

  it.each(['empty', 'cut', 'cut-json', 'stream-error', 'html', '401', 'quota'])(
    'of %s is none: the backup answers',
    async (model) => {
      await using gateway = await startGateway(two())
      const answer = await ask(gateway, { model })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-switchgear-target')).toBe('backup')
    },
  )
})

describe('the request', () => {
  it('takes only the target’s own key along, and no cookie, hop-by-hop or account header', async () => {
    const seen: Record<string, unknown>[] = []
    await using upstream = await startUpstream((request, response) => {
      seen.push(request.headers)
      response.writeHead(500).end()
    })
    const key = 'sk-of-the-target-0001'
    await using gateway = await startGateway([
      { name: 'keyed', baseUrl: upstream.baseUrl, apiKey: key },
      { name: 'keyless', baseUrl: upstream.baseUrl },
    ])
    const headers = {
      authorization: 'Bearer sk-of-the-client',
      'x-api-key': 'client',
      'api-key': 'client',
      cookie: 'a=client',
      'openai-organization': 'client',
      'proxy-authorization': 'client',
      'x-forwarded-for': 'client',
      'user-agent': 'my-app/1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }
    const answer = await ask(gateway, {}, { headers })
    expect(await answer.text()).not.toContain(key)
    expect(JSON.stringify(seen)).not.toContain('client')
    expect(seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${key}`, undefined])
    expect(seen[0]).toMatchObject({ 'user-agent': 'my-app/1', traceparent: headers.traceparent })
  })

  it('keeps every byte of the body; the target’s own model takes the place of the client’s', async () => {
    const seen: string[] = []
    await using upstream = await startUpstream((_request, response, body) => {
      seen.push(body)
      response.writeHead(500).end()
    })
    await using gateway = await startGateway([
      { name: 'a', baseUrl: upstream.baseUrl },
      { name: 'b', baseUrl: upstream.baseUrl, model: 'own' },
    ])
    const body = (model: string) =>
      `{ "seed": 12345678901234567890, "x": {"model": "inner"}, "t": 1.0,\n "model" : ${model} , "s": "\\"model\\": {" }`
    await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body: body('"theirs"') })
    expect(seen).toEqual([body('"theirs"'), body('"own"')])
  })

  it.each([
    ['no JSON', '{', 'not valid JSON'],
    ['no object', '[]', 'must be a JSON object'],
    ['nothing', '', 'not valid JSON'],
    ['a model that is no text', '{"model": 5}', 'model must be a string'],
  ])('of %s is refused with 400', async (_what, body, message) => {
    await using gateway = await startGateway(one())
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: expect.stringContaining(message) },
    })
    expect(primary.requests).toHaveLength(0)
  })

  it('cannot put a header into the answer through its model', async () => {
    await using gateway = await startGateway(one())
    const answer = await ask(gateway, { model: 'a\r\nx-evil: 1 é\u{1F600}\ud800' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-evil')).toBeNull()
    expect(answer.headers.get('x-switchgear-model')).toMatch(/^a%0D%0Ax-evil: 1 %C3%A9%F0%9F%98%80/)
  })
})

describe('a call without an answer', () => {
  it('is refused with the time to come back once the circuit is open', async () => {
    await using gateway = await startGateway([
      { name: 'primary', baseUrl: primary.baseURL, circuitBreaker: { threshold: 1, cooldownMs: 20_000 } },
    ])
    primary.setOutage(true)
    const failed = await ask(gateway)
    expect(failed.status).toBe(502)
    expect(failed.headers.get('x-should-retry')).toBe('false')
    expect(await failed.json()).toMatchObject({
      error: { code: 'server_error' },
      switchgear: {
        attempts: [
          { target: 'primary', model: 'ok', outcome: 'failed', failure: 'server_error', status: 503 },
        ],
      },
    })

    const refused = await ask(gateway)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(15)
    expect(Number(refused.headers.get('retry-after-ms'))).toBeGreaterThan(15_000)
    expect(await refused.json()).toEqual({
      error: {
        message: expect.stringContaining('is open'),
        type: 'server_error',
        param: null,
        code: 'ERR_CIRCUIT_OPEN',
      },
      switchgear: {
        call: refused.headers.get('x-switchgear-call'),
        attempts: [
          expect.objectContaining({ target: 'primary', outcome: 'refused', failure: 'circuit_open' }),
        ],
      },
    })
    expect(primary.requests).toHaveLength(1)
  })

  it('tells all attempts as kinds and codes, without a word of the providers', async () => {
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(500).end('{"error": {"message": "the secret words of the provider"}}')
    })
    await using gateway = await startGateway([
      { name: 'down', baseUrl: 'http://127.0.0.1:1/v1' },
      { name: 'sick', baseUrl: upstream.baseUrl },
    ])
    const answer = await ask(gateway)
    expect(answer.status).toBe(502)
    const text = await answer.text()
    expect(text).not.toContain('secret')
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 'ERR_FALLBACK_EXHAUSTED' },
      switchgear: {
        attempts: [
          { target: 'down', failure: 'network', code: 'ECONNREFUSED' },
          { target: 'sick', failure: 'server_error', status: 500 },
        ],
      },
    })
  })

  it.each([
    ['400', 400, "Invalid type for 'temperature'"],
    ['context-length', 400, 'maximum context length'],
    ['content-filter', 400, 'content management policy'],
  ])(
    'for %s is the client’s own fault: status and body of the provider, no fallback',
    async (model, status, words) => {
      await using gateway = await startGateway(two())
      const answer = await ask(gateway, { model })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('x-should-retry')).toBe('false')
      expect(answer.headers.get('x-switchgear-target')).toBe('primary')
      expect(await answer.text()).toContain(words)
      expect(backup.requests).toHaveLength(0)
    },
  )

  it.each([
    ['404', 404, 'invalid_request_error'],
    ['401', 502, 'server_error'],
    ['429-1', 429, 'rate_limit_error'],
    ['quota', 503, 'server_error'],
  ])('for %s gets the status %i', async (model, status, type) => {
    await using gateway = await startGateway(one())
    const answer = await ask(gateway, { model })
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject({ error: { type } })
  })

  it('in time gets 504, at the limit of an attempt and at the deadline', async () => {
    await using gateway = await startGateway([{ name: 'primary', baseUrl: primary.baseURL, timeoutMs: 50 }])
    const late = await ask(gateway, { model: 'hang' })
    expect(late.status).toBe(504)
    expect(await late.json()).toMatchObject({
      error: { code: 'ERR_ATTEMPT_TIMEOUT' },
      switchgear: { attempts: [{ failure: 'timeout' }] },
    })
    await using hasty = await startGateway(one(), { deadlineMs: 50 })
    const over = await ask(hasty, { model: 'hang' })
    expect(over.status).toBe(504)
    expect(await over.json()).toMatchObject({
      error: { code: 'ERR_DEADLINE_EXCEEDED' },
      switchgear: { attempts: [{ target: 'primary', failure: 'timeout' }] },
    })
  })

  it('because the client left ends upstream, too', async () => {
    await using gateway = await startGateway(one())
    const leaving = new AbortController()
    const answer = ask(gateway, { model: 'hang' }, { signal: leaving.signal })
    await until(() => primary.requests.length === 1)
    leaving.abort()
    await expect(answer).rejects.toThrow('aborted')
    await until(() => primary.requests[0]?.outcome === 'aborted-by-client')
    expect(gateway.gear.getStatus()).toMatchObject({ failureCount: 0 })
  })
})

describe('status and livez', () => {
  it('tell the circuits in words, and change nothing', async () => {
    await using gateway = await startGateway(two({ circuitBreaker: { threshold: 1, cooldownMs: 20_000 } }))
    primary.setOutage(true)
    await ask(gateway)
    const status = await fetch(`${gateway.url}/status`)
    expect(await status.json()).toEqual({
      replica: hostname(),
      status: 'ready',
      targets: [
        { name: 'primary', breaker: true },
        { name: 'backup', model: 'ok', breaker: true },
      ],
      circuits: [
        {
          circuit: 'primary',
          targets: ['primary'],
          state: 'open',
          held: false,
          since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          retryAfterMs: expect.any(Number),
          failures: { server_error: 1 },
          explain: expect.stringContaining("Circuit 'primary' is open (calls refused)"),
        },
        expect.objectContaining({ circuit: 'backup', state: 'closed', retryAfterMs: 0 }),
      ],
    })
    expect(await (await fetch(`${gateway.url}/livez`)).json()).toEqual({ status: 'ok' })
    expect(primary.requests).toHaveLength(1)
  })

  it('tell what a circuit would be that is only observed', async () => {
    const circuitBreaker = { mode: 'observe', threshold: 1 } as const
    await using gateway = await startGateway(two({ circuitBreaker }))
    primary.setOutage(true)
    await ask(gateway)
    const { circuits } = (await (await fetch(`${gateway.url}/status`)).json()) as { circuits: unknown[] }
    expect(circuits[0]).toMatchObject({
      circuit: 'primary',
      state: 'open',
      observed: true,
      explain: expect.stringContaining(
        "Circuit 'primary' would be open (only observed: nothing is refused) since",
      ),
    })
  })

  it('tell the circuits of every model, and shared ones once', async () => {
    await using gateway = await startGateway([
      { name: 'each', baseUrl: primary.baseURL, circuitBreaker: { isolateByModel: true } },
      { name: 'b', baseUrl: backup.baseURL, bucket: 'shared' },
      { name: 'c', baseUrl: backup.baseURL, bucket: 'shared', circuitBreaker: true },
      { name: 'bare', baseUrl: backup.baseURL, circuitBreaker: false },
    ])
    await ask(gateway, { model: 'x/1' })
    await ask(gateway, { model: 'y' })
    const { circuits, targets } = (await (await fetch(`${gateway.url}/status`)).json()) as {
      circuits: { circuit: string; targets: string[] }[]
      targets: { breaker: boolean }[]
    }
    expect(circuits.map(({ circuit, targets }) => [circuit, targets.join()])).toEqual([
      ['each/x/1', 'each'],
      ['each/y', 'each'],
      ['shared', 'b,c'],
    ])
    expect(targets.map(({ breaker }) => breaker)).toEqual([true, true, true, false])
  })

  it('are all there is: anything else is a 404 in the shape of OpenAI', async () => {
    await using gateway = await startGateway(one())
    const answer = await fetch(`${gateway.url}/v1/nowhere?key=secret`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({
      error: { code: 'unknown_url', message: 'There is no GET /v1/nowhere here.' },
    })
  })
})

describe('the server', () => {
  it('says when its port is in use', async () => {
    const server = { port: primary.port }
    await expect(createGateway({ server, targets: one() })).rejects.toMatchObject({
      code: 'ERR_PORT_IN_USE',
      message: expect.stringContaining(`port ${primary.port} on 127.0.0.1 is in use`),
    })
  })

  it('lets a running call end before it closes', async () => {
    const gateway = await startGateway(one())
    const answer = ask(gateway, { model: 'slow-200' })
    await until(() => primary.requests.length === 1)
    await gateway.close()
    expect((await answer).status).toBe(200)
  })

  it('does not wait for ever', async () => {
    const gateway = await startGateway(one())
    const answer = ask(gateway, { model: 'hang' })
    await until(() => primary.requests.length === 1)
    await gateway.close({ drainMs: 50 })
    expect((await answer).status).toBe(503)
  })
})
