import OpenAI, { APIConnectionTimeoutError, APIError, APIUserAbortError, InternalServerError } from 'openai'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { breakerFetch } from '../../src/adapters/fetch/index.ts'
import type { BreakerFetch, BreakerFetchOptions } from '../../src/adapters/fetch/index.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

let provider: ScriptedProvider
let clock: VirtualClock
let fetch: BreakerFetch

beforeEach(async () => {
  provider = await startScriptedProvider({ keepAliveMs: 2 })
  clock = new VirtualClock(1_000_000)
})
afterEach(async () => {
  fetch.close()
  await provider.close()
})

function client(options: BreakerFetchOptions = {}, maxRetries = 0): OpenAI {
  fetch = breakerFetch({ whenOpen: 'respond', threshold: 1, cooldownMs: 1000, clock, ...options })
  return new OpenAI({ baseURL: provider.baseURL, apiKey: 'sk-any', maxRetries, fetch, logLevel: 'off' })
}

const messages = [{ role: 'user' as const, content: 'hi' }]
const create = (openai: OpenAI, model = 'ok') => openai.chat.completions.create({ model, messages })
const breaker = () => fetch.registry.get(new URL(provider.url).host)

/** The text of a stream, and the error that ended it. */
async function stream(openai: OpenAI, model: string, signal?: AbortSignal, onText = (_text: string) => {}) {
  let text = ''
  try {
    const options = signal === undefined ? {} : { signal }
    for await (const chunk of await openai.chat.completions.create(
      { model, messages, stream: true },
      options,
    )) {
      text += chunk.choices[0]?.delta.content ?? ''
      onText(text)
    }
    return { text }
  } catch (error) {
    return { text, error }
  }
}

