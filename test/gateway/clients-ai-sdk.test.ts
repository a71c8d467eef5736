import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, embed, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import type { LanguageModel } from 'ai'
import { describe, expect, it } from 'vitest'

import { scriptedTool } from '../../src/testing/tool-calls.ts'
import { readAll, rejection, startStage } from './clients-support.ts'
import type { Stage } from './clients-support.ts'
import { until } from './support.ts'

const compatible = ({ gateway }: Stage, apiKey = 'a-key-of-the-client') =>
  createOpenAICompatible({ name: 'switchgear', baseURL: `${gateway.url}/v1`, apiKey, includeUsage: true })
const openai = ({ gateway }: Stage, apiKey = 'a-key-of-the-client') =>
  createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey })

/** The two packages, and the two APIs of one of them. */
const ways: readonly { what: string; path: string; model: (stage: Stage, name: string) => LanguageModel }[] =
  [
    {
      what: 'openai-compatible',
      path: '/v1/chat/completions',
      model: (stage, name) => compatible(stage)(name),
    },
    { what: 'openai, chat', path: '/v1/chat/completions', model: (stage, name) => openai(stage).chat(name) },
    {
      what: 'openai, responses',
      path: '/v1/responses',
      model: (stage, name) => openai(stage).responses(name),
    },
  ]

const prompt = 'Hello'
const hello = (who: string, model = 'ok') => `Hello from ${who}, model ${model}.`
// its retries know nothing of x-should-retry
const once = { prompt, maxRetries: 0 }
const weather = (asked: unknown[]) => ({
  [scriptedTool.name]: tool({
    inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
    execute: (input) => {
      asked.push(input)
      return 'sunny'
    },
  }),
})

describe.each(ways)('the ai package through $what', ({ path, model }) => {
  it('gets an answer, whole and in parts', async () => {
    await using stage = await startStage('openai')
    const whole = await generateText({ ...once, model: model(stage, 'ok') })
    expect([whole.text, whole.finishReason]).toEqual([hello('primary'), 'stop'])
    expect(whole.response.headers?.['x-switchgear-target']).toBe('primary')
    const streamed = streamText({ ...once, model: model(stage, 'ok') })
    const { parts } = await readAll(streamed.textStream)
    expect([parts.join(''), await streamed.finishReason]).toEqual([hello('primary'), 'stop'])
    expect((await streamed.usage).outputTokens).toBe(5)
    expect(stage.reached).toEqual([`POST ${path}`, `POST ${path}`])
    expect(stage.primary.requests.every(({ authorized }) => !authorized)).toBe(true)
  })

  it('calls a tool and goes on with what it came to, whole and in parts', async () => {
    await using stage = await startStage('openai')
    const asked: unknown[] = []
    const loop = { ...once, tools: weather(asked), stopWhen: stepCountIs(2) }
    const whole = await generateText({ ...loop, model: model(stage, 'tool-call') })
    expect(whole.text).toBe(hello('primary', 'tool-call'))
    const streamed = streamText({ ...loop, model: model(stage, 'tool-call') })
    expect((await readAll(streamed.textStream)).parts.join('')).toBe(hello('primary', 'tool-call'))
    expect(asked).toEqual([scriptedTool.input, scriptedTool.input])
    expect(stage.reached).toHaveLength(4)
  })

  it('is answered by the backup in an outage, whole and in parts', async () => {
    await using stage = await startStage('openai')
    stage.primary.setOutage(true)
    expect((await generateText({ ...once, model: model(stage, 'x') })).text).toBe(hello('backup'))
    const streamed = streamText({ ...once, model: model(stage, 'x') })
    expect((await readAll(streamed.textStream)).parts.join('')).toBe(hello('backup'))
    expect(stage.reached).toHaveLength(2)
  })

  it.each(['cut', 'stall', 'no-marker', 'stream-error-late'])(
    'sees an error where a stream breaks in the middle (%s), never a clean end',
    async (name) => {
      await using stage = await startStage('openai', { primary: { idleTimeoutMs: 300 } })
      const errors: unknown[] = []
      const onError = ({ error }: { error: unknown }) => void errors.push(error)
      const streamed = streamText({ ...once, model: model(stage, name), onError })
      const { parts } = await readAll(streamed.fullStream)
      const types = parts.map(({ type }) => type)
      expect(types).toContain('text-delta')
      expect(types).toContain('error')
      expect(errors).toHaveLength(1)
      expect(JSON.stringify(errors)).toContain('ERR_STREAM_INTERRUPTED')
      expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: 'error' })
      expect([stage.reached.length, stage.backup.requests.length]).toEqual([1, 0])
    },
  )

  it('waits while the gateway only sends signs of life, and is told where nothing comes of it', async () => {
    const server = { port: 0, keepAliveMs: 20 }
    await using stage = await startStage('openai', { server, backup: false, primary: { timeoutMs: 1000 } })
    const late = streamText({ ...once, model: model(stage, 'slow-200') })
    expect((await readAll(late.textStream)).parts.join('')).toBe(hello('primary', 'slow-200'))
    const errors: unknown[] = []
    const onError = ({ error }: { error: unknown }) => void errors.push(error)
    const never = streamText({ ...once, model: model(stage, 'hang'), onError })
    expect((await readAll(never.fullStream)).parts.some(({ type }) => type === 'text-delta')).toBe(false)
    expect(JSON.stringify(errors)).toContain('ERR_ATTEMPT_TIMEOUT')
    expect(stage.reached).toHaveLength(2)
  })

  it('asks once for what an open circuit refuses, and is told when to come back', async () => {
    await using stage = await startStage('openai', {
      backup: false,
      primary: { circuitBreaker: { threshold: 1, cooldownMs: 60_000 } },
    })
    stage.primary.setOutage(true)
    const ask = () => rejection(generateText({ ...once, model: model(stage, 'ok') }))
    expect(await ask()).toMatchObject({ statusCode: 502 })
    const refused = await ask()
    expect(APICallError.isInstance(refused)).toBe(true)
    expect(refused).toMatchObject({ statusCode: 503, responseHeaders: { 'x-should-retry': 'false' } })
    expect((refused as APICallError).responseBody).toContain('ERR_CIRCUIT_OPEN')
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([2, 1])
  })

  it('ends everything when it leaves', async () => {
    await using stage = await startStage('openai')
    const { primary, backup } = stage
    const leaving = new AbortController()
    const abortSignal = leaving.signal
    const whole = rejection(generateText({ ...once, model: model(stage, 'hang'), abortSignal }))
    await until(() => primary.requests.length === 1)
    leaving.abort()
    expect((await whole).name).toBe('AbortError')
    await until(() => primary.requests[0]?.outcome === 'aborted-by-client')

    const stopping = new AbortController()
    const streamed = streamText({ ...once, model: model(stage, 'stall'), abortSignal: stopping.signal })
    for await (const part of streamed.fullStream) if (part.type === 'text-delta') stopping.abort()
    await until(() => primary.requests[1]?.outcome === 'aborted-by-client')
    expect([stage.reached.length, backup.requests.length]).toEqual([2, 0])
    expect(stage.gateway.gear.getStatus()).toMatchObject({ failureCount: 0 })
  })

  it.each([
    ['429-7', { statusCode: 429, responseHeaders: { 'retry-after': '7' } }],
    ['context-length', { statusCode: 400, data: { error: { code: 'context_length_exceeded' } } }],
  ])('is told of %s', async (name, told) => {
    await using stage = await startStage('openai', { backup: false })
    expect(await rejection(generateText({ ...once, model: model(stage, name) }))).toMatchObject(told)
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 1])
  })
})

