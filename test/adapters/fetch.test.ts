import { getEventListeners } from 'node:events'
import { setImmediate as tick } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { breakerFetch } from '../../src/adapters/fetch/index.ts'
import type { BreakerFetch, BreakerFetchOptions, FetchLike } from '../../src/adapters/fetch/index.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

let provider: ScriptedProvider
let clock: VirtualClock
const open: BreakerFetch[] = []

beforeEach(async () => {
  provider = await startScriptedProvider({ keepAliveMs: 2 })
  clock = new VirtualClock(1_000_000)
})
afterEach(async () => {
  for (const one of open.splice(0)) one.close()
  await provider.close()
})

function guarded(options: BreakerFetchOptions = {}, fetch?: FetchLike): BreakerFetch {
  const made = breakerFetch(fetch, { clock, ...options })
  open.push(made)
  return made
}

const host = () => new URL(provider.url).host

function ask(model: string, stream = false, more: RequestInit = {}): RequestInit {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hi' }] })
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body, ...more }
}

const chat = (fetch: BreakerFetch, model: string, stream = false, more?: RequestInit) =>
  fetch(`${provider.baseURL}/chat/completions`, ask(model, stream, more))

/** What the breaker of the provider has recorded. */
function record(fetch: BreakerFetch, bucket = host()) {
  const breaker = fetch.registry.get(bucket)
  const { success, failure, neutral } = breaker.stats
  return { success, failure, neutral, kinds: breaker.getFailureBreakdown() }
}
const failed = (kind: string) => ({ success: 0, failure: 1, neutral: 0, kinds: { [kind]: 1 } })
const succeeded = { success: 1, failure: 0, neutral: 0, kinds: {} }
const neutral = { success: 0, failure: 0, neutral: 1, kinds: {} }

async function drain(response: Response) {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { text, end: 'clean' as const }
      text += decoder.decode(value, { stream: true })
    }
  } catch (error) {
    return { text, end: 'broken' as const, error }
  }
}

/** A fetch that answers from memory. */
function canned(body: string | ReadableStream<Uint8Array> | null, init: ResponseInit = {}): FetchLike {
  return async () => new Response(body, init)
}
const sse = (...events: string[]) =>
  canned(events.map((event) => `${event}\n\n`).join(''), { headers: { 'content-type': 'text/event-stream' } })

