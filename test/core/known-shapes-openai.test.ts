import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSwitchgear } from '../../src/index.ts'
import type { AttemptContext, TargetOptions } from '../../src/index.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

type Chunk = OpenAI.ChatCompletionChunk
type Completion = OpenAI.ChatCompletion

let provider: ScriptedProvider
let openai: OpenAI

beforeEach(async () => {
  provider = await startScriptedProvider()
  openai = new OpenAI({ baseURL: provider.baseURL, apiKey: 'sk-any', maxRetries: 0, logLevel: 'off' })
})
afterEach(() => provider.close())

const messages = [{ role: 'user' as const, content: 'hi' }]
const circuit = { maxRetries: 0, circuitBreaker: { threshold: 1 } } as const

/** The client's own calls, as anybody writes them: nothing says what a part or an answer is. */
function twoModels(fault: string) {
  const clock = new VirtualClock(1_000_000)
  const seen: Chunk[] = []
  const target = (name: string, model: string): TargetOptions<string, Completion, Chunk> => ({
    name,
    model,
    invoke: (_, { signal }) => openai.chat.completions.create({ model, messages }, { signal }),
    stream: async (_, { signal }: AttemptContext) => {
      const parts = await openai.chat.completions.create(
        { model, messages, stream: true, stream_options: { include_usage: true } },
        { signal },
      )
      return watched(parts, seen)
    },
    ...circuit,
  })
  const gear = createSwitchgear({ targets: [target('a', fault), target('b', 'ok')], clock, random: () => 0 })
  return { gear, clock, seen }
}

async function* watched<Part>(parts: AsyncIterable<Part>, seen: Part[]) {
  for await (const part of parts) {
    seen.push(part)
    yield part
  }
}

/** What came of a stream: its text, how many parts, and the error at its end. */
async function read(stream: AsyncIterable<Chunk>) {
  const chunks: Chunk[] = []
  let error: unknown
  try {
    for await (const chunk of stream) chunks.push(chunk)
  } catch (thrown) {
    error = thrown
  }
  return { chunks, error, text: chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('') }
}

const OK = 'Hello from scripted, model ok.'

describe('gear.stream over the openai client, without classifyPart', () => {
  it('a whole stream is read to its end, the usage behind the finish included', async () => {
    const { gear } = twoModels('ok')
    const { chunks, text, error } = await read(gear.stream('x'))
    expect({ text, error }).toEqual({ text: OK, error: undefined })
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } })
    expect(gear.getStatus({ name: 'a' })).toMatchObject({ state: 'closed', failureCount: 0 })
    expect(gear.stats().targets[0]?.stats.attempts).toMatchObject({ success: 1 })
  })

  it('tool calls are a whole answer', async () => {
    const { gear } = twoModels('tool-call')
    const { chunks, error } = await read(gear.stream('x'))
    expect(error).toBeUndefined()
    expect(chunks.some(({ choices }) => choices[0]?.delta.tool_calls !== undefined)).toBe(true)
    expect(provider.requests).toHaveLength(1)
  })

  it('silence behind the role is waited for no longer than firstContentTimeoutMs, then the next answers', async () => {
    const { gear, clock, seen } = twoModels('hang-content')
    const all = read(gear.stream('x'))
    await vi.waitFor(() => expect(seen).toHaveLength(1), { interval: 2 })
    clock.advance(30_000)
    expect(await all).toMatchObject({ text: OK, error: undefined })
    expect(gear.getFailureBreakdown({ name: 'a' })).toEqual({ first_content_timeout: 1 })
  })

  it.each([
    ['stream-error', 'server_error'],
    ['empty', 'empty_response'],
  ])('%s falls over, and nothing of the first target is shown', async (fault, kind) => {
    const { gear } = twoModels(fault)
    const { chunks, text, error } = await read(gear.stream('x'))
    expect({ text, error }).toEqual({ text: OK, error: undefined })
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['ok']))
    expect(gear.getFailureBreakdown({ name: 'a' })).toEqual({ [kind]: 1 })
  })

  it.each([
    ['no-marker', 'truncated_stream'],
    ['stream-error-late', 'server_error'],
  ])('%s never looks like a whole answer', async (fault, kind) => {
    const { gear } = twoModels(fault)
    const { text, error } = await read(gear.stream('x'))
    expect(text).toMatch(/^Hello from/)
    expect(error).toMatchObject({ code: 'ERR_STREAM_INTERRUPTED' })
    expect(gear.getFailureBreakdown({ name: 'a' })).toEqual({ [kind]: 1 })
  })
})

