import OpenAI, {
  APIConnectionError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from 'openai'
import { describe, expect, it } from 'vitest'

import { scriptedTool } from '../../src/testing/tool-calls.ts'
import { readAll, rejection, startStage } from './clients-support.ts'
import type { Stage } from './clients-support.ts'
import { until } from './support.ts'

/** As people make it: with the two retries that it has of its own. */
const clientOf = ({ gateway }: Stage, apiKey = 'a-key-of-the-client') =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey })

const messages = [{ role: 'user', content: 'Hello' } as const]
const hello = (who: string, model = 'ok') => `Hello from ${who}, model ${model}.`
const tools = [
  {
    type: 'function' as const,
    function: { name: scriptedTool.name, parameters: { type: 'object', properties: { city: {} } } },
  },
]
const CALLED = { name: scriptedTool.name, arguments: JSON.stringify(scriptedTool.input) }

const textOf = (parts: readonly OpenAI.ChatCompletionChunk[]) =>
  parts.map(({ choices }) => choices[0]?.delta.content ?? '').join('')

describe('chat completions through the openai package', () => {
  it('come whole, with the headers of the gateway', async () => {
    await using stage = await startStage('openai')
    const { data, response } = await clientOf(stage)
      .chat.completions.create({ model: 'ok', messages })
      .withResponse()
    expect(data.choices[0]?.message.content).toBe(hello('primary'))
    expect(data.usage?.total_tokens).toBe(13)
    expect(response.headers.get('x-switchgear-target')).toBe('primary')
    expect(stage.reached).toEqual(['POST /v1/chat/completions'])
    expect(stage.primary.requests).toHaveLength(1)
    // the client's key stays here
    expect(stage.primary.requests[0]?.authorized).toBe(false)
  })

  it('come in parts, with their usage', async () => {
    await using stage = await startStage('openai')
    const stream = await clientOf(stage).chat.completions.create({
      model: 'ok',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    const { parts, error } = await readAll(stream)
    expect(error).toBeUndefined()
    expect(textOf(parts)).toBe(hello('primary'))
    expect(parts.at(-1)?.usage?.total_tokens).toBe(13)
    expect(stage.reached).toHaveLength(1)
  })

  it('call a tool, whole and in parts', async () => {
    await using stage = await startStage('openai')
    const client = clientOf(stage)
    const whole = await client.chat.completions.create({ model: 'tool-call', messages, tools })
    expect(whole.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: CALLED }] },
    })
    const streamed = await client.chat.completions
      .stream({ model: 'tool-call', messages, tools })
      .finalChatCompletion()
    expect(streamed.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: CALLED }] },
    })
  })

  it('go on with what the tool came to', async () => {
    await using stage = await startStage('openai')
    const asked: unknown[] = []
    const runner = clientOf(stage).chat.completions.runTools({
      model: 'tool-call',
      messages,
      tools: [
        {
          type: 'function',
          function: {
            name: scriptedTool.name,
            description: 'The weather',
            parameters: { type: 'object', properties: { city: { type: 'string' } } },
            parse: JSON.parse,
            function: (input: object) => {
              asked.push(input)
              return 'sunny'
            },
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe(hello('primary', 'tool-call'))
    expect(asked).toEqual([scriptedTool.input])
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([2, 2])
  })

  it('come from the backup in an outage, whole and in parts, in one request of the client each', async () => {
    await using stage = await startStage('openai')
    stage.primary.setOutage(true)
    const client = clientOf(stage)
    const whole = await client.chat.completions.create({ model: 'x', messages })
    expect(whole.choices[0]?.message.content).toBe(hello('backup'))
    const { parts, error } = await readAll(
      await client.chat.completions.create({ model: 'x', messages, stream: true }),
    )
    expect([textOf(parts), error]).toEqual([hello('backup'), undefined])
    expect(stage.reached).toHaveLength(2)
    expect([stage.primary.requests.length, stage.backup.requests.length]).toEqual([2, 2])
  })

  it.each(['cut', 'stall', 'no-marker', 'stream-error-late'])(
    'that break in the middle (%s) end with an error, never cleanly',
    async (model) => {
      await using stage = await startStage('openai', { primary: { idleTimeoutMs: 300 } })
      const stream = await clientOf(stage).chat.completions.create({ model, messages, stream: true })
      const { parts, error } = await readAll(stream)
      expect(textOf(parts)).toMatch(/^Hello from/)
      expect(error).toBeInstanceOf(APIError)
      expect((error as APIError).code).toBe('ERR_STREAM_INTERRUPTED')
      expect([stage.reached.length, stage.backup.requests.length]).toEqual([1, 0])
    },
  )

  it('are waited for while the gateway only sends signs of life, and may still fail then', async () => {
    const server = { port: 0, keepAliveMs: 20 }
    await using stage = await startStage('openai', { server, backup: false, primary: { timeoutMs: 1000 } })
    const ask = (model: string) => clientOf(stage).chat.completions.create({ model, messages, stream: true })
    const late = await readAll(await ask('slow-200'))
    expect([textOf(late.parts), late.error]).toEqual([hello('primary', 'slow-200'), undefined])
    const never = await readAll(await ask('hang'))
    expect(never.parts).toEqual([])
    expect(never.error).toMatchObject({ code: 'ERR_ATTEMPT_TIMEOUT' })
    expect(stage.reached).toHaveLength(2)
  })

  it.each([false, true])('are asked for once where the circuit is open (stream: %s)', async (stream) => {
    await using stage = await startStage('openai', {
      backup: false,
      primary: { circuitBreaker: { threshold: 1, cooldownMs: 60_000 } },
    })
    stage.primary.setOutage(true)
    const ask = () => rejection(clientOf(stage).chat.completions.create({ model: 'ok', messages, stream }))
    const failed = (await ask()) as APIError
    expect([failed.status, failed.code]).toEqual([502, 'server_error'])
    // the gateway has tried already as often as makes sense
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 1])

    const refused = (await ask()) as APIError
    expect([refused.status, refused.code]).toEqual([503, 'ERR_CIRCUIT_OPEN'])
    expect(refused.headers?.get('x-should-retry')).toBe('false')
    expect(Number(refused.headers?.get('retry-after'))).toBeGreaterThan(50)
    expect(Number(refused.headers?.get('retry-after-ms'))).toBeGreaterThan(50_000)
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([2, 1])
  })

  it('end everywhere when the client leaves', async () => {
    await using stage = await startStage('openai')
    const { primary, backup } = stage
    const leaving = new AbortController()
    const { signal } = leaving
    const whole = rejection(clientOf(stage).chat.completions.create({ model: 'hang', messages }, { signal }))
    await until(() => primary.requests.length === 1)
    leaving.abort()
    expect(await whole).toBeInstanceOf(APIUserAbortError)
    await until(() => primary.requests[0]?.outcome === 'aborted-by-client')

    const stream = await clientOf(stage).chat.completions.create({ model: 'stall', messages, stream: true })
    for await (const part of stream) if (part.choices[0]?.delta.content) break
    await until(() => primary.requests[1]?.outcome === 'aborted-by-client')
    expect(stage.reached).toHaveLength(2)
    expect(backup.requests).toHaveLength(0)
    expect(stage.gateway.gear.getStatus()).toMatchObject({ failureCount: 0 })
  })

  it('hold a client back when everybody is over the rate', async () => {
    await using stage = await startStage('openai', { backup: false })
    const error = await rejection(clientOf(stage).chat.completions.create({ model: '429-7', messages }))
    expect(error).toBeInstanceOf(RateLimitError)
    const { headers } = error as RateLimitError
    expect([headers?.get('retry-after'), headers?.get('x-should-retry')]).toEqual(['7', 'false'])
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 1])
  })

  it('are tried again by the gateway, not by the client', async () => {
    await using stage = await startStage('openai', {
      backup: false,
      primary: { maxRetries: 2, retry: { baseMs: 1 } },
    })
    const error = await rejection(clientOf(stage).chat.completions.create({ model: '503', messages }))
    expect((error as APIError).status).toBe(502)
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 3])
  })

  it('need a key where there are keys', async () => {
    await using stage = await startStage('openai', {
      server: { port: 0, clientKeys: { team: 'key-of-the-team' } },
    })
    const ask = (key: string) => clientOf(stage, key).chat.completions.create({ model: 'ok', messages })
    const refused = await rejection(ask('another-key-0001'))
    expect(refused).toBeInstanceOf(AuthenticationError)
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 0])
    expect((await ask('key-of-the-team')).choices[0]?.message.content).toBe(hello('primary'))
  })

  it('of a model that is in no group are not found, and nobody is asked', async () => {
    await using stage = await startStage('openai', { models: { 'gpt-5': ['primary'] } })
    const error = await rejection(clientOf(stage).chat.completions.create({ model: 'gpt-55', messages }))
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error).toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining("Did you mean 'gpt-5'?"),
    })
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 0])
  })

  it('tell what is wrong with a request in the words of the provider', async () => {
    await using stage = await startStage('openai')
    const error = await rejection(
      clientOf(stage).chat.completions.create({ model: 'context-length', messages }),
    )
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ code: 'context_length_exceeded', param: 'messages' })
    expect([stage.reached.length, stage.backup.requests.length]).toEqual([1, 0])
  })

  it('that were under way when the gateway was closed end with an error', async () => {
    await using stage = await startStage('openai')
    const stream = await clientOf(stage).chat.completions.create({ model: 'stall', messages, stream: true })
    const reading = readAll(stream)
    await until(() => stage.primary.requests.length === 1)
    await stage.gateway.close({ drainMs: 0 })
    const { parts, error } = await reading
    expect(textOf(parts)).toMatch(/^Hello from/)
    expect(error).toMatchObject({ code: 'ERR_CLOSED' })
    const late = await rejection(
      new OpenAI({ baseURL: `${stage.gateway.url}/v1`, apiKey: 'any', maxRetries: 0 }).models.list(),
    )
    expect(late).toBeInstanceOf(APIConnectionError)
  })
})

