import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import type { GatewayTarget } from '../../src/gateway/config/schema.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { post, sseHead, startGateway, startUpstream } from './support.ts'

let primary: ScriptedProvider
let backup: ScriptedProvider

beforeAll(async () => {
  primary = await startScriptedProvider({ name: 'primary', keepAliveMs: 20 })
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

type Targets = readonly [GatewayTarget, ...GatewayTarget[]]
const two = (api: 'openai' | 'anthropic', rules = {}): Targets => [
  { name: 'primary', baseUrl: primary.baseURL, api, ...rules },
  { name: 'backup', baseUrl: backup.baseURL, api, model: 'ok' },
]

const rows = [
  { path: '/v1/chat/completions', api: 'openai', marker: 'data: [DONE]' },
  { path: '/v1/responses', api: 'openai', marker: 'response.completed' },
  { path: '/v1/messages', api: 'anthropic', marker: 'message_stop' },
] as const

/** Answers are numbered by their provider; a sign of life before the first content is for the gateway alone. */
const strip = (text: string) =>
  text.replaceAll(/(chatcmpl-|resp_|msg_)\d+/g, '$1').replace('event: ping\ndata: {"type":"ping"}\n\n', '')

const lastEvent = (text: string): { name: string | undefined; data: Record<string, unknown> } => {
  const event = text.trimEnd().split('\n\n').at(-1)!
  return {
    name: /^event: (.*)$/m.exec(event)?.[1],
    data: JSON.parse(/^data: (.*)$/m.exec(event)![1]!) as Record<string, unknown>,
  }
}

describe.each(rows)('$path', ({ path, api, marker }) => {
  it('passes an answer in one piece as it is', async () => {
    await using gateway = await startGateway(two(api))
    const answer = await post(gateway, path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('x-switchgear-target')).toBe('primary')
    expect(strip(await answer.text())).toBe(strip(await (await post(primary, path)).text()))
    expect(primary.requests[0]).toMatchObject({ path, model: 'ok' })
  })

  it('passes a stream as it is', async () => {
    await using gateway = await startGateway(two(api))
    const answer = await post(gateway, path, { stream: true })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    const text = await answer.text()
    expect(strip(text)).toBe(strip(await (await post(primary, path, { stream: true })).text()))
    expect(text).toContain(marker)
  })

  it.each(['503', '529', 'html', '401', 'quota', '429', 'empty', 'cut', 'cut-json', 'stream-error'])(
    'takes %s for what it is: the backup answers',
    async (model) => {
      await using gateway = await startGateway(two(api))
      const answer = await post(gateway, path, { model })
      expect([answer.status, answer.headers.get('x-switchgear-target')]).toEqual([200, 'backup'])
    },
  )

  it.each(['503', 'empty', 'hang-content', 'keep-alives', 'cut-json', 'stream-error', 'hang'])(
    'falls over unseen where a stream fails before its first content (%s)',
    async (model) => {
      await using gateway = await startGateway(two(api, { firstContentTimeoutMs: 100 }))
      const answer = await post(gateway, path, { model, stream: true })
      expect([answer.status, answer.headers.get('x-switchgear-target')]).toEqual([200, 'backup'])
      const text = await answer.text()
      expect(text).toContain(marker)
      expect(text).not.toContain('ERR_')
    },
  )

  it.each(['cut', 'stall', 'stream-error-late', 'no-marker'])(
    'ends a stream that breaks after its first content (%s) with an error event of its own',
    async (model) => {
      await using gateway = await startGateway(two(api, { idleTimeoutMs: 100 }))
      const answer = await post(gateway, path, { model, stream: true })
      expect(answer.status).toBe(200)
      const text = await answer.text()
      expect(text).toContain('Hello')
      expect(text).not.toContain(marker)
      const { name, data } = lastEvent(text)
      expect(data).toMatchObject({ switchgear: { attempts: [{ target: 'primary' }] } })
      if (path === '/v1/chat/completions') {
        expect(name).toBeUndefined()
        expect(data['error']).toMatchObject({ code: 'ERR_STREAM_INTERRUPTED', type: 'server_error' })
      } else if (path === '/v1/responses') {
        expect(name).toBe('error')
        const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number))
        expect(numbers).toEqual(numbers.map((_, i) => i))
        expect(data).toMatchObject({ type: 'error', code: 'ERR_STREAM_INTERRUPTED', error: {} })
      } else {
        expect(name).toBe('error')
        expect(data).toMatchObject({ type: 'error', error: { type: 'api_error' } })
      }
      expect(gateway.gear.getStatus()).toMatchObject({ failureCount: 1 })
    },
  )

  it('tells of a refusal in its own shape, with the time to come back', async () => {
    const circuitBreaker = { threshold: 1, cooldownMs: 20_000 }
    await using gateway = await startGateway([
      { name: 'primary', baseUrl: primary.baseURL, api, circuitBreaker },
    ])
    primary.setOutage(true)
    expect((await post(gateway, path)).status).toBe(502)
    for (const stream of [false, true]) {
      const refused = await post(gateway, path, { stream })
      expect(refused.status).toBe(503)
      expect(refused.headers.get('x-should-retry')).toBe('false')
      expect(Number(refused.headers.get('retry-after-ms'))).toBeGreaterThan(15_000)
      const attempts = [{ target: 'primary', outcome: 'refused', failure: 'circuit_open' }]
      expect(await refused.json()).toMatchObject(
        api === 'openai'
          ? { error: { type: 'server_error', code: 'ERR_CIRCUIT_OPEN' }, switchgear: { attempts } }
          : { type: 'error', error: { type: 'overloaded_error' }, switchgear: { attempts } },
      )
    }
    expect(primary.requests).toHaveLength(1)
  })

  it.each(['400', 'context-length', 'content-filter'])(
    'hands on what a provider says of the client’s own fault (%s)',
    async (model) => {
      await using gateway = await startGateway(two(api))
      const answer = await post(gateway, path, { model })
      const direct = await post(primary, path, { model })
      expect(answer.status).toBe(direct.status)
      expect(await answer.text()).toBe(await direct.text())
      expect(backup.requests).toHaveLength(0)
    },
  )
})

