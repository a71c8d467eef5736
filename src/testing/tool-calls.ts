import type { Ask, Reply } from './reply.ts'
import { fixedCreated, sse } from './reply.ts'

/** What the fault `tool-call` asks the client to run. */
export const scriptedTool = { name: 'get_weather', input: { city: 'Paris' } } as const

// in two parts, as arguments come
const PIECES = ['{"city":', '"Paris"}'] as const
const ARGUMENTS = PIECES.join('')
const USAGE = { input: 8, output: 12 }

/** A chat completion that calls {@link scriptedTool}. */
export function chatToolCall(ask: Ask): Reply {
  const common = { id: `chatcmpl-${ask.number}`, created: fixedCreated, model: ask.model }
  const id = `call_${ask.number}`
  const { name } = scriptedTool
  const usage = { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: 20 }
  const call = { id, type: 'function', function: { name, arguments: ARGUMENTS } }
  const whole = (finishReason: string | null) => ({
    ...common,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, tool_calls: [call], refusal: null },
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    usage,
  })
  const chunk = (choices: readonly object[], counted: object | null = null) =>
    sse({
      ...common,
      object: 'chat.completion.chunk',
      choices,
      ...(ask.includeUsage && { usage: counted }),
    })
  const delta = (change: object, finishReason: string | null = null) =>
    chunk([{ index: 0, delta: change, logprobs: null, finish_reason: finishReason }])
  const part = (fields: object) => delta({ tool_calls: [{ index: 0, ...fields }] })
  return {
    whole: whole('tool_calls'),
    unfinished: whole(null),
    preamble: [delta({ role: 'assistant', content: null })],
    content: [
      part({ id, type: 'function', function: { name, arguments: '' } }),
      ...PIECES.map((piece) => part({ function: { arguments: piece } })),
    ],
    finish: [delta({}, 'tool_calls'), ...(ask.includeUsage ? [chunk([], usage)] : []), 'data: [DONE]\n\n'],
    failure: (error) => sse({ error }),
  }
}

/** An answer of the Responses API that calls {@link scriptedTool}. */
export function responsesToolCall(ask: Ask): Reply {
  const itemId = `fc_${ask.number}`
  const place = { item_id: itemId, output_index: 0 }
  const item = (status: string, called: string) => ({
    id: itemId,
    type: 'function_call',
    status,
    call_id: `call_${ask.number}`,
    name: scriptedTool.name,
    arguments: called,
  })
  const done = item('completed', ARGUMENTS)
  const usage = { input_tokens: USAGE.input, output_tokens: USAGE.output, total_tokens: 20 }
  const response = (status: string, output: readonly object[]) => ({
    id: `resp_${ask.number}`,
    object: 'response',
    created_at: fixedCreated,
    status,
    error: null,
    incomplete_details: null,
    model: ask.model,
    output,
    usage: status === 'completed' ? usage : null,
  })
  let sequence = 0
  const event = (type: string, fields: object) => sse({ type, sequence_number: sequence++, ...fields }, type)
  return {
    whole: response('completed', [done]),
    unfinished: response('in_progress', [done]),
    preamble: [event('response.created', { response: response('in_progress', []) })],
    content: [
      event('response.output_item.added', { output_index: 0, item: item('in_progress', '') }),
      ...PIECES.map((delta) => event('response.function_call_arguments.delta', { ...place, delta })),
    ],
    finish: [
      event('response.function_call_arguments.done', { ...place, name: done.name, arguments: ARGUMENTS }),
      event('response.output_item.done', { output_index: 0, item: done }),
      event('response.completed', { response: response('completed', [done]) }),
    ],
    failure: ({ message, code, type, param }) => event('error', { code: code ?? type, message, param }),
  }
}

/** An answer of the Messages API that calls {@link scriptedTool}. */
export function messagesToolCall(ask: Ask): Reply {
  const block = { type: 'tool_use', id: `toolu_${ask.number}`, name: scriptedTool.name }
  const message = (content: readonly object[], stopReason: string | null, outputTokens: number) => ({
    id: `msg_${ask.number}`,
    type: 'message',
    role: 'assistant',
    model: ask.model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { input_tokens: USAGE.input, output_tokens: outputTokens },
  })
  const event = (type: string, fields: object = {}) => sse({ type, ...fields }, type)
  const delta = (piece: string) =>
    event('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: piece } })
  const whole = [{ ...block, input: scriptedTool.input }]
  return {
    whole: message(whole, 'tool_use', USAGE.output),
    unfinished: message(whole, null, USAGE.output),
    preamble: [event('message_start', { message: message([], null, 1) })],
    content: [
      event('content_block_start', { index: 0, content_block: { ...block, input: {} } }),
      ...PIECES.map(delta),
    ],
    finish: [
      event('content_block_stop', { index: 0 }),
      event('message_delta', {
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { output_tokens: USAGE.output },
      }),
      event('message_stop'),
    ],
    failure: (error) =>
      event('error', { type: 'error', error: { type: 'api_error', message: error.message } }),
  }
}