describe('streams', () => {
  it('succeeds at the terminal event and changes no byte', async () => {
    const fetch = guarded()
    const plain = await (
      await globalThis.fetch(`${provider.baseURL}/chat/completions`, ask('ok', true))
    ).text()
    const { text, end } = await drain(await chat(fetch, 'ok', true))
    expect(end).toBe('clean')
    expect(text.replaceAll('chatcmpl-2', 'chatcmpl-1')).toBe(plain)
    expect(record(fetch)).toEqual(succeeded)
  })

  it.each([
    ['no-marker', 'broken', 'truncated_stream', 'ERR_TRUNCATED_STREAM'],
    ['cut-json', 'broken', 'malformed_response', 'ERR_TRUNCATED_STREAM'],
    ['cut', 'broken', 'network', undefined],
    ['stream-error', 'clean', 'server_error', undefined],
    ['stream-error-late', 'clean', 'server_error', undefined],
    ['empty', 'clean', 'empty_response', undefined],
  ])('counts %s as a failure', async (fault, end, kind, code) => {
    for (const path of ['/chat/completions', '/responses']) {
      const fetch = guarded()
      const seen = await drain(await fetch(provider.baseURL + path, ask(fault, true)))
      expect(seen.end).toBe(end)
      if (fault !== 'empty') expect(seen.text).toContain('data: ')
      if (code !== undefined) expect(seen.error).toMatchObject({ code, target: host() })
      expect(record(fetch)).toEqual(failed(kind))
    }
  })

  it('ends a stream that stalls after content, and hangs up', async () => {
    const fetch = guarded({ idleTimeoutMs: 5000 })
    const response = await chat(fetch, 'stall', true)
    const reader = response.body!.getReader()
    let text = ''
    while (!text.includes('from')) text += new TextDecoder().decode((await reader.read()).value)
    clock.advance(60_000)
    expect(record(fetch)).toMatchObject({ failure: 0 })
    const read = reader.read()
    await tick()
    clock.advance(4999)
    expect(record(fetch)).toMatchObject({ failure: 0 })
    clock.advance(1)
    await expect(read).rejects.toMatchObject({ code: 'ERR_ATTEMPT_TIMEOUT', limit: 'idle_timeout' })
    expect(record(fetch)).toEqual(failed('idle_timeout'))
    await vi.waitFor(() => expect(provider.requests[0]?.outcome).toBe('aborted-by-client'), { interval: 2 })
  })

  it.each([
    ['hang-content', true],
    ['keep-alives', true],
    ['keep-alives', false],
  ])('does not take the beginning of %s (stream %s) for content', async (fault, stream) => {
    const fetch = guarded({ firstContentTimeoutMs: 8000, idleTimeoutMs: 10 })
    const reading = drain(await chat(fetch, fault, stream))
    await tick()
    clock.advance(8000)
    const { end, error } = await reading
    expect(end).toBe('broken')
    expect(error).toMatchObject({ limit: 'first_content_timeout' })
    expect(record(fetch)).toEqual(failed('first_content_timeout'))
  })

  it('is neutral when the reader stops early, and hangs up', async () => {
    const fetch = guarded()
    const reader = (await chat(fetch, 'stall', true)).body!.getReader()
    await reader.read()
    await reader.cancel()
    expect(record(fetch)).toEqual(neutral)
    await vi.waitFor(() => expect(provider.requests[0]?.outcome).toBe('aborted-by-client'), { interval: 2 })
  })

  it('only reads when it is read', async () => {
    let pulls = 0
    const event = new TextEncoder().encode('data: {"choices":[{"delta":{"content":"x"}}]}\n\n')
    const body = new ReadableStream(
      { pull: (controller) => controller.enqueue((pulls++, event.slice())) },
      { highWaterMark: 0 },
    )
    const fetch = guarded({}, canned(body, { headers: { 'content-type': 'text/event-stream' } }))
    const reader = (await chat(fetch, 'ok', true)).body!.getReader()
    expect(pulls).toBe(0)
    for (let read = 1; read <= 3; read++) {
      await reader.read()
      expect(pulls).toBe(read)
    }
    await reader.cancel()
  })

  it.each([
    ['an event named error', ['event: error\ndata: {"message":"boom"}'], 'unknown'],
    ['an overload', ['data: {"type":"error","error":{"type":"overloaded_error"}}'], 'overloaded'],
    ['an empty stream', [], 'truncated_stream'],
  ])('knows %s', async (_what, events, kind) => {
    const fetch = guarded({}, sse(...events))
    await drain(await fetch('https://api.test/v1/messages', ask('m', true)))
    expect(record(fetch, 'api.test')).toEqual(failed(kind))
  })

  it('asks for a terminal event elsewhere only where content came', async () => {
    const url = 'https://api.test/somewhere'
    const chunk = 'data: {"choices":[{"delta":{"content":"x"}}]}'
    const cases: [string[], object][] = [
      [['data: {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such tool"}}'], succeeded],
      [['event: tick\ndata: {}'], succeeded],
      [[chunk, 'data: [DONE]'], succeeded],
      [[chunk], failed('truncated_stream')],
    ]
    for (const [events, expected] of cases) {
      const fetch = guarded({}, sse(...events))
      await drain(await fetch(url, ask('m', true)))
      expect(record(fetch, 'api.test')).toEqual(expected)
    }
  })

  it('renews the lease of a probe with every content', async () => {
    const fetch = guarded({ threshold: 1, cooldownMs: 1000, probeLeaseMs: 500, idleTimeoutMs: Infinity })
    await chat(fetch, '503')
    clock.advance(1000)
    const reader = (await chat(fetch, 'drip-5', true)).body!.getReader()
    for (let { done } = await reader.read(); !done; { done } = await reader.read()) clock.advance(400)
    expect(fetch.registry.get(host()).state).toBe('closed')
  })
})