describe('/v1/embeddings', () => {
  it('passes, also where stream is asked for, which it does not know', async () => {
    await using gateway = await startGateway(two('openai'))
    const answer = await post(gateway, '/v1/embeddings', { input: 'Hi', stream: true })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ object: 'list', data: [{ object: 'embedding' }] })
    expect(primary.requests[0]).toMatchObject({ path: '/v1/embeddings' })
  })

  it.each(['503', 'empty', 'cut', 'cut-json', 'stream-error', 'html', 'no-such-thing'])(
    'of %s is an answer or comes from the backup',
    async (model) => {
      await using gateway = await startGateway(two('openai'))
      const answer = await post(gateway, '/v1/embeddings', { model })
      const target = model === 'no-such-thing' ? 'primary' : 'backup'
      expect([answer.status, answer.headers.get('x-switchgear-target')]).toEqual([200, target])
    },
  )

  it('takes megabytes of numbers for an answer, byte by byte', async () => {
    const vector = Array.from({ length: 3072 }, (_, i) => i / 3073)
    const data = Array.from({ length: 60 }, (_, index) => ({ object: 'embedding', index, embedding: vector }))
    const body = JSON.stringify({ object: 'list', data, model: 'm', usage: {} })
    await using upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
    await using gateway = await startGateway([{ baseUrl: upstream.baseUrl }])
    expect(await (await post(gateway, '/v1/embeddings')).text()).toBe(body)
  })
})

describe('targets that do not speak an endpoint', () => {
  const mixed = (): Targets => [
    { name: 'claude', baseUrl: primary.baseURL, api: 'anthropic' },
    { name: 'gpt', baseUrl: backup.baseURL },
  ]

  it('are left out of the chain', async () => {
    await using gateway = await startGateway(mixed())
    for (const [path, target] of [
      ['/v1/chat/completions', 'gpt'],
      ['/v1/responses', 'gpt'],
      ['/v1/embeddings', 'gpt'],
      ['/v1/messages', 'claude'],
    ] as const) {
      const answer = await post(gateway, path)
      expect([answer.status, answer.headers.get('x-switchgear-target')]).toEqual([200, target])
      expect(answer.headers.get('x-switchgear-attempted-fallbacks')).toBe('0')
    }
  })

  it('leave nobody: a 404 says what is missing, in the shape of the endpoint', async () => {
    await using gateway = await startGateway([{ baseUrl: primary.baseURL }])
    const answer = await post(gateway, '/v1/messages')
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({
      type: 'error',
      error: {
        type: 'not_found_error',
        message: 'No target speaks /v1/messages: that takes a target with api: anthropic.',
      },
    })
    expect(primary.requests).toHaveLength(0)
  })

  it('are passed over where a list of fallbacks names them', async () => {
    await using gateway = await startGateway(
      [
        { name: 'gpt', baseUrl: primary.baseURL },
        { name: 'claude', baseUrl: backup.baseURL, api: 'anthropic' },
      ],
      { contextWindowFallbacks: { gpt: ['claude'] } },
    )
    const answer = await post(gateway, '/v1/chat/completions', { model: 'context-length' })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(await answer.json()).toMatchObject({
      switchgear: { attempts: [{ failure: 'context_window' }, { target: 'claude', failure: 'unsupported' }] },
    })
    expect(backup.requests).toHaveLength(0)
  })
})

