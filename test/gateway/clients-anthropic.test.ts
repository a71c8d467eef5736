import Anthropic, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'

import { scriptedTool } from '../../src/testing/tool-calls.ts'
import { readAll, rejection, startStage } from './clients-support.ts'
import type { Stage } from './clients-support.ts'
import { until } from './support.ts'

/** As people make it: with the two retries that it has of its own. Its base URL is the gateway, without `/v1`. */
const clientOf = ({ gateway }: Stage, apiKey = 'a-key-of-the-client') =>
  new Anthropic({ baseURL: gateway.url, apiKey })

const ask = (model: string) => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello' } as const],
})
const hello = (who: string, model = 'ok') => [{ type: 'text', text: `Hello from ${who}, model ${model}.` }]
const CALLED = { type: 'tool_use', name: scriptedTool.name, input: scriptedTool.input }
const tools = [{ name: scriptedTool.name, input_schema: { type: 'object' as const } }]

const textOf = (parts: readonly Anthropic.MessageStreamEvent[]) =>
  parts
    .flatMap((part) =>
      part.type === 'content_block_delta' && part.delta.type === 'text_delta' ? [part.delta.text] : [],
    )
    .join('')

describe('messages through the @anthropic-ai/sdk package', () => {
  it('come whole, with the headers of the gateway', async () => {
    await using stage = await startStage('anthropic')
    const { data, response } = await clientOf(stage).messages.create(ask('ok')).withResponse()
    expect(data.content).toEqual(hello('primary'))
    expect(data.stop_reason).toBe('end_turn')
    expect(response.headers.get('x-switchgear-target')).toBe('primary')
    expect(stage.reached).toEqual(['POST /v1/messages'])
    expect(stage.primary.requests).toMatchObject([{ path: '/v1/messages', authorized: false }])
  })

  it('come in parts', async () => {
    await using stage = await startStage('anthropic')
    const message = await clientOf(stage).messages.stream(ask('ok')).finalMessage()
    expect(message.content).toEqual(hello('primary'))
    expect(message.usage.output_tokens).toBe(5)
    expect(stage.reached).toHaveLength(1)
  })

  it('call a tool, whole and in parts, and go on with what it came to', async () => {
    await using stage = await startStage('anthropic')
    const client = clientOf(stage)
    const body = { ...ask('tool-call'), tools }
    const whole = await client.messages.create(body)
    const called = expect.objectContaining(CALLED)
    expect([whole.stop_reason, whole.content]).toEqual(['tool_use', [called]])
    const streamed = await client.messages.stream(body).finalMessage()
    expect([streamed.stop_reason, streamed.content]).toEqual(['tool_use', [called]])
    const { id } = whole.content[0] as Anthropic.ToolUseBlock
    const after = await client.messages.create({
      ...body,
      messages: [
        ...body.messages,
        { role: 'assistant', content: whole.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'sunny' }] },
      ],
    })
    expect(after.content).toEqual(hello('primary', 'tool-call'))
  })

  it('come from the backup in an outage, whole and in parts, in one request of the client each', async () => {
    await using stage = await startStage('anthropic')
    stage.primary.setOutage(true)
    const client = clientOf(stage)
    expect((await client.messages.create(ask('x'))).content).toEqual(hello('backup'))
    expect((await client.messages.stream(ask('x')).finalMessage()).content).toEqual(hello('backup'))
    expect(stage.reached).toHaveLength(2)
    expect([stage.primary.requests.length, stage.backup.requests.length]).toEqual([2, 2])
  })

  it.each(['cut', 'stall', 'no-marker', 'stream-error-late'])(
    'that break in the middle (%s) end with an error, never cleanly',
    async (model) => {
      await using stage = await startStage('anthropic', { primary: { idleTimeoutMs: 300 } })
      const stream = await clientOf(stage).messages.create({ ...ask(model), stream: true })
      const { parts, error } = await readAll(stream)
      expect(textOf(parts)).toMatch(/^Hello from/)
      expect(parts.some(({ type }) => type === 'message_stop')).toBe(false)
      expect(error).toBeInstanceOf(APIError)
      expect(error?.message).toContain('ERR_STREAM_INTERRUPTED')
      expect([stage.reached.length, stage.backup.requests.length]).toEqual([1, 0])
    },
  )

  it('are waited for while the gateway only sends signs of life, and may still fail then', async () => {
    const server = { port: 0, keepAliveMs: 20 }
    await using stage = await startStage('anthropic', { server, backup: false, primary: { timeoutMs: 1000 } })
    const late = await clientOf(stage).messages.stream(ask('slow-200')).finalMessage()
    expect(late.content).toEqual(hello('primary', 'slow-200'))
    const never = await readAll(await clientOf(stage).messages.create({ ...ask('hang'), stream: true }))
    expect(never.parts).toEqual([])
    expect(never.error?.message).toContain('ERR_ATTEMPT_TIMEOUT')
    expect(stage.reached).toHaveLength(2)
  })

  it.each([false, true])('are asked for once where the circuit is open (stream: %s)', async (stream) => {
    await using stage = await startStage('anthropic', {
      backup: false,
      primary: { circuitBreaker: { threshold: 1, cooldownMs: 60_000 } },
    })
    stage.primary.setOutage(true)
    const create = () => rejection(clientOf(stage).messages.create({ ...ask('ok'), stream }))
    expect(await create()).toMatchObject({ status: 502 })
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 1])

    const refused = (await create()) as APIError
    expect(refused).toMatchObject({ status: 503, error: { error: { type: 'overloaded_error' } } })
    expect(refused.headers?.get('x-should-retry')).toBe('false')
    expect(Number(refused.headers?.get('retry-after'))).toBeGreaterThan(50)
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([2, 1])
  })

  it('end everywhere when the client leaves', async () => {
    await using stage = await startStage('anthropic')
    const { primary, backup } = stage
    const leaving = new AbortController()
    const whole = rejection(clientOf(stage).messages.create(ask('hang'), { signal: leaving.signal }))
    await until(() => primary.requests.length === 1)
    leaving.abort()
    expect(await whole).toBeInstanceOf(APIUserAbortError)
    await until(() => primary.requests[0]?.outcome === 'aborted-by-client')

    const stream = clientOf(stage).messages.stream(ask('stall'))
    stream.on('text', () => stream.abort())
    expect(await rejection(stream.finalMessage())).toBeInstanceOf(APIUserAbortError)
    await until(() => primary.requests[1]?.outcome === 'aborted-by-client')
    expect([stage.reached.length, backup.requests.length]).toEqual([2, 0])
    expect(stage.gateway.gear.getStatus()).toMatchObject({ failureCount: 0 })
  })

  it.each([
    ['429-7', RateLimitError, 'rate_limit_error'],
    ['context-length', BadRequestError, 'invalid_request_error'],
  ])('tell of %s as the client expects it, once', async (model, kind, type) => {
    await using stage = await startStage('anthropic', { backup: false })
    const error = (await rejection(clientOf(stage).messages.create(ask(model)))) as APIError
    expect(error).toBeInstanceOf(kind)
    expect(error.error).toMatchObject({ type: 'error', error: { type } })
    if (kind === RateLimitError) expect(error.headers?.get('retry-after')).toBe('7')
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 1])
  })

  it('need a key where there are keys, which the client sends its own way', async () => {
    await using stage = await startStage('anthropic', {
      server: { port: 0, clientKeys: { team: 'key-of-the-team' } },
    })
    const refused = await rejection(clientOf(stage, 'another-key-0001').messages.create(ask('ok')))
    expect(refused).toBeInstanceOf(AuthenticationError)
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 0])
    expect((await clientOf(stage, 'key-of-the-team').messages.create(ask('ok'))).content).toEqual(
      hello('primary'),
    )
    expect(stage.primary.requests[0]?.authorized).toBe(false)
  })

  it('of a model that is in no group are not found, and nobody is asked', async () => {
    await using stage = await startStage('anthropic', { models: { sonnet: ['primary'] } })
    const error = (await rejection(clientOf(stage).messages.create(ask('sonet')))) as APIError
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error.error).toMatchObject({ error: { type: 'not_found_error' } })
    expect(error.message).toContain("Did you mean 'sonnet'?")
    expect([stage.reached.length, stage.primary.requests.length]).toEqual([1, 0])
  })
})