describe('the openai client behind breakerFetch', () => {
  it('answers as ever, whole and streamed', async () => {
    const openai = client()
    const { data, request_id } = await create(openai).withResponse()
    expect(data.choices[0]?.message.content).toBe('Hello from scripted, model ok.')
    expect(request_id).toBe('req_1')
    expect(await stream(openai, 'ok')).toEqual({ text: 'Hello from scripted, model ok.' })
    const response = await openai.responses.create({ model: 'ok', input: 'hi' })
    expect(response.output_text).toBe('Hello from scripted, model ok.')
    expect((await openai.models.list()).data.length).toBeGreaterThan(0)
    expect(breaker().stats).toMatchObject({ success: 4, failure: 0, neutral: 0 })
  })

  it.each([0, 2])(
    'sends nothing while the circuit is open, and fails once (maxRetries %i)',
    async (maxRetries) => {
      const openai = client({ threshold: maxRetries === 0 ? 2 : 1 }, maxRetries)
      provider.setOutage(true)
      await expect(create(openai)).rejects.toBeInstanceOf(InternalServerError)
      if (maxRetries === 0) await expect(create(openai)).rejects.toBeInstanceOf(InternalServerError)
      const sent = provider.requests.length
      expect(sent).toBe(maxRetries === 0 ? 2 : 1)
      const refused = breaker().stats.refused.open

      const failure = await create(openai).catch((error: unknown) => error)
      expect(failure).toMatchObject({
        status: 503,
        code: 'ERR_CIRCUIT_OPEN',
        requestID: expect.stringMatching(/^req_switchgear/),
      })
      expect(await stream(openai, 'ok')).toMatchObject({ error: { status: 503, code: 'ERR_CIRCUIT_OPEN' } })
      expect(provider.requests).toHaveLength(sent)
      expect(breaker().stats.refused.open).toBe(refused + 2)

      provider.setOutage(false)
      clock.advance(1000)
      expect((await create(openai)).choices).toHaveLength(1)
      expect(breaker().state).toBe('closed')
      expect(provider.requests).toHaveLength(sent + 1)
    },
  )

  it('reports a refusal that is thrown as the cause', async () => {
    const openai = client({ whenOpen: 'throw' })
    breaker().open()
    await expect(create(openai)).rejects.toMatchObject({ cause: { code: 'ERR_CIRCUIT_OPEN' } })
  })

  it('opens on a provider that hangs', async () => {
    const openai = client({ timeoutMs: 5000 })
    const answer = create(openai, 'hang')
    await vi.waitFor(() => expect(provider.requests).toHaveLength(1), { interval: 2 })
    clock.advance(5000)
    await expect(answer).rejects.toBeInstanceOf(APIConnectionTimeoutError)
    expect(breaker().state).toBe('open')
    expect(breaker().getFailureBreakdown()).toEqual({ timeout: 1 })
  })

  it.each([
    ['cut', 'network', 'Hello from'],
    ['stream-error', 'server_error', ''],
    ['stream-error-late', 'server_error', 'Hello from'],
    ['no-marker', 'truncated_stream', 'Hello from scripted, model no-marker.'],
  ])('opens on a stream with %s, and the client hears of it', async (fault, kind, text) => {
    const openai = client()
    const seen = await stream(openai, fault)
    expect(seen.text).toBe(text)
    expect(seen.error).toBeInstanceOf(Error)
    if (kind === 'server_error') expect(seen.error).toBeInstanceOf(APIError)
    if (kind === 'truncated_stream') expect(seen.error).toMatchObject({ code: 'ERR_TRUNCATED_STREAM' })
    expect(breaker().getFailureBreakdown()).toEqual({ [kind]: 1 })
    expect(await stream(openai, 'ok')).toMatchObject({ text: '', error: { code: 'ERR_CIRCUIT_OPEN' } })
    expect(provider.requests).toHaveLength(1)
  })

  it.each([
    ['stall', 'idle_timeout', 'Hello from', { firstContentTimeoutMs: Infinity }],
    ['hang-content', 'first_content_timeout', '', {}],
    ['keep-alives', 'first_content_timeout', '', {}],
  ])('opens on a stream with %s', async (fault, kind, text, options) => {
    const openai = client({ timeoutMs: Infinity, ...options })
    const seen = stream(openai, fault)
    await vi.waitFor(
      () => {
        clock.advance(30_000)
        expect(breaker().getFailureBreakdown()).toEqual({ [kind]: 1 })
      },
      { interval: 20 },
    )
    expect(await seen).toMatchObject({ text, error: { code: 'ERR_ATTEMPT_TIMEOUT', limit: kind } })
  })

  it('is neutral about a caller who aborts or stops reading', async () => {
    const openai = client()
    const controller = new AbortController()
    const answer = openai.chat.completions.create({ model: 'hang', messages }, { signal: controller.signal })
    await vi.waitFor(() => expect(provider.requests).toHaveLength(1), { interval: 2 })
    controller.abort()
    await expect(answer).rejects.toBeInstanceOf(APIUserAbortError)

    const second = new AbortController()
    await stream(openai, 'stall', second.signal, () => second.abort())
    const third = await openai.chat.completions.create({ model: 'stall', messages, stream: true })
    const reader = third[Symbol.asyncIterator]()
    await reader.next()
    await reader.return?.()
    expect(breaker().stats).toMatchObject({ success: 0, failure: 0, neutral: 3 })
    await vi.waitFor(
      () =>
        expect(provider.requests.map(({ outcome }) => outcome)).toEqual(Array(3).fill('aborted-by-client')),
      { interval: 2 },
    )
  })

  it('keeps one model apart from another', async () => {
    const openai = client({ isolateByModel: true })
    await expect(create(openai, '503')).rejects.toThrow()
    await expect(create(openai, '503')).rejects.toMatchObject({ code: 'ERR_CIRCUIT_OPEN' })
    await create(openai, 'ok')
    expect(provider.requests.map(({ model }) => model)).toEqual(['503', 'ok'])
  })
})
