import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultOfKnownAnswer } from '../../src/classify/known-answer.ts'
import { KnownParts } from '../../src/classify/known-parts.ts'
import { createSwitchgear } from '../../src/index.ts'
import type { PartKind, SwitchgearOptions, TargetOptions } from '../../src/index.ts'
import { PartSource } from '../support/part-source.ts'

type Kind = PartKind | undefined

const chunk = (delta: object | null, finish_reason: string | null = null, index = 0) => ({
  object: 'chat.completion.chunk',
  choices: [{ index, delta, finish_reason }],
})
const frame = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' }
const completion = (message: object, finish_reason: string | null = 'stop') => ({
  ...frame,
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
})
const claude = (content: unknown, stop_reason = 'end_turn') => ({
  type: 'message',
  role: 'assistant',
  content,
  stop_reason,
})
const response = (output: unknown, more: object = {}) => ({
  object: 'response',
  status: 'completed',
  error: null,
  output,
  ...more,
})
const said = (...content: object[]) => ({ type: 'message', role: 'assistant', content })

describe('a part of a known shape', () => {
  const first = (part: unknown) => new KnownParts().kindOf(part)

  it.each<readonly [string, unknown, Kind]>([
    ['chat: the role', chunk({ role: 'assistant', content: '', refusal: null }), 'preamble'],
    ['chat: text', chunk({ content: 'Hi' }), 'content'],
    ['chat: a tool call', chunk({ tool_calls: [{ index: 0 }] }), 'content'],
    ['chat: an old function call', chunk({ function_call: { name: 'f' } }), 'content'],
    ['chat: thoughts', chunk({ reasoning_content: 'Hm' }), 'content'],
    ['chat: a refusal', chunk({ refusal: 'No.' }), 'content'],
    ['chat: a refusal and the end', chunk({ refusal: 'No.' }, 'stop'), 'content'],
    ['chat: something new', chunk({ video: { id: 'v' } }), 'content'],
    ['chat: the end', chunk({}, 'stop'), 'preamble'],
    ['chat: the end without a delta', chunk(null, 'stop'), 'preamble'],
    ['chat: usage', { ...frame, object: 'chat.completion.chunk', choices: [], usage: {} }, 'preamble'],
    [
      'chat: filter results of Azure',
      { id: '', model: '', object: '', created: 0, choices: [], prompt_filter_results: [] },
      'preamble',
    ],
    ['chat: an error as the reason', chunk({}, 'error'), 'error'],
    ['completions: text', { choices: [{ text: 'Hi', finish_reason: null }] }, 'content'],
    ['an error', { error: { message: 'x', code: null } }, 'error'],
    ['an error beside no choices', { choices: [], error: { message: 'x' } }, 'error'],
    ['responses: created', { type: 'response.created', response: response([]) }, 'preamble'],
    ['responses: text', { type: 'response.output_text.delta', item_id: '1', delta: 'Hi' }, 'content'],
    ['responses: a refusal', { type: 'response.refusal.delta', item_id: '1', delta: 'No' }, 'content'],
    ['responses: a call', { type: 'response.output_item.added', item: { type: 'function_call' } }, 'content'],
    [
      'responses: completed with a refusal',
      {
        type: 'response.completed',
        response: response([said({ type: 'refusal', refusal: 'No' })]),
      },
      'content',
    ],
    ['responses: failed', { type: 'response.failed', response: response([]) }, 'error'],
    ['responses: an error', { type: 'error', code: 'x', message: 'x', sequence_number: 1 }, 'error'],
    ['responses: keep-alive', { type: 'keepalive', sequence_number: 3 }, 'preamble'],
    ['messages: start', { type: 'message_start', message: claude([]) }, 'preamble'],
    ['messages: ping', { type: 'ping' }, 'keepalive'],
    ['messages: text', { type: 'content_block_delta', delta: { text: 'Hi' } }, 'content'],
    ['messages: a call', { type: 'content_block_start', content_block: { type: 'tool_use' } }, 'content'],
    ['messages: the end', { type: 'message_delta', delta: { stop_reason: 'end_turn' } }, 'preamble'],
    ['messages: an error', { type: 'error', error: { type: 'overloaded_error', message: 'x' } }, 'error'],
    ['AI SDK: start', { type: 'start' }, 'preamble'],
    ['AI SDK: start of a message', { type: 'start', messageId: '1' }, 'preamble'],
    ['AI SDK: a step of old', { type: 'step-start', request: {} }, 'preamble'],
    ['AI SDK: a step', { type: 'start-step', request: {}, warnings: [] }, 'preamble'],
    ['AI SDK: text', { type: 'text-delta', id: '0', text: 'Hi' }, 'content'],
    ['AI SDK: finish', { type: 'finish', finishReason: 'stop', totalUsage: {} }, 'preamble'],
    ['AI SDK: an error', { type: 'error', error: new Error('x') }, 'error'],
  ])('%s', (_, part, kind) => {
    expect(first(part)).toBe(kind)
  })

  it.each<readonly [string, unknown]>([
    ['a text', 'Hi'],
    ['the marker alone', '[DONE]'],
    ['nothing', null],
    ['a number', 0],
    ['an object', {}],
    ['a list', [{ type: 'message_stop' }]],
    ['choices of something else', { choices: ['red', 'green'] }],
    ['no choices of something else', { choices: [] }],
    ['texts to choose from', { choices: [{ text: 'red' }, { text: 'green' }] }],
    ['a type that others use too', { type: 'message_delta', delta: 'Hi' }],
    ['another finish', { type: 'finish', line: 3 }],
    ['another start', { type: 'start', line: 3 }],
    ['a response of a play', { type: 'response.given', by: 'Hamlet' }],
    ['the realtime API', { type: 'response.created', event_id: 'e', response: {} }],
    ['a result of a program', { error: { message: 'x' }, data: null }],
    ['an error of a program', { error: new Error('x') }],
    ['a text of an error', { error: 'x' }],
    ['Gemini: text', { candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }],
    ['Bedrock: text', { contentBlockDelta: { delta: { text: 'Hi' } } }],
    ['bytes', new Uint8Array(1 << 20)],
    ['a tool of a program that failed', { type: 'tool-failed', id: '1', error: { message: 'x' } }],
    ['a row that failed', { id: 'r1', error: { message: 'row failed' } }],
    ['candidates of an election', { candidates: [{ name: 'A' }] }],
    [
      'a chunk that its class computes',
      new (class {
        get choices() {
          return [{ delta: {} }]
        }
      })(),
    ],
  ])('%s is of no known shape', (_, part) => {
    const parts = new KnownParts()
    expect(parts.kindOf(part)).toBeUndefined()
    expect([parts.terminal, parts.isTruncated]).toEqual([undefined, false])
  })

  it('less is asked of parts that follow a known one', () => {
    const parts = new KnownParts()
    const kinds = [
      chunk({ role: 'assistant' }),
      { choices: [], usage: {} },
      { note: 'of the user’s own' },
      { choices: [{ index: 0, finish_reason: null, content_filter_results: {} }] },
      '[DONE]',
    ].map((part) => parts.kindOf(part))
    expect(kinds).toEqual(['preamble', 'preamble', undefined, 'preamble', 'preamble'])
    expect([parts.terminal, parts.isTruncated]).toEqual(['[DONE]', false])
  })

  it('an error behind a known one is one where nothing else says what it is', () => {
    const after = (part: unknown) => {
      const parts = new KnownParts()
      parts.kindOf(chunk({ content: 'a' }))
      return parts.kindOf(part)
    }
    expect(after({ error: 'overloaded' })).toBe('error')
    expect(after({ type: 'tool_result', tool: 'grep', error: 'no such file' })).toBeUndefined()
  })

  it.each<readonly [string, unknown, boolean]>([
    ['chat', chunk({ content: 'a' }), true],
    ['messages', { type: 'content_block_delta', delta: { text: 'a' } }, true],
    ['responses', { type: 'response.output_text.delta', item_id: '1', delta: 'a' }, true],
    ['AI SDK', { type: 'text-delta', id: '0', text: 'a' }, false],
  ])('without the end that its API always tells it is truncated: %s', (_, part, isTruncated) => {
    const parts = new KnownParts()
    parts.kindOf(part)
    expect(parts.isTruncated).toBe(isTruncated)
    parts.kindOf(chunk({}, 'stop'))
    expect(parts.isTruncated).toBe(false)
  })
})