describe('/v1/models', () => {
  const ids = async (url: string) => {
    const list = (await (await fetch(`${url}/v1/models`)).json()) as {
      data: { id: string; object: string }[]
    }
    return list.data.map(({ id }) => id)
  }

  it('lists the groups, and one of them by its name', async () => {
    await using gateway = await startGateway(two('openai'), {
      models: { 'org/smart': ['primary'], cheap: ['backup'] },
    })
    expect(await ids(gateway.url)).toEqual(['org/smart', 'cheap'])
    const one = await fetch(`${gateway.url}/v1/models/org/smart`)
    expect(await one.json()).toMatchObject({ id: 'org/smart', object: 'model', owned_by: 'switchgear' })
    const none = await fetch(`${gateway.url}/v1/models/gpt`)
    expect([none.status, await none.json()]).toMatchObject([404, { error: { code: 'model_not_found' } }])
  })

  it('lists what the targets are asked for where there are no groups, or any model goes', async () => {
    await using bare = await startGateway(two('openai'))
    expect(await ids(bare.url)).toEqual(['primary', 'ok'])
    await using any = await startGateway(two('openai'), { models: { smart: ['primary'], '*': ['backup'] } })
    expect(await ids(any.url)).toEqual(['smart', 'ok'])
  })
})

describe('what leaves for a provider', () => {
  const seen: { url: string | undefined; headers: Record<string, unknown>; body: string }[] = []
  const upstream = () =>
    startUpstream((request, response, body) => {
      seen.push({ url: request.url, headers: request.headers, body })
      response.writeHead(500).end()
    })
  beforeEach(() => {
    seen.length = 0
  })

  it('carries the key, headers and query of the provider, and what the target sets', async () => {
    await using provider = await upstream()
    await using gateway = await startGateway(
      [
        { name: 'azure', provider: 'azure', set: { temperature: 1, model: 'x' }, drop: ['logit_bias'] },
        { name: 'claude', provider: 'anthropic', headers: { 'anthropic-beta': 'own' } },
        { name: 'open', provider: 'azure', auth: 'none' },
        {
          name: 'token',
          baseUrl: provider.baseUrl,
          apiKey: 'k',
          auth: { header: 'X-Auth', prefix: 'Token ' },
        },
      ],
      {
        providers: {
          azure: {
            baseUrl: provider.baseUrl,
            apiKey: 'azure-key',
            auth: { header: 'api-key' },
            query: { 'api-version': 'pre view' },
            headers: { 'X-Team': 'a' },
          },
          anthropic: {
            baseUrl: `${provider.baseUrl}/`,
            apiKey: 'claude-key',
            api: 'anthropic',
            headers: { 'anthropic-version': '2023-06-01' },
          },
        },
      },
    )
    const headers = { 'anthropic-version': '2000', 'anthropic-beta': 'theirs', 'x-api-key': 'client' }
    await post(gateway, '/v1/chat/completions', { logit_bias: {}, seed: 1 }, { headers })
    await post(gateway, '/v1/messages', {}, { headers })
    const [azure, open, token, claude] = seen
    expect(azure?.url).toBe('/v1/chat/completions?api-version=pre+view')
    expect(azure?.headers).toMatchObject({ 'api-key': 'azure-key', 'x-team': 'a' })
    expect(azure?.headers['authorization']).toBeUndefined()
    expect(azure?.body).toBe('{"temperature":1,"model":"x","seed":1}')
    expect(open?.headers['api-key']).toBeUndefined()
    expect(token?.headers).toMatchObject({ 'x-auth': 'Token k' })
    expect(claude?.url).toBe('/v1/messages')
    expect(claude?.headers).toMatchObject({
      'x-api-key': 'claude-key',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'own',
    })
    expect(JSON.stringify(seen)).not.toContain('client')
  })

  it('lets the Anthropic headers of a client pass where the target has none', async () => {
    await using provider = await upstream()
    await using gateway = await startGateway([{ baseUrl: provider.baseUrl, api: 'anthropic' }])
    const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b' }
    await post(gateway, '/v1/messages', {}, { headers })
    expect(seen[0]?.headers).toMatchObject(headers)
  })

  it('never goes to another host, whatever model a client names', async () => {
    await using provider = await upstream()
    await using other = await startUpstream(() => seen.push({ url: 'other', headers: {}, body: '' }))
    await using gateway = await startGateway([{ baseUrl: provider.baseUrl }])
    for (const model of [`${other.baseUrl}/x`, '../../admin', '//evil', `@${new URL(other.baseUrl).host}/`]) {
      const headers = { 'x-forwarded-host': new URL(other.baseUrl).host }
      await post(gateway, '/v1/chat/completions', { model }, { headers })
    }
    expect(seen.map(({ url }) => url)).toEqual(Array(4).fill('/v1/chat/completions'))
  })
})

it('an SSE stream with CR line ends and the mark of UTF-8 is a stream', async () => {
  const body = [
    '\u{feff}data: {"choices":[{"index":0,"delta":{"content":"Grüße"},"finish_reason":null}]}\r\r',
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\r\r',
    'data: [DONE]\r\r',
  ].join('')
  await using upstream = await startUpstream((_request, response) => {
    response.writeHead(200, sseHead).end(body)
  })
  await using gateway = await startGateway([{ baseUrl: upstream.baseUrl }])
  const answer = await post(gateway, '/v1/chat/completions', { stream: true })
  expect([answer.status, Buffer.from(await answer.arrayBuffer()).toString()]).toEqual([200, body])
})