describe('whole answers', () => {
  it.each([
    ['cut', 'network'],
    ['cut-json', 'malformed_response'],
    ['stream-error', 'server_error'],
    ['empty', 'empty_response'],
    ['html', 'server_error'],
    ['500', 'server_error'],
    ['503', 'server_error'],
    ['529', 'overloaded'],
    ['429', 'rate_limit'],
    ['quota', 'quota_exhausted'],
    ['401', 'auth'],
  ])('counts %s as a failure', async (fault, kind) => {
    const fetch = guarded()
    await drain(await chat(fetch, fault))
    expect(record(fetch)).toEqual(failed(kind))
  })

  it.each(['400', 'context-length', 'content-filter', '404'])('is neutral about %s', async (fault) => {
    const fetch = guarded()
    const response = await chat(fetch, fault)
    expect(await response.json()).toHaveProperty('error.message')
    expect(record(fetch)).toEqual(neutral)
  })

  it('settles an error before the caller reads it, and leaves the body whole', async () => {
    const fetch = guarded()
    const plain = await globalThis.fetch(`${provider.baseURL}/chat/completions`, ask('429-7'))
    const response = await chat(fetch, '429-7')
    expect(record(fetch)).toMatchObject({ failure: 1 })
    expect(response.headers.get('retry-after')).toBe('7')
    expect(response.clone().url).toBe(plain.url)
    expect(await response.text()).toBe(await plain.text())
  })

  it('takes the wait that the provider named', async () => {
    const fetch = guarded({ threshold: 1, cooldownMs: 1000 })
    await chat(fetch, '429-7')
    await expect(chat(fetch, 'ok')).rejects.toMatchObject({ code: 'ERR_CIRCUIT_OPEN', retryAfterMs: 7000 })
  })

  it('does not wait for the body of an error longer than a second', async () => {
    const endless = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([0x20])) })
    const fetch = guarded({}, canned(endless, { status: 500 }))
    const answer = fetch('https://api.test/', ask('m'))
    await tick()
    clock.advance(1000)
    expect((await answer).status).toBe(500)
    expect(record(fetch, 'api.test')).toEqual(failed('server_error'))
  })

  it('settles at the end of the body, and is neutral when it is cancelled', async () => {
    const fetch = guarded()
    const first = await chat(fetch, 'ok')
    expect(record(fetch)).toMatchObject({ success: 0 })
    await first.json()
    expect(record(fetch)).toMatchObject({ success: 1 })
    await (await chat(fetch, 'ok')).body?.cancel()
    expect(record(fetch)).toMatchObject({ success: 1, neutral: 1, failure: 0 })
  })

  it.each([
    ['GET', canned('{}', { headers: { 'content-type': 'application/json' } })],
    ['HEAD', canned(null)],
    ['POST', canned(null, { status: 204 })],
    ['POST', canned('RIFF', { headers: { 'content-type': 'audio/wav' } })],
    ['POST', canned(null, { status: 304 })],
  ])('succeeds at the headers: %s', async (method, send) => {
    const fetch = guarded({}, send)
    await fetch('https://api.test/v1/chat/completions', { method })
    expect(record(fetch, 'api.test')).toEqual(succeeded)
  })

  it('takes a web page of a model endpoint for a failure', async () => {
    const fetch = guarded({}, canned('<html>sign in</html>', { headers: { 'content-type': 'text/html' } }))
    await fetch('https://api.test/v1/chat/completions', ask('m'))
    expect(record(fetch, 'api.test')).toEqual(failed('malformed_response'))
  })

  it('keeps what fetch says of a response', async () => {
    const fetch = guarded()
    const url = `${provider.baseURL}/chat/completions`
    const [plain, response] = [await globalThis.fetch(url, ask('ok')), await fetch(new URL(url), ask('ok'))]
    for (const key of ['status', 'statusText', 'ok', 'url', 'redirected', 'type'] as const) {
      expect(response[key]).toBe(plain[key])
    }
    expect(response).toBeInstanceOf(Response)
    expect(response.headers.get('x-request-id')).toBe('req_2')
    await response.text()
  })

  it('lets user code decide', async () => {
    const verdict = {
      failure: 'overloaded',
      outcome: 'failure',
      retry: 'yes',
      fallback: 'next',
      alert: false,
    }
    const classify = vi.fn((error: unknown) =>
      (error as { status?: number }).status === 400 ? (verdict as never) : undefined,
    )
    const shouldCount = vi.fn((_error: unknown, { failure }: { failure: string }) => failure !== 'auth')
    const fetch = guarded({ classify, shouldCount })
    await chat(fetch, '400')
    await chat(fetch, '401')
    expect(record(fetch)).toMatchObject({ failure: 1, neutral: 1, kinds: { overloaded: 1 } })
    expect(classify).toHaveBeenCalledTimes(2)
    expect(shouldCount.mock.calls[1]?.[0]).toMatchObject({ status: 401 })
  })

  it('gives a probe’s slot back although the verdict of user code throws when it is read', async () => {
    const verdict = {
      outcome: 'failure',
      get failure(): string {
        throw new Error('failure')
      },
    }
    const send = () => Promise.reject(new Error('net'))
    const fetch = guarded({ classify: () => verdict as never }, send)
    const breaker = fetch.registry.get(host())
    breaker.open()
    clock.advance(30_000)
    await expect(chat(fetch, 'ok')).rejects.toThrow('net')
    expect(breaker.getStatus()).toMatchObject({ state: 'open', probes: { inFlight: 0 } })
  })
})