describe('an answer of a known shape', () => {
  const text = { type: 'text', text: 'Hi' }
  const thought = { type: 'thinking', thinking: 'Hm' }

  it.each<readonly [string, unknown, string | undefined]>([
    ['chat: no choices', { ...frame, choices: [] }, 'empty_response'],
    ['chat: choices null', { ...frame, choices: null }, 'empty_response'],
    ['chat: content null', completion({ content: null }), 'empty_response'],
    ['chat: empty text', completion({ content: '', refusal: null, tool_calls: [] }), 'empty_response'],
    ['chat: empty parts', completion({ content: [{ type: 'text', text: '' }] }), 'empty_response'],
    ['chat: thoughts only', completion({ content: null, reasoning_content: 'Hm' }), 'empty_response'],
    ['completions: nothing to add', { choices: [{ text: '', finish_reason: 'stop' }] }, undefined],
    ['chat: a program has put its own beside', { ...completion({ content: '' }), data: { a: 1 } }, undefined],
    ['a row of a batch', { id: 'b', type: 'errored', error: { type: 'x', message: 'x' } }, undefined],
    ['a result that names no error', { id: 'b', status: 'ok', error: { type: 'none' } }, undefined],
    ['chat: filtered', completion({ content: null }, 'content_filter'), 'content_policy'],
    ['chat: failed', completion({ content: '' }, 'error'), 'server_error'],
    ['messages: no blocks', claude([]), 'empty_response'],
    ['messages: thoughts only', claude([thought]), 'empty_response'],
    ['messages: refused', claude([], 'refusal'), 'content_policy'],
    ['responses: no output', response([]), 'empty_response'],
    ['responses: an empty message', response([said({ type: 'output_text', text: '' })]), 'empty_response'],
    ['responses: failed', response([], { status: 'failed' }), 'server_error'],
    ['responses: failed with an error', response([], { status: 'failed', error: { code: 'x' } }), 'error'],
    ['an error', { error: { message: 'x', type: 'server_error', code: null } }, 'error'],
    ['an error of Anthropic', { type: 'error', error: { type: 'api_error', message: 'x' } }, 'error'],
    ['an error beside no choices', { ...frame, choices: [], error: { message: 'x' } }, 'error'],

    ['chat: text', completion({ content: 'Hi' }), undefined],
    ['chat: a blank', completion({ content: ' ' }), undefined],
    ['chat: parts', completion({ content: [text] }), undefined],
    ['chat: parts unheard of', completion({ content: [{ type: 'image_url' }] }), undefined],
    ['chat: a tool call', completion({ content: null, tool_calls: [{ id: '1' }] }, 'tool_calls'), undefined],
    ['chat: a function call', completion({ content: null, function_call: { name: 'f' } }), undefined],
    ['chat: a refusal', completion({ content: null, refusal: 'No.' }), undefined],
    ['chat: audio', completion({ content: null, audio: { id: 'a' } }), undefined],
    ['chat: images', completion({ content: '', images: [{}] }), undefined],
    ['chat: parsed', completion({ content: null, parsed: { a: 1 } }), undefined],
    ['chat: parsed to false', completion({ content: null, parsed: false }), undefined],
    ['chat: cut while it thought', completion({ content: '', reasoning: 'Hm' }, 'length'), undefined],
    ['chat: half', completion({ content: 'Hi' }, null), undefined],
    [
      'chat: one of two',
      {
        ...frame,
        choices: [...completion({ content: '' }).choices, ...completion({ content: 'Hi' }).choices],
      },
      undefined,
    ],
    [
      'chat: the last of many',
      {
        ...frame,
        choices: [
          ...Array.from({ length: 40 }, () => completion({ content: '' }).choices[0]),
          ...completion({ content: 'Hi' }).choices,
        ],
      },
      undefined,
    ],
    ['messages: text', claude([text]), undefined],
    ['messages: a call behind thoughts', claude([thought, { type: 'tool_use' }]), undefined],
    ['messages: cut', claude([thought], 'max_tokens'), undefined],
    ['messages: paused', claude([], 'pause_turn'), undefined],
    ['responses: text', response([said({ type: 'output_text', text: 'Hi' })]), undefined],
    ['responses: a refusal', response([said({ type: 'refusal', refusal: 'No.' })]), undefined],
    ['responses: a call', response([{ type: 'reasoning' }, { type: 'function_call' }]), undefined],
    ['responses: in the background', response([], { status: 'queued' }), undefined],
    ['responses: cancelled', response([], { status: 'cancelled' }), undefined],
    [
      'responses: cut',
      response([{ type: 'reasoning' }], {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      }),
      undefined,
    ],
    ['embeddings', { object: 'list', data: [], model: 'm' }, undefined],
    ['choices of something else', { choices: [] }, undefined],
    ['choices of a quiz', { question: '?', choices: [{ text: '' }, { text: 'b' }] }, undefined],
    ['content of something else', { content: [] }, undefined],
    ['output of something else', { output: [] }, undefined],
    ['a message of a mailbox', { type: 'message', from: 'me', content: [] }, undefined],
    ['nothing in an object', {}, undefined],
    ['a list', [], undefined],
    ['a result of a program', { ok: false, error: { message: 'x' } }, undefined],
    ['an error of a program', { error: new Error('x') }, undefined],
    ['an error that says nothing', { error: {} }, undefined],
    ['a text of an error', { error: 'x' }, undefined],
  ])('%s', (_, answer, fault) => {
    expect(faultOfKnownAnswer(answer)).toBe(fault)
  })
})

