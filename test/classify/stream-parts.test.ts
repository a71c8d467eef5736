import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failureOfAnswer, isEmptyCompletion } from '../../src/classify/answer.ts'
import {
  classifyEvent,
  failureOfStreamEnd,
  hasContent,
  type StreamPart,
} from '../../src/classify/stream-parts.ts'

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  choices: [{ delta, finish_reason }],
})
const delta = (fields: object): object => ({ type: 'content_block_delta', delta: fields })

describe('classifyEvent', () => {
  it.each<readonly [string, unknown, StreamPart, boolean]>([
    ['an SSE comment', undefined, 'keepalive', false],
    ['chat: the role', chunk({ role: 'assistant', content: '' }), 'preamble', false],
    ['chat: text', chunk({ content: 'Hi' }), 'content', true],
    ['chat: a tool call', chunk({ tool_calls: [{ index: 0 }] }), 'content', true],
    ['chat: thoughts', chunk({ reasoning_content: 'Hm' }), 'content', true],
    ['chat: the end', chunk({}, 'stop'), 'terminal', false],
    ['chat: the end with the last word', chunk({ content: '.' }, 'stop'), 'terminal', true],
    ['chat: usage after the end', { choices: [], usage: {} }, 'preamble', false],
    ['chat: the marker', '[DONE]', 'terminal', false],
    ['chat: an error', { error: { message: 'x' } }, 'error', false],
    ['chat: an error beside empty choices', { choices: [], error: { code: 502 } }, 'error', false],
    ['chat: error null is none', { ...chunk({ content: 'Hi' }), error: null }, 'content', true],
    ['chat: an error as a finish reason', chunk({}, 'error'), 'error', false],
    [
      'responses: created',
      { type: 'response.created', response: { output: [], error: null } },
      'preamble',
      false,
    ],
    ['responses: text', { type: 'response.output_text.delta', delta: 'Hi' }, 'content', true],
    ['responses: arguments', { type: 'response.function_call_arguments.delta', delta: '{' }, 'content', true],
    [
      'responses: a message begins',
      { type: 'response.output_item.added', item: { type: 'message' } },
      'preamble',
      false,
    ],
    [
      'responses: a call begins',
      { type: 'response.output_item.added', item: { type: 'function_call' } },
      'content',
      true,
    ],
    ['responses: a search runs', { type: 'response.web_search_call.searching' }, 'preamble', false],
    ['responses: completed', { type: 'response.completed', response: { output: [] } }, 'terminal', false],
    [
      'responses: completed, all at once',
      { type: 'response.completed', response: { output: [{ type: 'message', content: [{ text: 'Hi' }] }] } },
      'terminal',
      true,
    ],
    ['responses: incomplete', { type: 'response.incomplete' }, 'terminal', false],
    ['responses: failed', { type: 'response.failed' }, 'error', false],
    ['messages: start', { type: 'message_start', message: { content: [] } }, 'preamble', false],
    ['messages: ping', { type: 'ping' }, 'keepalive', false],
    [
      'messages: a text block begins',
      { type: 'content_block_start', content_block: { type: 'text', text: '' } },
      'preamble',
      false,
    ],
    [
      'messages: a tool block begins',
      { type: 'content_block_start', content_block: { type: 'tool_use' } },
      'content',
      true,
    ],
    ['messages: text', delta({ type: 'text_delta', text: 'Hi' }), 'content', true],
    ['messages: thoughts', delta({ type: 'thinking_delta', thinking: 'Hm' }), 'content', true],
    ['messages: a signature', delta({ type: 'signature_delta', signature: 'x' }), 'preamble', false],
    [
      'messages: the stop reason',
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      'terminal',
      false,
    ],
    ['messages: usage only', { type: 'message_delta', delta: {}, usage: {} }, 'preamble', false],
    ['messages: stop', { type: 'message_stop' }, 'terminal', false],
    ['messages: an error', { type: 'error', error: { type: 'overloaded_error' } }, 'error', false],
    ['AI SDK: start', { type: 'stream-start', warnings: [] }, 'preamble', false],
    ['AI SDK: text begins', { type: 'text-start', id: '0' }, 'preamble', false],
    ['AI SDK: text', { type: 'text-delta', delta: 'Hi' }, 'content', true],
    ['AI SDK: a tool call', { type: 'tool-call', toolName: 'x' }, 'content', true],
    [
      'AI SDK: a tool that failed is not the model’s failure',
      { type: 'tool-error', error: 'x' },
      'content',
      true,
    ],
    ['AI SDK: finish', { type: 'finish', finishReason: 'stop' }, 'terminal', false],
    [
      'AI SDK: finish, newer shape',
      { type: 'finish', finishReason: { unified: 'stop', raw: 'end' } },
      'terminal',
      false,
    ],
    ['AI SDK: finish with an error', { type: 'finish', finishReason: { unified: 'error' } }, 'error', false],
    ['AI SDK: an error', { type: 'error', error: new Error('x') }, 'error', false],
    ['Gemini: text', { candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }, 'content', true],
    [
      'Gemini: the end',
      { candidates: [{ content: { parts: [{ text: '.' }] }, finishReason: 'STOP' }] },
      'terminal',
      true,
    ],
    ['Gemini: blocked', { promptFeedback: { blockReason: 'SAFETY' } }, 'error', false],
    ['Bedrock: text', { contentBlockDelta: { delta: { text: 'Hi' } } }, 'content', true],
    ['Bedrock: the end', { messageStop: { stopReason: 'end_turn' } }, 'terminal', false],
    ['Bedrock: an exception', { throttlingException: { message: 'x' } }, 'error', false],
    ['unheard of', { type: 'something-new' }, 'preamble', false],
  ])('%s', (_, data, part, content) => {
    expect(classifyEvent(data)).toBe(part)
    expect(hasContent(data)).toBe(content)
  })
})