describe('connections, limits and aborts', () => {
  it('counts what cannot be reached, and rejects as fetch does', async () => {
    const fetch = guarded()
    await provider.close()
    await expect(chat(fetch, 'ok')).rejects.toThrow('fetch failed')
    expect(record(fetch)).toEqual(failed('network'))
  })

  it('ends a request without headers', async () => {
    const fetch = guarded({ timeoutMs: 9000 })
    const answer = chat(fetch, 'hang')
    await vi.waitFor(() => expect(provider.requests).toHaveLength(1), { interval: 2 })
    clock.advance(9000)
    await expect(answer).rejects.toMatchObject({
      code: 'ERR_ATTEMPT_TIMEOUT',
      limit: 'timeout',
      target: host(),
    })
    expect(record(fetch)).toEqual(failed('timeout'))
    await vi.waitFor(() => expect(provider.requests[0]?.outcome).toBe('aborted-by-client'), { interval: 2 })
  })

  it('does not depend on a fetch that listens', async () => {
    const late = Promise.withResolvers<Response>()
    const fetch = guarded({ timeoutMs: 9000 }, () => late.promise)
    const answer = fetch('https://api.test/', ask('m'))
    await tick()
    clock.advance(9000)
    await expect(answer).rejects.toMatchObject({ limit: 'timeout' })
    const cancel = vi.fn()
    late.resolve(new Response(new ReadableStream({ cancel })))
    await vi.waitFor(() => expect(cancel).toHaveBeenCalled(), { interval: 2 })
  })

  it.each([['a string'], [undefined], [new Error('mine')], [new DOMException('late', 'TimeoutError')]])(
    'is neutral about the caller who aborts with %s',
    async (reason) => {
      const fetch = guarded()
      const controller = new AbortController()
      const answer = chat(fetch, 'hang', false, { signal: controller.signal })
      await vi.waitFor(() => expect(provider.requests).toHaveLength(1), { interval: 2 })
      controller.abort(reason)
      await expect(answer).rejects.toBe(controller.signal.reason)
      expect(record(fetch)).toEqual(neutral)
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    },
  )

  it('is neutral about an abort while the body is read, also of a Request', async () => {
    for (const asRequest of [false, true]) {
      const fetch = guarded()
      const { signal, abort } = (() => {
        const controller = new AbortController()
        return { signal: controller.signal, abort: () => controller.abort('enough') }
      })()
      const url = `${provider.baseURL}/chat/completions`
      const init = ask('stall', true, { signal })
      const response = await (asRequest ? fetch(new Request(url, init)) : fetch(url, init))
      const reader = response.body!.getReader()
      await reader.read()
      const rest = (async () => {
        for (;;) if ((await reader.read()).done) return
      })()
      abort()
      await expect(rest).rejects.toBe('enough')
      expect(record(fetch)).toEqual(neutral)
    }
  })

  it('sends nothing for a signal that is aborted already', async () => {
    const fetch = guarded()
    await expect(chat(fetch, 'ok', false, { signal: AbortSignal.abort('no') })).rejects.toBe('no')
    expect(provider.requests).toHaveLength(0)
    expect(fetch.registry.size).toBe(0)
  })

  it('leaves nothing on the signal of 10 000 calls', async () => {
    const { signal } = new AbortController()
    const json = { headers: { 'content-type': 'application/json' } }
    const kinds: (() => Response)[] = [
      () => new Response('{"choices":[{"message":{"content":"x"}}]}', json),
      () => new Response('data: [DONE]\n\n', { headers: { 'content-type': 'text/event-stream' } }),
      () => new Response('{"error":{"message":"no"}}', { ...json, status: 400 }),
      () => new Response(null, { status: 204 }),
      () => {
        throw new Error('broken')
      },
    ]
    const fetch = guarded({ threshold: Infinity }, async () =>
      kinds[Math.trunc(calls++ / 2) % kinds.length]!(),
    )
    let calls = 0
    for (let call = 0; call < 10_000; call++) {
      const response = await fetch('https://api.test/v1/chat/completions', ask('m', false, { signal })).catch(
        () => undefined,
      )
      // an error is over once its body is in, read or not
      if (response?.ok === true) await (call % 2 === 0 ? response.text() : response.body?.cancel())
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    expect(calls).toBe(10_000)
  })

  it('gives up a body that was forgotten: neutral, nothing left on the signal', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const fetch = guarded()
    const { signal } = new AbortController()
    await (async () => {
      await (await chat(fetch, 'stall', true, { signal })).body!.getReader().read()
    })()
    await vi.waitFor(
      () => {
        collect()
        expect(record(fetch)).toEqual(neutral)
      },
      { interval: 5 },
    )
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('the latency of a stream that breaks', () => {
  it('runs to its first content: what comes after is the reader’s time, too', async () => {
    const clock = new VirtualClock(1)
    let source!: ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (source = controller) })
    const answer = canned(body, { headers: { 'content-type': 'text/event-stream' } })
    const tripping = { kind: 'latency', windowMs: 60_000, minCalls: 1, slowMs: 5000, slowRatio: 1 } as const
    using fetch = breakerFetch(answer, { clock, tripping })
    const response = await fetch('http://provider.test/v1/chat/completions', { method: 'POST', body: '{}' })
    const reader = response.body!.getReader()
    source.enqueue(new TextEncoder().encode('data: {"choices":[{"delta":{"content":"a"}}]}\n\n'))
    await reader.read()
    clock.advance(10_000)
    source.error(new Error('cut'))
    await expect(reader.read()).rejects.toThrow()
    const breaker = fetch.registry.get('provider.test')
    expect([breaker.stats.failure, breaker.state]).toEqual([1, 'closed'])
  })
})

describe('refusals and buckets', () => {
  it('throws, sends nothing, and lets one probe through after the cooldown', async () => {
    const fetch = guarded({ threshold: 2, cooldownMs: 1000 })
    provider.setOutage(true)
    for (let call = 0; call < 2; call++) expect((await chat(fetch, 'ok')).status).toBe(503)
    await expect(chat(fetch, 'ok')).rejects.toMatchObject({
      name: 'CircuitOpenError',
      target: host(),
      retryAfterMs: 1000,
    })
    expect(provider.requests).toHaveLength(2)
    provider.setOutage(false)
    clock.advance(1000)
    const probe = await chat(fetch, 'ok')
    await expect(chat(fetch, 'ok')).rejects.toMatchObject({ state: 'half-open' })
    await probe.text()
    expect(fetch.registry.get(host()).state).toBe('closed')
    expect(provider.requests).toHaveLength(3)
  })

  it.each([
    ['https://api.test/v1/chat/completions', {}, { error: { type: 'circuit_open', param: null } }],
    ['https://api.test/v1/messages', {}, { type: 'error', error: { type: 'overloaded_error' } }],
    ['https://api.test/x', { 'Anthropic-Version': '2023-06-01' }, { type: 'error' }],
  ])('responds in the shape of %s', async (url, headers, shape) => {
    const fetch = guarded({ whenOpen: 'respond' }, canned('never'))
    fetch.registry.get('api.test').open()
    const response = await fetch(url, { method: 'POST', headers })
    expect([response.status, response.url]).toEqual([503, url])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-should-retry': 'false',
      'retry-after': '30',
      'retry-after-ms': '30000',
      'x-request-id': expect.stringMatching(/^req_/),
      'request-id': expect.stringMatching(/^req_/),
    })
    const body = await response.json()
    expect(body).toMatchObject(shape)
    expect(body).toHaveProperty('error.code', 'ERR_CIRCUIT_OPEN')
  })

  it('names no wait where only an operator knows', async () => {
    const fetch = guarded({ whenOpen: 'respond' }, canned('never'))
    fetch.registry.get('api.test').open({ hold: true })
    expect((await fetch('https://api.test/')).headers.has('retry-after')).toBe(false)
  })

  it('takes a refusal of another breaker on the way for neutral', async () => {
    const inner = guarded({ whenOpen: 'respond' })
    inner.registry.get(host()).open()
    const outer = guarded({}, inner)
    await chat(outer, 'ok')
    expect(record(outer)).toEqual(neutral)
  })

  it('isolates models, in a body of either kind or a path, and changes no body', async () => {
    const sent: unknown[] = []
    const onStateChange = vi.fn()
    const fetch = guarded({ isolateByModel: true, threshold: 1, onStateChange }, async (input, init) => {
      sent.push(init?.body ?? (await (input as Request).text()))
      return new Response(null, { status: 503 })
    })
    const url = 'https://api.test/v1/chat/completions'
    const body = '{ "model":"a" }'
    await fetch(url, { method: 'POST', body })
    await fetch(
      new Request(url, {
        method: 'POST',
        body: '{"model":"b"}',
        headers: { 'content-type': 'application/json' },
      }),
    )
    await fetch('https://api.test/v1beta/models/gemini-3:streamGenerateContent?alt=sse', {
      method: 'POST',
      body: '{}',
    })
    await fetch('https://api.test/openai/deployments/mine/chat/completions', { method: 'POST', body })
    await fetch('https://api.test/model/us.anthropic%3A1/converse', { method: 'POST', body: '{}' })
    await fetch(url, { method: 'POST', body: 'no JSON' })
    const names = ['a', 'b', 'gemini-3', 'mine', 'us.anthropic:1'].map((model) => `api.test/${model}`)
    expect(fetch.registry.names()).toEqual([...names, 'api.test'])
    expect(sent.slice(0, 2)).toEqual([body, '{"model":"b"}'])
    expect(onStateChange.mock.calls[0]?.slice(0, 4)).toEqual(['closed', 'open', 1, 'a'])
    await expect(fetch(url, { method: 'POST', body })).rejects.toMatchObject({
      model: 'a',
      target: 'api.test/a',
    })
  })

  it('counts a missing model where it has a circuit of its own', async () => {
    const fetch = guarded({ isolateByModel: true })
    await chat(fetch, '404')
    expect(record(fetch, `${host()}/404`)).toEqual(failed('not_found'))
  })

  it('names buckets as the user likes, and survives a function that throws', async () => {
    const error = vi.fn()
    const logger = { info() {}, warn() {}, error }
    const bucket = vi.fn((url: URL, model?: string) => {
      if (model === 'odd') throw new Error('oops')
      return `${url.protocol}${model}`
    })
    const fetch = guarded({ bucket, logger })
    await drain(await chat(fetch, 'ok'))
    await drain(await chat(fetch, 'odd'))
    expect(fetch.registry.names()).toEqual(['http:ok', host()])
    expect(error).toHaveBeenCalledTimes(1)
  })

  it('passes on what has no host', async () => {
    const send = vi.fn(canned('x'))
    const fetch = guarded({}, send)
    await fetch('/relative')
    expect(send).toHaveBeenCalledWith('/relative', undefined)
    expect(fetch.registry.size).toBe(0)
  })

  it('checks its options, and says so after its end', async () => {
    expect(() => breakerFetch({ timeoutMs: 0 })).toThrow(RangeError)
    expect(() => breakerFetch({ whenOpen: 'wait' as never })).toThrow('throw, respond')
    expect(() => breakerFetch({ treshold: 1 } as never)).toThrow("Did you mean 'threshold'?")
    expect(() => breakerFetch({ maxBuckets: 0 })).toThrow('maxBuckets')
    const fetch = guarded()
    fetch.close()
    await expect(chat(fetch, 'ok')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(() => fetch.registry.get('x')).toThrow('closed')
    expect(clock.pending).toBe(0)
  })

  it('needs no options: real time', async () => {
    const fetch = breakerFetch()
    await (await chat(fetch, 'ok')).json()
    expect(record(fetch)).toEqual(succeeded)
    fetch.close()
    const hasty = breakerFetch({ idleTimeoutMs: 30 })
    expect(await drain(await chat(hasty, 'stall', true))).toMatchObject({ error: { limit: 'idle_timeout' } })
    expect(record(hasty)).toEqual(failed('idle_timeout'))
    hasty.close()
  })

  it('obeys init over the Request it comes with', async () => {
    const fetch = guarded()
    const { signal } = new AbortController()
    const request = new Request(`${provider.baseURL}/chat/completions`, {
      ...ask('ok'),
      signal: AbortSignal.abort(),
    })
    expect(await (await fetch(request, { signal })).json()).toHaveProperty('choices')
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('finds the global fetch when it is called', async () => {
    const fetch = guarded()
    vi.stubGlobal('fetch', canned('stubbed'))
    try {
      expect(await (await fetch('https://api.test/')).text()).toBe('stubbed')
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

describe('odd arguments', () => {
  // A RequestInit may be any object with these members, a Request, too (WHATWG fetch); the copy by `{...init}` drops what
  // stands on its prototype, so that a POST goes out as a GET without body.
  it('a Request given as init keeps its method and body', async () => {
    let sent: RequestInit | undefined
    const send = (_input: unknown, init?: RequestInit) => {
      sent = init
      return Promise.resolve(new Response('ok'))
    }
    const init = new Request('http://other.test/', { method: 'POST', body: 'hello' })
    await breakerFetch(send, { clock: new VirtualClock(1) })('http://provider.test/v1', init)
    expect(sent).toMatchObject({ method: 'POST', body: expect.anything() })
  })

  // the same name is refused everywhere else.
  it('the registry of fetch refuses __proto__ as every other does', () => {
    const { registry } = breakerFetch(() => Promise.resolve(new Response('ok')), {
      clock: new VirtualClock(1),
    })
    expect(() => registry.get('__proto__')).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }))
  })
})
