import type { ErrorBody } from './provider-errors.ts'
import type { Ask, Reply } from './reply.ts'
import { contentParts, sse, toAnswerText, usageOf } from './reply.ts'

/** An answer of Anthropic's Messages API, whole and as its typed events. Empty text leaves no block at all. */
export function messagesReply(ask: Ask, text: string = toAnswerText(ask)): Reply {
  const { input, output } = usageOf(text)
  const blocks = text === '' ? [] : [{ type: 'text', text }]
  const message = (content: readonly object[], stopReason: string | null, outputTokens: number) => ({
    id: `msg_${ask.number}`,
    type: 'message',
    role: 'assistant',
    model: ask.model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: {
      input_tokens: input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: outputTokens,
    },
  })
  const event = (type: string, fields: object = {}) => sse({ type, ...fields }, type)
  const parts = contentParts(text)
  const start = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  const delta = (part: string) =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: part } })
  return {
    whole: message(blocks, 'end_turn', output),
    unfinished: message(blocks, null, output),
    preamble: [
      event('message_start', { message: message([], null, 1) }),
      ...(parts.length === 0 ? [] : [start]),
      event('ping'),
    ],
    content: parts.map(delta),
    finish: [
      ...(parts.length === 0 ? [] : [event('content_block_stop', { index: 0 })]),
      event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: output },
      }),
      event('message_stop'),
    ],
    failure: (error) => event('error', anthropicError(error, 500)),
  }
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** The words of Anthropic where they differ from OpenAI's. */
const WORDS: Readonly<Record<string, string>> = {
  context_length_exceeded: 'prompt is too long: 208310 tokens > 200000 maximum',
  content_filter: 'Output blocked by content filtering policy',
  insufficient_quota:
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  invalid_api_key: 'invalid x-api-key',
}

/** An error of OpenAI's as Anthropic sends it. */
export function anthropicError({ code, message }: ErrorBody, status: number): object {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return { type: 'error', error: { type, message: WORDS[code ?? ''] ?? message } }
}