describe('failureOfStreamEnd', () => {
  it.each([
    ['without an end', { content: true, terminal: undefined }, 'truncated_stream'],
    ['whole', { content: true, terminal: '[DONE]' }, undefined],
    ['empty', { content: false, terminal: '[DONE]' }, 'empty_response'],
    [
      'filtered after content has flowed',
      { content: true, terminal: chunk({}, 'content_filter') },
      undefined,
    ],
    [
      'refused before content',
      { content: false, terminal: { type: 'message_delta', delta: { stop_reason: 'refusal' } } },
      'content_policy',
    ],
    [
      'filtered in the responses API',
      {
        content: false,
        terminal: {
          type: 'response.incomplete',
          response: { incomplete_details: { reason: 'content_filter' } },
        },
      },
      'content_policy',
    ],
    ["cut by the caller's own limit", { content: false, terminal: chunk({}, 'length') }, undefined],
  ])('%s', (_, end, expected) => {
    expect(failureOfStreamEnd(end)).toBe(expected)
  })
})

describe('isEmptyCompletion', () => {
  const message = (fields: object, finish_reason = 'stop'): object => ({
    choices: [{ message: fields, finish_reason }],
  })

  it.each<readonly [string, unknown, boolean]>([
    ['nothing', undefined, true],
    ['an empty object', {}, true],
    ['chat: no choices', { choices: [] }, true],
    ['chat: empty text', message({ content: '' }), true],
    ['chat: thoughts only', message({ content: null, reasoning_content: 'Hm' }), true],
    ["chat: cut by the caller's limit", message({ content: '' }, 'length'), false],
    ['chat: text', message({ content: 'Hi' }), false],
    ['chat: text in parts', message({ content: [{ type: 'text', text: 'Hi' }] }), false],
    ['chat: a tool call', message({ content: null, tool_calls: [{ id: '1' }] }), false],
    ['completions: text', { choices: [{ text: 'Hi' }] }, false],
    ['responses: no output', { object: 'response', status: 'completed', output: [] }, true],
    ['responses: thoughts only', { output: [{ type: 'reasoning' }] }, true],
    ['responses: still running', { status: 'in_progress', output: [] }, false],
    ['responses: a call', { output: [{ type: 'function_call' }] }, false],
    [
      'responses: text',
      { output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }] },
      false,
    ],
    ['messages: no blocks', { type: 'message', content: [] }, true],
    ['messages: empty text', { content: [{ type: 'text', text: '' }] }, true],
    ['messages: a tool call', { content: [{ type: 'tool_use', id: '1' }] }, false],
    ['embeddings', { object: 'list', data: [] }, false],
  ])('%s', (_, body, empty) => {
    expect(isEmptyCompletion(body)).toBe(empty)
  })
})

describe('failureOfAnswer', () => {
  it.each<readonly [string, unknown, string | undefined]>([
    ['usable', { choices: [{ message: { content: 'Hi' } }] }, undefined],
    ['usable as text', '{"choices":[{"message":{"content":"Hi"}}]}', undefined],
    ['a page', '<html></html>', 'malformed_response'],
    ['half', '{"choices":[{"mes', 'malformed_response'],
    ['blank', '', 'empty_response'],
    [
      'partly filtered is still an answer',
      { choices: [{ message: { content: 'Hi' }, finish_reason: 'content_filter' }] },
      undefined,
    ],
    [
      'filtered',
      { choices: [{ message: { content: '' }, finish_reason: 'content_filter' }] },
      'content_policy',
    ],
    ['a broken tool call', { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }, 'tool_contract'],
  ])('%s', (_, body, expected) => {
    expect(failureOfAnswer(body)).toBe(expected)
  })
})

describe('events and answers of any shape', () => {
  const shaped = fc.record(
    {
      type: fc.constantFrom('finish', 'message_delta', 'response.output_item.added', 'content_block_delta'),
      choices: fc.array(fc.anything()),
      output: fc.array(fc.anything()),
      candidates: fc.anything(),
      content: fc.anything(),
      delta: fc.anything(),
      item: fc.anything(),
    },
    { requiredKeys: [] },
  )

  it('are read without a throw', () => {
    fc.assert(
      fc.property(fc.oneof(shaped, fc.anything({ withNullPrototype: true })), (data) => {
        for (const look of [classifyEvent, hasContent, isEmptyCompletion, failureOfAnswer]) {
          expect(() => look(data)).not.toThrow()
        }
      }),
      { numRuns: 500 },
    )
  })
})