describe('gear.call over the openai client, without isEmpty', () => {
  it.each(['ok', 'tool-call'])('%s is an answer', async (fault) => {
    const { gear } = twoModels(fault)
    const answer = await gear.call('x')
    expect(answer.model).toBe(fault)
    expect(gear.getStatus({ name: 'a' })).toMatchObject({ state: 'closed', failureCount: 0 })
  })

  it.each([
    ['empty', 'empty_response'],
    ['stream-error', 'server_error'],
  ])('%s is a failure of its target', async (fault, kind) => {
    const { gear } = twoModels(fault)
    expect((await gear.call('x')).choices[0]?.message.content).toBe(OK)
    expect(gear.getFailureBreakdown({ name: 'a' })).toEqual({ [kind]: 1 })
  })
})

describe('the other APIs, without classifyPart and isEmpty', () => {
  /** Faults behind the responses API and the messages API, with a target each. */
  function target(api: 'responses' | 'messages', model: string): TargetOptions<string, unknown, object> {
    const anthropic = new Anthropic({ baseURL: provider.url, apiKey: 'sk-any', maxRetries: 0 })
    const toClaude = { model, messages, max_tokens: 100 }
    const toOpenai = { model, input: 'hi' }
    return api === 'responses'
      ? {
          name: `${model} by ${api}`,
          invoke: () => openai.responses.create(toOpenai),
          stream: () => openai.responses.create({ ...toOpenai, stream: true }),
          ...circuit,
        }
      : {
          name: `${model} by ${api}`,
          invoke: () => anthropic.messages.create(toClaude),
          stream: () => anthropic.messages.create({ ...toClaude, stream: true }),
          ...circuit,
        }
  }
  async function outcome(api: 'responses' | 'messages', model: string, streamed: boolean) {
    const first = target(api, model)
    const gear = createSwitchgear({ targets: [first, { ...target(api, 'ok'), name: 'b' }] })
    const parts: object[] = []
    try {
      if (streamed) for await (const part of gear.stream('x')) parts.push(part)
      else await gear.call('x')
    } catch (error) {
      return { failures: gear.getFailureBreakdown({ name: first.name! }), error }
    }
    return { failures: gear.getFailureBreakdown({ name: first.name! }), error: undefined }
  }

  it.each(['responses', 'messages'] as const)('%s: whole answers are whole', async (api) => {
    for (const model of ['ok', 'tool-call'])
      for (const streamed of [false, true])
        expect(await outcome(api, model, streamed)).toEqual({ failures: {}, error: undefined })
    expect(provider.requests).toHaveLength(4)
  })

  it.each([
    ['responses', 'empty', false, 'empty_response'],
    ['responses', 'empty', true, 'empty_response'],
    ['responses', 'stream-error', true, 'server_error'],
    ['messages', 'empty', false, 'empty_response'],
    ['messages', 'empty', true, 'empty_response'],
    ['messages', 'stream-error', true, 'server_error'],
  ] as const)('%s: %s falls over (streamed: %s)', async (api, model, streamed, kind) => {
    expect(await outcome(api, model, streamed)).toEqual({ failures: { [kind]: 1 }, error: undefined })
  })

  it.each(['responses', 'messages'] as const)('%s: half a stream is no answer', async (api) => {
    expect(await outcome(api, 'no-marker', true)).toMatchObject({
      failures: { truncated_stream: 1 },
      error: { code: 'ERR_STREAM_INTERRUPTED' },
    })
  })
})