describe('whatever else there is', () => {
  const KEYS =
    /^(?:type|choices|candidates|promptFeedback|error|object|output)$|^(?:message|content)|Exception$/
  const stranger = fc
    .anything({ withNullPrototype: true, withDate: true, withMap: true, maxDepth: 3 })
    .filter(
      (value) =>
        typeof value !== 'object' || value === null || !Object.keys(value).some((key) => KEYS.test(key)),
    )
  const nearly = fc.record(
    {
      type: fc.constantFrom('text', 'message', 'chunk', 'response', 'done'),
      choices: fc.array(fc.string()),
      candidates: fc.array(fc.string()),
      content: fc.string(),
      output: fc.string(),
      error: fc.oneof(fc.string(), fc.constant(null)),
    },
    { requiredKeys: [] },
  )

  it('is content, and an answer', () => {
    fc.assert(
      fc.property(fc.oneof(stranger, nearly), (value) => {
        const parts = new KnownParts()
        expect(parts.kindOf(value)).toBeUndefined()
        expect([parts.terminal, parts.isTruncated]).toEqual([undefined, false])
        expect(faultOfKnownAnswer(value)).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })

  it('is looked at without a throw', () => {
    const trap = () => {
      throw new Error('trap')
    }
    const proxy = new Proxy({}, { get: trap, getOwnPropertyDescriptor: trap, ownKeys: trap, has: trap })
    expect(new KnownParts().kindOf(proxy)).toBeUndefined()
    expect(faultOfKnownAnswer(proxy)).toBeUndefined()
    expect(faultOfKnownAnswer(Object.defineProperty({}, 'choices', { get: trap }))).toBeUndefined()
  })
})

describe('a switchgear without classifyPart and isEmpty', () => {
  type Target = TargetOptions<string, unknown, unknown>
  const rig = (first: Target, more: Partial<SwitchgearOptions<string, unknown, unknown>> = {}) =>
    createSwitchgear<string, unknown, unknown>({
      targets: [
        { name: 'a', maxRetries: 0, circuitBreaker: { threshold: 1 }, ...first },
        { name: 'b', invoke: () => 'from b', stream: () => whole('from b') },
      ],
      ...more,
    })
  const whole = (...parts: unknown[]) => {
    const source = new PartSource<unknown>(...parts)
    source.end()
    return source
  }
  async function read(stream: AsyncIterable<unknown>) {
    const parts: unknown[] = []
    for await (const part of stream) parts.push(part)
    return parts
  }
  const failures = (gear: ReturnType<typeof rig>) => gear.getFailureBreakdown({ name: 'a' })

  it('takes a terminal part for the whole answer where it is one, and what follows still comes', async () => {
    const usage = { choices: [], usage: { total_tokens: 3 } }
    const parts = [chunk({ role: 'assistant' }), chunk({ content: 'Hi' }, 'stop'), usage]
    const gear = rig({ stream: () => whole(...parts) })
    expect(await read(gear.stream('x'))).toEqual(parts)
    expect(failures(gear)).toEqual({})
    expect(gear.stats().targets[0]?.stats.attempts.success).toBe(1)
  })

  it('an answer that the caller’s own limit cut before its first word is whole', async () => {
    const parts = [chunk({ role: 'assistant' }), chunk({}, 'length')]
    const gear = rig({ stream: () => whole(...parts) })
    expect(await read(gear.stream('x'))).toEqual(parts)
    expect(failures(gear)).toEqual({})
  })

  it('one that is cut by a signal after its only part has come is told of it', async () => {
    const source = new PartSource<unknown>(chunk({ content: 'Hi' }, 'stop'))
    const gear = rig({ stream: () => source })
    const controller = new AbortController()
    const stream = gear.stream('x', { signal: controller.signal })
    expect(await stream.next()).toMatchObject({ done: false })
    const rest = stream.next()
    controller.abort(new Error('enough'))
    await expect(rest).rejects.toThrow('enough')
    expect(source.returned).toBe(1)
  })

  it.each([
    ['an error part', [{ error: { message: 'x', type: 'server_error' } }], 'server_error'],
    ['an error as the reason', [chunk({}, 'error')], 'server_error'],
    ['a filtered answer', [chunk({}, 'content_filter')], 'content_policy'],
    ['nothing but preamble', [chunk({ role: 'assistant' })], 'truncated_stream'],
    ['an end without content', [chunk({ role: 'assistant' }), chunk({}, 'stop')], 'empty_response'],
  ])('%s shows nothing of the first target', async (_, parts, kind) => {
    const gear = rig({ stream: () => whole(...parts) }, { contentPolicyFallbacks: { a: ['b'] } })
    expect(await read(gear.stream('x'))).toEqual(['from b'])
    expect(gear.stats().targets[0]?.stats.attempts.success).toBe(0)
    if (kind !== 'content_policy') expect(failures(gear)).toEqual({ [kind]: 1 })
  })

  it('parts of the user’s own end as they ever did', async () => {
    const gear = rig({ stream: () => whole({ text: 'a' }, { text: 'b' }, 'c') })
    expect(await read(gear.stream('x'))).toEqual([{ text: 'a' }, { text: 'b' }, 'c'])
    expect(failures(gear)).toEqual({})
  })

  it('their own classifyPart and isEmpty replace all of it', async () => {
    const empty = { ...frame, choices: [] }
    const parts = [chunk({ role: 'assistant' }), 'end']
    const gear = rig({
      invoke: () => empty,
      isEmpty: () => false,
      stream: () => whole(...parts),
      classifyPart: (part) => (part === 'end' ? 'terminal' : 'content'),
    })
    expect(await gear.call('x')).toBe(empty)
    expect(await read(gear.stream('x'))).toEqual(parts)
  })

  it.each([
    ['a code', { error: { message: 'Slow down.', code: 'rate_limit_exceeded' } }, 'rate_limit'],
    ['nothing known', { error: { message: 'Hm.' } }, 'empty_response'],
  ])('an error in the place of an answer is judged by %s', async (_, body, kind) => {
    const gear = rig({ invoke: () => body })
    expect(await gear.call('x')).toBe('from b')
    expect(failures(gear)).toEqual({ [kind]: 1 })
  })

  it('an end ends nothing: a program that asks a second time, and breaks, has not given a whole answer', async () => {
    const gear = rig({
      async *stream() {
        yield chunk({ tool_calls: [{ index: 0 }] })
        yield chunk({}, 'tool_calls')
        yield chunk({ content: 'The answer is' })
        throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
      },
    })
    await expect(read(gear.stream('x'))).rejects.toThrow("The stream of 'a' broke after 3 parts.")
    expect(gear.stats().targets[0]?.stats.attempts).toMatchObject({ success: 0, failure: 1 })
  })

  it('errors that a program goes on after are parts of it', async () => {
    const parts = [
      { type: 'tool-failed', id: '1', error: { message: 'not found' } },
      chunk({ content: 'Hi' }),
      { type: 'tool_result', tool: 'grep', error: 'no such file' },
      chunk({}, 'stop'),
    ]
    const gear = rig({ stream: () => whole(...parts) })
    expect(await read(gear.stream('x'))).toEqual(parts)
    expect(failures(gear)).toEqual({})
  })

  it('a part that throws when it is looked at hangs nobody', async () => {
    const delta = Object.defineProperty({}, 'x', {
      enumerable: true,
      get() {
        throw new Error('trap')
      },
    })
    const gear = rig({ stream: () => whole(chunk(delta, 'stop')) })
    expect(await read(gear.stream('x'))).toHaveLength(1)
  })

  it('what a tool answers is an answer', async () => {
    const body = { error: { message: 'No such city.' } }
    const gear = rig({ invoke: () => body, stream: () => whole(body), surface: 'tool' })
    expect(await gear.call('x')).toBe(body)
    expect(await read(gear.stream('x'))).toEqual([body])
  })
})
