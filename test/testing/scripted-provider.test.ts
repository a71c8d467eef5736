import OpenAI, { BadRequestError } from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { faultsCommand } from '../../src/cli/faults.ts'
import { faultTable } from '../../src/testing/faults.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'

const key = 'sk-secret-key-1234'
const hello = (model: string) => `Hello from scripted, model ${model}.`

let provider: ScriptedProvider
beforeEach(async () => {
  provider = await startScriptedProvider({ keepAliveMs: 2 })
})
afterEach(() => provider.close())

function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(provider.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
}

function chat(model: string, stream = false, signal?: AbortSignal): Promise<Response> {
  return post(
    '/v1/chat/completions',
    { model, stream, messages: [{ role: 'user', content: 'private' }] },
    signal,
  )
}

/** All a client gets to see of a body, and how it ended. `until` hangs up as soon as it holds of the text. */
async function read(response: Response, until: (text: string) => boolean = () => false) {
  let text = ''
  try {
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (until(text)) return { text, end: 'hung up' as const }
    }
    return { text, end: 'clean' as const }
  } catch (error) {
    return { text, end: 'broken' as const, error }
  }
}

function eventsOf(text: string): string[] {
  return text.split('\n\n').filter((event) => event !== '')
}

function textOf(text: string): string {
  return eventsOf(text)
    .filter((event) => event.startsWith('data: {"id"'))
    .map((event) => JSON.parse(event.slice(6)).choices[0]?.delta?.content ?? '')
    .join('')
}

const outcome = () => provider.requests.at(-1)?.outcome
const errorOf = async (response: Response) => ((await response.json()) as { error: object }).error