describe('the other endpoints through the openai package', () => {
  it('answer embeddings, and fall over', async () => {
    await using stage = await startStage('openai')
    const client = clientOf(stage)
    const own = await client.embeddings.create({ model: 'ok', input: 'Hello', encoding_format: 'float' })
    expect(own.data[0]?.embedding).toEqual([0.25, -0.5, 0.75])
    stage.primary.setOutage(true)
    const { data, response } = await client.embeddings
      .create({ model: 'ok', input: 'Hello', encoding_format: 'float' })
      .withResponse()
    expect([data.data.length, response.headers.get('x-switchgear-target')]).toEqual([1, 'backup'])
    expect(stage.reached).toEqual(['POST /v1/embeddings', 'POST /v1/embeddings'])
  })

  it('answer responses, whole and in parts', async () => {
    await using stage = await startStage('openai')
    const client = clientOf(stage)
    const whole = await client.responses.create({ model: 'ok', input: 'Hello' })
    expect(whole.output_text).toBe(hello('primary'))
    const { parts, error } = await readAll(
      await client.responses.create({ model: 'ok', input: 'Hello', stream: true }),
    )
    expect(error).toBeUndefined()
    const text = parts.flatMap((part) => (part.type === 'response.output_text.delta' ? [part.delta] : []))
    expect(text.join('')).toBe(hello('primary'))
    expect(parts.at(-1)?.type).toBe('response.completed')
  })

  it('call a tool in responses, whole and in parts, and go on with what it came to', async () => {
    await using stage = await startStage('openai')
    const client = clientOf(stage)
    const called = expect.objectContaining({ type: 'function_call', ...CALLED })
    const whole = await client.responses.create({ model: 'tool-call', input: 'Hello' })
    expect(whole.output).toEqual([called])
    const streamed = await client.responses.stream({ model: 'tool-call', input: 'Hello' }).finalResponse()
    expect(streamed.output).toEqual([called])
    const call_id = (whole.output[0] as OpenAI.Responses.ResponseFunctionToolCall).call_id
    const after = await client.responses.create({
      model: 'tool-call',
      input: [
        ...whole.output,
        { type: 'function_call_output', call_id, output: 'sunny' },
      ] as OpenAI.Responses.ResponseInput,
    })
    expect(after.output_text).toBe(hello('primary', 'tool-call'))
  })

  it('end responses that break in the middle with an error', async () => {
    await using stage = await startStage('openai')
    const { parts, error } = await readAll(
      await clientOf(stage).responses.create({ model: 'cut', input: 'Hello', stream: true }),
    )
    expect(parts.some(({ type }) => type === 'response.output_text.delta')).toBe(true)
    expect(parts.some(({ type }) => type === 'response.completed')).toBe(false)
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ code: 'ERR_STREAM_INTERRUPTED' })
    expect(stage.reached).toHaveLength(1)
  })

  it('list the models', async () => {
    await using stage = await startStage('openai', {
      models: { 'gpt-5': ['primary'], small: { targets: ['backup'] } },
    })
    const client = clientOf(stage)
    const { data } = await client.models.list()
    expect(data.map(({ id }) => id)).toEqual(['gpt-5', 'small'])
    expect(await client.models.retrieve('small')).toMatchObject({ id: 'small', object: 'model' })
    expect(await rejection(client.models.retrieve('a/b c'))).toBeInstanceOf(NotFoundError)
  })
})
