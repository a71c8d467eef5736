import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { startUpstream, ask, until } from './support.ts'
import { TOKEN, Wire, asAlice, exchange, startWhole, statuses } from './security-support.ts'
import type { Service } from './security-support.ts'

const ANSWER = JSON.stringify({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
})

interface Seen {
  readonly line: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}
const seen: Seen[] = []
let upstream: Awaited<ReturnType<typeof startUpstream>>
let answerHeaders: Record<string, string> = {}
let whole: Service

beforeAll(async () => {
  upstream = await startUpstream(({ method, url, headers }, response, body) => {
    seen.push({ line: `${method} ${url}`, headers, body })
    response.writeHead(200, { 'content-type': 'application/json', ...answerHeaders })
    response.end(ANSWER)
  })
  const rules = { baseUrl: upstream.baseUrl, maxRetries: 0 }
  whole = await startWhole(() => ({
    targets: [
      { ...rules, name: 'one', circuitBreaker: { isolateByModel: true } },
      { ...rules, name: 'own', model: 'its-own' },
    ],
  }))
})
afterAll(async () => {
  await whole[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})
beforeEach(() => {
  seen.length = 0
  answerHeaders = {}
})

const BODY = '{"model":"ok","messages":[]}'
const LENGTH = `content-length: ${BODY.length}`
const CHAT = 'POST /v1/chat/completions HTTP/1.1'
/** One request that ends its connection. */
const sent = (first: string, ...headers: readonly string[]) =>
  exchange(whole.url, first, ...headers, LENGTH, 'connection: close', '', BODY)

const host = () => new URL(upstream.baseUrl).host
const onlyConfigured = () => {
  expect(seen.map(({ line }) => line)).toEqual(seen.map(() => 'POST /v1/chat/completions'))
  for (const { headers } of seen) {
    expect(headers['host']).toBe(host())
    expect(JSON.stringify(headers)).not.toContain('evil')
  }
}

describe('no request leaves for another host', () => {
  it.each([
    ['an absolute URL', 'POST http://evil.example/v1/chat/completions HTTP/1.1', 'host: evil.example'],
    ['a foreign host', CHAT, 'host: evil.example'],
    ['a host with a user', CHAT, 'host: user@evil.example:80'],
    ['x-forwarded-host', CHAT, 'host: x', 'x-forwarded-host: evil.example', 'x-forwarded-proto: https'],
    ['forwarded', CHAT, 'host: x', 'forwarded: host=evil.example;proto=https', 'x-forwarded-for: evil'],
    ['x-original-url', CHAT, 'host: x', 'x-original-url: http://evil.example/', 'x-rewrite-url: /evil'],
    [
      'a proxy’s base URL',
      CHAT,
      'host: x',
      'x-base-url: http://evil.example/v1',
      'helicone-target-url: evil',
    ],
    ['headers named hop-by-hop', CHAT, 'host: x', 'connection: close, authorization', 'x-evil: 1'],
  ])('by %s', async (_what, first, ...headers) => {
    expect(statuses(await sent(first, ...headers))).toEqual([200])
    expect(seen).toHaveLength(1)
    onlyConfigured()
  })

  it.each([
    'http://evil.example/v1',
    '//evil.example/v1',
    '../../admin/circuits',
    '@evil.example',
    'one?host=evil.example',
    'one#evil',
    '__proto__',
    'constructor',
    'toString',
    'a\r\nhost: evil.example\r\n\r\nGET /evil HTTP/1.1\r\n',
    '\u0000',
    '\ud800',
    '${OPENAI_API_KEY}',
  ])('by the model %j', async (model) => {
    const answer = await ask(whole, { model })
    expect([answer.status, await answer.text()]).toEqual([200, ANSWER])
    expect(seen).toHaveLength(1)
    expect(JSON.parse(seen[0]!.body)).toMatchObject({ model })
    onlyConfigured()
  })

  it.each([
    'http://evil.example/v1',
    'evil.example',
    'one, evil',
    'one;host=evil',
    'ONE',
    ' one,',
    '__proto__',
    'constructor',
    'one/../evil',
    'öne',
    'x'.repeat(10_000),
  ])('by x-switchgear-target: %s', async (target) => {
    const answer = await sent(CHAT, 'host: x', `x-switchgear-target: ${target}`)
    expect(statuses(answer)).toEqual([400])
    expect(answer).toContain('"param":"x-switchgear-target"')
    expect(answer.length).toBeLessThan(1000)
    expect(seen).toHaveLength(0)
  })

  it.each([
    ['an empty target', 'x-switchgear-target:'],
    ['two targets', 'x-switchgear-target: one', 'x-switchgear-target: own'],
    ['a bypass of nothing', 'x-switchgear-bypass: true'],
    ['a bypass that is neither yes nor no', 'x-switchgear-target: one', 'x-switchgear-bypass: 1'],
    ['a mock where none is allowed', 'x-switchgear-mock: 429'],
  ])('nor at all by %s', async (_what, ...headers) => {
    expect(statuses(await sent(CHAT, 'host: x', ...headers))).toEqual([400])
    expect(seen).toHaveLength(0)
  })
})

describe('no header is smuggled in', () => {
  it.each(['a\r\nx-evil: 1', 'a\nx-evil: 1', 'a\rx-evil: 1', 'a\u2028x-evil: 1', 'a\r\n\r\n<script>'])(
    'by the model %j',
    async (model) => {
      const body = JSON.stringify({ model })
      const answer = await exchange(
        whole.url,
        CHAT,
        'host: x',
        `content-length: ${Buffer.byteLength(body)}`,
        'connection: close',
        '',
        Buffer.from(body).toString('latin1'),
      )
      const [head = ''] = answer.split('\r\n\r\n')
      expect(statuses(answer)).toEqual([200])
      expect(head).not.toMatch(/^x-evil/m)
      expect(head).toMatch(/^x-switchgear-model: a%/m)
      expect(answer.endsWith(ANSWER)).toBe(true)
    },
  )

  it.each(['x-request-id', 'openai-version', 'x-ratelimit-limit-requests'])(
    'by a provider in %s, nor a line end, nor a letter that is none',
    async (name) => {
      answerHeaders = {
        [name]: 'é\u0080 x',
        'set-cookie': 'a=1',
        location: 'http://evil.example',
        via: 'evil',
      }
      const answer = await ask(whole)
      expect(answer.status).toBe(200)
      expect(answer.headers.get(name)).toMatch(/^[ -~]*$/)
      for (const other of ['set-cookie', 'location', 'via']) expect(answer.headers.get(other)).toBeNull()
    },
  )

  it('by a call of its own: the client chooses no id', async () => {
    const answer = await ask(whole, {}, { headers: { 'x-switchgear-call': 'evil', 'x-request-id': 'evil' } })
    expect(answer.headers.get('x-switchgear-call')).toMatch(/^[\da-f-]{36}$/)
    onlyConfigured()
  })
})

describe('a body that is odd', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${whole.url}/v1/chat/completions`, { method: 'POST', body, headers })

  it.each([
    ['__proto__', '{"__proto__":{"model":"evil","stream":true},"model":"ok"}'],
    ['constructor', '{"constructor":{"prototype":{"polluted":1}},"model":"ok"}'],
    ['__proto__ with escapes', '{"__pr\\u006fto__":{"polluted":1},"model":"ok"}'],
  ])('pollutes nothing through %s, and reaches the provider as it is', async (_what, body) => {
    const answer = await post(body)
    expect([answer.status, await answer.text()]).toEqual([200, ANSWER])
    expect(answer.headers.get('x-switchgear-model')).toBe('ok')
    expect(seen[0]?.body).toBe(body)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it.each([
    ['twice', '{"model":"evil","messages":[],"model":"ok"}'],
    ['once in escapes', '{"m\\u006fdel":"evil","messages":[],"model":"ok"}'],
    ['last in escapes', '{"model":"evil","messages":[],"\\u006Dodel":"ok"}'],
  ])('names its model %s: whichever a provider reads, it is the one that was routed', async (_what, body) => {
    const answer = await post(body)
    expect([answer.status, answer.headers.get('x-switchgear-model')]).toEqual([200, 'ok'])
    expect(seen[0]?.body).not.toContain('evil')
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ model: 'ok', messages: [] })

    const own = await post(body, { 'x-switchgear-target': 'own' })
    expect([own.status, own.headers.get('x-switchgear-model')]).toEqual([200, 'its-own'])
    expect(seen[1]?.body).not.toMatch(/evil|"ok"/)
  })

  it('keeps every byte where a model is named elsewhere, too', async () => {
    const body = '{ "seed":12345678901234567890, "model" : "ok", "tools":[{"model":"inner"}], "x":1.0 }'
    expect((await post(body)).status).toBe(200)
    expect(seen[0]?.body).toBe(body)
  })

  it.each([10_000, 300_000])('is %i levels deep: nobody is hurt', async (depth) => {
    const deep = `{"model":"ok","x":${'['.repeat(depth)}${']'.repeat(depth)}}`
    for (const target of ['one', 'own']) {
      const answer = await post(deep, { 'x-switchgear-target': target })
      expect([answer.status, await answer.text()]).toEqual([200, ANSWER])
    }
    expect(seen[0]?.body).toBe(deep)
    expect((await post(BODY)).status).toBe(200)
  })

  it('asks for a model with a name that nobody would keep: there is none', async () => {
    const answer = await post(JSON.stringify({ model: 'x'.repeat(1_000_000) }))
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({
      error: { message: 'There is no model with a name of 1000000 characters.', code: 'model_not_found' },
    })
    expect(seen).toHaveLength(0)
    const circuits = await fetch(`${whole.url}/admin/circuits`, { headers: asAlice })
    expect(await circuits.text()).not.toContain('xxxx')
  })

  it.each([
    ['UTF-16', Buffer.from(`\ufeff${BODY}`, 'utf16le')],
    ['gzip that is none', Buffer.from([0x1f, 0x8b, 0, 0])],
    ['a byte order mark', Buffer.from(`\ufeff${BODY}`)],
    ['two values', Buffer.from(BODY + BODY)],
    ['NaN', Buffer.from('{"model":NaN}')],
    ['a comment', Buffer.from('{/**/"model":"ok"}')],
  ])('in %s is refused', async (_what, bytes) => {
    const answer = await fetch(`${whole.url}/v1/chat/completions`, {
      method: 'POST',
      body: new Blob([bytes]),
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { message: 'The body is not valid JSON.' } })
    expect(seen).toHaveLength(0)
  })
})

describe('what is no plain request', () => {
  const refused = async (...lines: readonly string[]) => {
    const answer = await exchange(whole.url, ...lines)
    expect(statuses(answer)).toEqual([400])
    // what follows was never taken for a request of its own
    expect(answer).not.toContain('circuits')
    expect(seen).toHaveLength(0)
  }
  const NEXT = ['GET /admin/circuits HTTP/1.1', 'host: x', `authorization: Bearer ${TOKEN}`, '', '']

  it.each([
    ['both lengths', [LENGTH, 'transfer-encoding: chunked', '', '0', '']],
    ['both lengths, the other way round', ['transfer-encoding: chunked', LENGTH, '', '0', '']],
    ['two lengths', ['content-length: 0', LENGTH, '']],
    ['a length with a sign', ['content-length: +0', '']],
    ['two codings', ['transfer-encoding: chunked', 'transfer-encoding: identity', '', '0', '']],
    ['a coding that is none', ['transfer-encoding: xchunked', '', '0', '']],
    ['a coding before its colon', ['transfer-encoding : chunked', '', '0', '']],
    ['a chunk of no size', ['transfer-encoding: chunked', '', 'zz', '']],
    ['a chunk of too great a size', ['transfer-encoding: chunked', '', 'fffffffffffffffff', '']],
    ['a folded header', ['a: b', ' c: d', '']],
    ['a header without a name', [': evil', '']],
    ['a null byte', ['a: \u0000b', '']],
    ['no host', undefined],
  ])('with %s is refused, and all that follows on its connection', async (_what, lines) => {
    if (lines === undefined) return refused(CHAT, LENGTH, 'connection: close', '', BODY)
    await refused(CHAT, 'host: x', ...lines, ...NEXT)
  })

  it('and comes before it is asked for is answered in its turn', async () => {
    using wire = new Wire(whole.url)
    const one = (model: string) => {
      const body = `{"model":"${model}"}`
      return [CHAT, 'host: x', `content-length: ${body.length}`, '', body].join('\r\n')
    }
    wire.send(one('first') + one('second') + 'GET /admin/circuits HTTP/1.1\r\nhost: x\r\n\r\n' + one('third'))
    await wire.until(/x-switchgear-model: third[\s\S]*\r\n\r\n\{.*\}/)
    expect(statuses(wire.text)).toEqual([200, 200, 401, 200])
    const models = [...wire.text.matchAll(/x-switchgear-model: (\w+)/g)].map(([, model]) => model)
    expect(models).toEqual(['first', 'second', 'third'])
  })

  it('cannot be got on with as another protocol', async () => {
    const upgrade = await exchange(
      whole.url,
      'GET /admin/events HTTP/1.1',
      'host: x',
      'connection: upgrade, close',
      'upgrade: websocket',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version: 13',
      '',
      '',
    )
    expect(statuses(upgrade)).toEqual([401])
    expect(statuses(await sent(CHAT, 'host: x', 'connection: upgrade', 'upgrade: h2c'))).toEqual([200])
    onlyConfigured()
    seen.length = 0
    expect(statuses(await exchange(whole.url, 'PRI * HTTP/2.0', '', 'SM', '', ''))).toEqual([400])
    expect(await exchange(whole.url, `CONNECT ${host()} HTTP/1.1`, `host: ${host()}`, '', '')).not.toMatch(
      / 2\d\d /,
    )
    expect(seen).toHaveLength(0)
  })

  it.each(['TRACE', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'GET'])(
    'such as %s is not there, and says nothing back',
    async (method) => {
      const headers = ['host: x', `authorization: Bearer ${TOKEN}`, 'origin: http://evil.example']
      const answer = await sent(`${method} /v1/chat/completions HTTP/1.1`, ...headers)
      expect(statuses(answer)).toEqual([404])
      expect(answer).not.toContain(TOKEN)
      expect(answer).not.toMatch(/access-control/i)
      expect(seen).toHaveLength(0)
    },
  )

  it.each(['/%zz', '/v1/models/%', '/admin/%ff'])('to %s is refused as OpenAI would do it', async (path) => {
    const answer = await exchange(
      whole.url,
      `GET ${path}?key=${TOKEN} HTTP/1.1`,
      'host: x',
      'connection: close',
      '',
      '',
    )
    expect(statuses(answer)).toEqual([400])
    expect(answer).toContain('"type":"invalid_request_error"')
    expect(answer).not.toContain(TOKEN)
  })

  it('leaves the gateway as it was', async () => {
    await until(() => whole.gateway.gear.getCircuitState() === 'closed')
    const status = await (await fetch(`${whole.url}/status`)).json()
    expect(status).toMatchObject({ status: 'ready' })
    expect((await ask(whole)).status).toBe(200)
  })
})