const checks: Record<string, () => Promise<void>> = {
  ok: async () => {
    const whole = (await (await chat('ok')).json()) as OpenAI.ChatCompletion
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: hello('ok') } })
    expect(whole.usage).toEqual({ prompt_tokens: 8, completion_tokens: 5, total_tokens: 13 })
    const { text, end } = await read(await chat('ok', true))
    expect(end).toBe('clean')
    expect(textOf(text)).toBe(hello('ok'))
    expect(text).toContain('"role":"assistant"')
    expect(text).toContain('"finish_reason":"stop"')
    expect(text).not.toContain('usage')
    expect(eventsOf(text).at(-1)).toBe('data: [DONE]')
    expect(outcome()).toBe('answered')
  },
  'tool-call': async () => {
    const whole = (await (await chat('tool-call')).json()) as OpenAI.ChatCompletion
    const called = { name: 'get_weather', arguments: '{"city":"Paris"}' }
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [{ id: 'call_1', type: 'function', function: called }] },
    })
    const { text, end } = await read(await chat('tool-call', true))
    expect([end, text.match(/"arguments":"[^}]*/g)?.length]).toEqual(['clean', 3])
    const messages = [
      { role: 'assistant', tool_calls: whole.choices[0]?.message.tool_calls },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ]
    const after = await post('/v1/chat/completions', { model: 'tool-call', messages })
    expect(await after.text()).toContain(hello('tool-call'))
  },
  slow: async () => {
    const started = performance.now()
    expect((await chat('slow-30')).status).toBe(200)
    expect(performance.now() - started).toBeGreaterThanOrEqual(28)
  },
  drip: async () => {
    const started = performance.now()
    const { text, end } = await read(await chat('drip-5', true))
    expect(end).toBe('clean')
    expect(textOf(text)).toBe(hello('drip-5'))
    expect(performance.now() - started).toBeGreaterThanOrEqual(28)
  },
  '500': () => failsWith('500', 500, { type: 'server_error' }),
  '503': () => failsWith('503', 503, { type: 'server_error', code: null }),
  '529': () => failsWith('529', 529, { type: 'overloaded_error' }),
  html: async () => {
    const response = await chat('html', true)
    expect(response.status).toBe(502)
    expect(response.headers.get('content-type')).toBe('text/html')
    expect(await response.text()).toMatch(/^<html>/)
  },
  '429': async () => {
    await failsWith('429', 429, { code: 'rate_limit_exceeded' })
    expect((await chat('429')).headers.get('retry-after')).toBe('1')
    expect((await chat('429-3')).headers.get('retry-after')).toBe('3')
  },
  quota: async () => {
    await failsWith('quota', 429, { code: 'insufficient_quota', type: 'insufficient_quota' })
    expect((await chat('quota')).headers.get('retry-after')).toBeNull()
  },
  '401': () => failsWith('401', 401, { code: 'invalid_api_key' }),
  '404': () => failsWith('404', 404, { code: 'model_not_found' }),
  '400': () => failsWith('400', 400, { type: 'invalid_request_error', param: 'temperature' }),
  'context-length': () => failsWith('context-length', 400, { code: 'context_length_exceeded' }),
  'content-filter': () => failsWith('content-filter', 400, { code: 'content_filter' }),
  hang: async () => {
    const caller = new AbortController()
    const answer = chat('hang', false, caller.signal)
    await expect.poll(outcome, { interval: 2 }).toBe('pending')
    caller.abort(new Error('enough'))
    await expect(answer).rejects.toThrow('enough')
    await expect.poll(outcome, { interval: 2 }).toBe('aborted-by-client')
  },
  'hang-content': async () => {
    const [stream, whole] = await Promise.all([chat('hang-content', true), chat('hang-content')])
    expect([stream.status, whole.status]).toEqual([200, 200])
    const seen = Promise.all([read(stream), read(whole)])
    await provider.close()
    const [streamed, body] = await seen
    expect(eventsOf(streamed.text)).toEqual([expect.stringContaining('"role":"assistant"')])
    expect([streamed.end, textOf(streamed.text)]).toEqual(['broken', ''])
    expect([body.end, body.text]).toEqual(['broken', ''])
  },
  'keep-alives': async () => {
    const stream = await read(await chat('keep-alives', true), (text) => eventsOf(text).length >= 3)
    expect(new Set(eventsOf(stream.text))).toEqual(new Set([': keep-alive']))
    const whole = await read(await chat('keep-alives'), (text) => text.length >= 3)
    expect(whole.text.trim()).toBe('')
    await expect.poll(outcome, { interval: 2 }).toBe('aborted-by-client')
  },
  stall: async () => {
    const stream = await read(await chat('stall', true), (text) => text.includes('from'))
    expect(textOf(stream.text)).toBe('Hello from')
    const seen = read(await chat('stall'))
    await provider.close()
    expect((await seen).end).toBe('broken')
  },
  cut: async () => {
    const stream = await read(await chat('cut', true))
    expect([stream.end, textOf(stream.text)]).toEqual(['broken', 'Hello from'])
    expect(stream.error).toMatchObject({ cause: { code: 'UND_ERR_SOCKET' } })
    const whole = await read(await chat('cut'))
    expect(whole.end).toBe('broken')
    expect(whole.text).toMatch(/^\{"id":"chatcmpl-2"/)
  },
  'cut-json': async () => {
    const whole = await read(await chat('cut-json'))
    expect(whole.end).toBe('clean')
    expect(() => JSON.parse(whole.text)).toThrow(SyntaxError)
    const stream = await read(await chat('cut-json', true))
    expect(stream.end).toBe('clean')
    expect(() => textOf(stream.text)).toThrow(SyntaxError)
  },
  'stream-error': async () => {
    const { text, end } = await read(await chat('stream-error', true))
    expect([end, textOf(text)]).toEqual(['clean', ''])
    expect(eventsOf(text).at(-1)).toMatch(/^data: \{"error":\{.*"type":"server_error"/)
    expect(await errorOf(await chat('stream-error'))).toMatchObject({ type: 'server_error' })
  },
  'stream-error-late': async () => {
    const { text } = await read(await chat('stream-error-late', true))
    expect(textOf(text)).toBe('Hello from')
    expect(eventsOf(text).at(-1)).toMatch(/^data: \{"error":/)
  },
  empty: async () => {
    expect(await (await chat('empty')).json()).toMatchObject({ choices: [] })
    const { text, end } = await read(await chat('empty', true))
    expect([end, textOf(text)]).toEqual(['clean', ''])
    expect(eventsOf(text).at(-1)).toBe('data: [DONE]')
  },
  'no-marker': async () => {
    const { text, end } = await read(await chat('no-marker', true))
    expect([end, textOf(text)]).toEqual(['clean', hello('no-marker')])
    expect(text).not.toMatch(/"finish_reason":"|DONE/)
    expect(await (await chat('no-marker')).json()).toMatchObject({ choices: [{ finish_reason: null }] })
  },
  flaky: async () => {
    const statuses = async () => {
      const seen: number[] = []
      for (let i = 0; i < 40; i++) seen.push((await read503('flaky-30')).status)
      return seen
    }
    const first = await statuses()
    const failed = first.filter((status) => status === 503).length
    expect(failed).toBeGreaterThan(4)
    expect(failed).toBeLessThan(22)
    provider.reset()
    expect(await statuses()).toEqual(first)
    expect([(await read503('flaky-0')).status, (await read503('flaky-100')).status]).toEqual([200, 503])
  },
}

async function read503(model: string): Promise<Response> {
  const response = await chat(model)
  await response.arrayBuffer()
  return response
}

async function failsWith(model: string, status: number, error: object): Promise<void> {
  for (const stream of [false, true]) {
    const response = await chat(model, stream)
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await errorOf(response)).toMatchObject(error)
    expect(outcome()).toBe('failed')
  }
}

describe('the fault table', () => {
  it('has a check for every row', () => {
    expect(Object.keys(checks).toSorted()).toEqual(faultTable.map(({ name }) => name).toSorted())
  })

  it.each(faultTable)('$name: $description', async ({ name }) => {
    await checks[name]?.()
    expect(outcome() === 'answered').toBe(['ok', 'tool-call', 'slow', 'drip'].includes(name))
  })

  it('is listed by GET /v1/models and by --help', async () => {
    const { data } = (await (await fetch(`${provider.url}/v1/models`)).json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(faultTable.map(({ name }) => name))
    let help = ''
    faultsCommand()
      .configureOutput({ writeOut: (text) => (help += text) })
      .outputHelp()
    for (const { description } of faultTable) expect(help).toContain(description)
  })
})

describe('requests', () => {
  it('answers unknown model names, unless strict', async () => {
    expect((await chat('gpt-5')).status).toBe(200)
    await using strict = await startScriptedProvider({ strict: true })
    const body = JSON.stringify({ model: 'gpt-5' })
    const response = await fetch(`${strict.baseURL}/chat/completions`, { method: 'POST', body })
    expect([response.status, await errorOf(response)]).toEqual([
      404,
      expect.objectContaining({ code: 'model_not_found' }),
    ])
  })

  it('refuses bodies it cannot use and paths it does not have', async () => {
    expect((await post('/v1/chat/completions', '{"model":')).status).toBe(400)
    expect((await post('/v1/chat/completions', { messages: [] })).status).toBe(400)
    expect((await post('/v1/completions', { model: 'ok' })).status).toBe(404)
    expect((await post('/chat/completions', { model: 'ok' })).status).toBe(404)
    expect(provider.requests.map(({ outcome: seen }) => seen)).toEqual(['failed', 'failed', 'failed'])
  })

  it('gives embeddings, never streamed', async () => {
    const response = await post('/v1/embeddings', { model: 'ok', input: 'private', stream: true })
    expect(await response.json()).toMatchObject({ data: [{ object: 'embedding', index: 0 }] })
    expect((await post('/v1/embeddings', { model: '503', input: 'private' })).status).toBe(503)
  })

  it('logs who asked for what, and nothing private', async () => {
    await read(await chat('ok', true))
    await read(await post('/v1/embeddings?api-key=private', { model: 'ok', input: 'private' }))
    await fetch(`${provider.url}/v1/models`)
    const common = { authorized: true, keyEnding: '1234', outcome: 'answered', model: 'ok', method: 'POST' }
    expect(provider.requests).toEqual([
      { ...common, number: 1, path: '/v1/chat/completions', stream: true, bytes: expect.any(Number) },
      { ...common, number: 2, path: '/v1/embeddings', stream: false, bytes: 32 },
      {
        number: 3,
        method: 'GET',
        path: '/v1/models',
        stream: false,
        bytes: 0,
        authorized: false,
        outcome: 'answered',
      },
    ])
    const shown = await (await fetch(`${provider.url}/control/requests`)).text()
    expect(JSON.parse(shown)).toMatchObject({ total: 3, counts: { ok: 2 }, outage: false })
    expect(shown).not.toMatch(/private|secret/)
  })

  it('starts afresh on reset', async () => {
    await chat('ok')
    provider.setOutage(true)
    expect((await post('/control/reset', '')).status).toBe(200)
    expect([provider.requests.length, provider.counts.size, provider.outage]).toEqual([0, 0, false])
    await chat('ok')
    expect(provider.requests[0]?.number).toBe(1)
  })
})

describe('an outage', () => {
  it('fails every request below /v1 while it is on', async () => {
    await post('/control/outage', { on: true })
    expect(provider.outage).toBe(true)
    expect((await chat('ok')).status).toBe(503)
    expect((await chat('401')).status).toBe(503)
    expect((await fetch(`${provider.url}/v1/models`)).status).toBe(503)
    await post('/control/outage', { on: false })
    expect((await chat('ok')).status).toBe(200)
    expect((await post('/control/outage', { on: 'yes' })).status).toBe(400)
  })

  it('can reset every connection', async () => {
    await using gone = await startScriptedProvider({ outage: 'refuse' })
    gone.setOutage(true)
    await expect(fetch(`${gone.url}/v1/models`)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
    expect(gone.requests[0]?.outcome).toBe('failed')
  })

  it('can be silence', async () => {
    await using gone = await startScriptedProvider({ outage: 'hang' })
    gone.setOutage(true)
    const answer = fetch(`${gone.url}/v1/models`)
    await expect.poll(() => gone.requests.length, { interval: 2 }).toBe(1)
    await Promise.all([gone.close(), expect(answer).rejects.toThrow('fetch failed')])
  })
})

describe('start and close', () => {
  it('close ends hanging requests at once, and may be called twice', async () => {
    const answers = ['hang', 'slow-60000', 'hang'].map((model) => chat(model))
    await expect.poll(() => provider.requests.length, { interval: 2 }).toBe(3)
    const settled = Promise.allSettled(answers)
    await Promise.all([provider.close(), provider.close()])
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await expect
      .poll(() => new Set(provider.requests.map((entry) => entry.outcome)))
      .toEqual(new Set(['failed']))
    await expect(fetch(provider.url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })

  it('says so when the port is in use', async () => {
    const { port } = provider
    await expect(startScriptedProvider({ port })).rejects.toMatchObject({
      code: 'ERR_PORT_IN_USE',
      message: `port ${port} on 127.0.0.1 is in use: pass another port, or 0 for any free one`,
    })
    let shown = ''
    const command = faultsCommand()
      .exitOverride()
      .configureOutput({ writeErr: (text) => (shown += text) })
    await expect(command.parseAsync(['--port', String(port)], { from: 'user' })).rejects.toThrow('in use')
    expect(shown).toContain(`port ${port} on 127.0.0.1 is in use`)
  })

  it.each([
    { port: -1 },
    { port: 70_000 },
    { port: Number.NaN },
    { keepAliveMs: 0 },
    { outage: 'fire' as '503' },
  ])('refuses %o', async (options) => {
    await expect(startScriptedProvider(options)).rejects.toThrow(RangeError)
  })

  it('draws the same chance in every run', () => {
    const [first, second] = [seededRandom(7), seededRandom(7)]
    const drawn = Array.from({ length: 1000 }, () => first())
    expect(drawn).toEqual(Array.from({ length: 1000 }, () => second()))
    expect(drawn.every((roll) => roll >= 0 && roll < 1)).toBe(true)
    expect(drawn.reduce((sum, roll) => sum + roll) / 1000).toBeCloseTo(0.5, 1)
  })
})

describe('the openai package', () => {
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  let client: OpenAI
  beforeEach(() => {
    client = new OpenAI({ baseURL: provider.baseURL, apiKey: key, maxRetries: 0 })
  })

  async function collect(model: string): Promise<string> {
    let text = ''
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    return text
  }

  it('reads a whole answer', async () => {
    const completion = await client.chat.completions.create({ model: 'ok', messages })
    expect(completion.choices[0]?.message.content).toBe(hello('ok'))
    expect(completion).toHaveProperty('_request_id', 'req_1')
  })

  it('reads a stream with its usage', async () => {
    const stream = client.chat.completions.stream({
      model: 'ok',
      messages,
      stream_options: { include_usage: true },
    })
    const final = await stream.finalChatCompletion()
    expect(final.choices[0]?.message.content).toBe(hello('ok'))
    expect(final.usage?.total_tokens).toBe(13)
    expect(await collect('ok')).toBe(hello('ok'))
  })

  it('reads the Responses API, whole and streamed', async () => {
    const whole = await client.responses.create({ model: 'ok', input: 'Hello' })
    expect(whole.output_text).toBe(hello('ok'))
    const final = await client.responses.stream({ model: 'ok', input: 'Hello' }).finalResponse()
    expect([final.status, final.output_text]).toEqual(['completed', hello('ok')])
    const failed = client.responses.stream({ model: 'stream-error', input: 'Hello' }).finalResponse()
    await expect(failed).rejects.toMatchObject({ code: 'server_error' })
    const empty = await client.responses.create({ model: 'empty', input: 'Hello' })
    expect(empty.output_text).toBe('')
  })

  it('lists the models', async () => {
    const { data } = await client.models.list()
    expect(data.map(({ id }) => id)).toContain('context-length')
  })

  it('sends one request with maxRetries 0, three with 2', async () => {
    await expect(client.chat.completions.create({ model: '503', messages })).rejects.toMatchObject({
      status: 503,
    })
    expect(provider.counts.get('503')).toBe(1)
    const retried = client.chat.completions.create({ model: '429-0', messages }, { maxRetries: 2 })
    await expect(retried).rejects.toMatchObject({ status: 429 })
    expect(provider.counts.get('429-0')).toBe(3)
  })

  it('sees the context length as a bad request with its code', async () => {
    const error: unknown = await client.chat.completions
      .create({ model: 'context-length', messages })
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ code: 'context_length_exceeded', param: 'messages' })
  })

  it('sees an error event as an error without status', async () => {
    await expect(collect('stream-error')).rejects.toMatchObject({ status: undefined, type: 'server_error' })
  })

  it('takes a stream without marker for a success', async () => {
    expect(await collect('no-marker')).toBe(hello('no-marker'))
  })

  it('sees a cut stream as a terminated body', async () => {
    await expect(collect('cut')).rejects.toThrow('terminated')
  })
})