describe('the ai package', () => {
  it('needs a key where there are keys, and tries a wrong one only once', async () => {
    await using stage = await startStage('openai', {
      server: { port: 0, clientKeys: { team: 'key-of-the-team' } },
    })
    const refused = await rejection(
      generateText({ prompt, model: compatible(stage, 'another-key-0001')('ok') }),
    )
    expect(refused).toMatchObject({ statusCode: 401 })
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 0])
    const { text } = await generateText({ prompt, model: compatible(stage, 'key-of-the-team')('ok') })
    expect(text).toBe(hello('primary'))
  })

  it('asks only once for a model that is in no group', async () => {
    await using stage = await startStage('openai', { models: { 'gpt-5': ['primary'] } })
    const refused = await rejection(generateText({ prompt, model: compatible(stage)('gpt-55') }))
    expect(refused).toMatchObject({
      statusCode: 404,
      message: expect.stringContaining("Did you mean 'gpt-5'?"),
    })
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 0])
  })

  it('left to its own retries comes back when the circuit lets it in, and not before', async () => {
    await using stage = await startStage('openai', {
      backup: false,
      primary: { circuitBreaker: { threshold: 1, cooldownMs: 2000 } },
    })
    stage.primary.setOutage(true)
    await rejection(generateText({ ...once, model: compatible(stage)('ok') }))
    stage.primary.setOutage(false)
    const { text } = await generateText({ prompt, model: compatible(stage)('ok') })
    expect(text).toBe(hello('primary'))
    expect(stage.primary.requests).toHaveLength(2)
    // a timer may end a moment before its time
    expect([3, 4]).toContain(stage.reached.length)
  })

  it('gets embeddings, from the backup in an outage', async () => {
    await using stage = await startStage('openai')
    for (const way of [compatible(stage), openai(stage)]) {
      const { embedding } = await embed({ model: way.embeddingModel('ok'), value: 'Hello' })
      expect(embedding).toEqual([0.25, -0.5, 0.75])
    }
    stage.primary.setOutage(true)
    const { embedding, response } = await embed({
      model: compatible(stage).embeddingModel('ok'),
      value: 'Hello',
    })
    expect([embedding.length, response?.headers?.['x-switchgear-target']]).toEqual([3, 'backup'])
    expect(stage.reached).toHaveLength(3)
  })
})
