import type { Ask, Reply } from './reply.ts'
import { contentParts, fixedCreated, sse, toAnswerText, usageOf } from './reply.ts'

/** An answer of the Responses API, whole and as its typed events. Empty text leaves no output at all. */
export function responsesReply(ask: Ask, text: string = toAnswerText(ask)): Reply {
  const itemId = `msg_${ask.number}`
  const item = (status: string, content: readonly object[]) => ({
    id: itemId,
    type: 'message',
    role: 'assistant',
    status,
    content,
  })
  const part = (partText: string) => ({ type: 'output_text', text: partText, annotations: [] })
  const response = (status: string, answered = text) => ({
    id: `resp_${ask.number}`,
    object: 'response',
    created_at: fixedCreated,
    status,
    error: null,
    incomplete_details: null,
    model: ask.model,
    output: answered === '' ? [] : [item(status, [part(answered)])],
    usage: status === 'completed' ? responsesUsage(text) : null,
  })

  let sequence = 0
  const event = (type: string, fields: object) => sse({ type, sequence_number: sequence++, ...fields }, type)
  const place = { item_id: itemId, output_index: 0, content_index: 0 }
  const parts = contentParts(text)
  const opened = [
    event('response.created', { response: response('in_progress', '') }),
    event('response.in_progress', { response: response('in_progress', '') }),
  ]
  const started =
    parts.length === 0
      ? []
      : [
          event('response.output_item.added', { output_index: 0, item: item('in_progress', []) }),
          event('response.content_part.added', { ...place, part: part('') }),
        ]
  const content = parts.map((delta) => event('response.output_text.delta', { ...place, delta }))
  const ended =
    parts.length === 0
      ? []
      : [
          event('response.output_text.done', { ...place, text }),
          event('response.content_part.done', { ...place, part: part(text) }),
          event('response.output_item.done', { output_index: 0, item: item('completed', [part(text)]) }),
        ]
  return {
    whole: response('completed'),
    unfinished: response('in_progress'),
    preamble: [...opened, ...started],
    content,
    finish: [...ended, event('response.completed', { response: response('completed') })],
    failure: ({ message, code, type, param }) => event('error', { code: code ?? type, message, param }),
  }
}

function responsesUsage(text: string): object {
  const { input, output } = usageOf(text)
  return { input_tokens: input, output_tokens: output, total_tokens: input + output }
}
