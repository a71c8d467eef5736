import { failureOfAnswer } from './answer.ts'
import {
  blocksHaveContent,
  candidatesHaveContent,
  choicesHaveContent,
  hasRefusal,
  messageHasContent,
  messageHasReasoning,
  outputHasContent,
} from './content.ts'
import { isBag, isFilled, items, keys, read, readPath, readText } from './safe-read.ts'
import { stopClassOf } from './stop-reason.ts'
import type { FailureKind } from './verdict.ts'

/**
 * What one event of a stream is to its reader. `preamble` and `keepalive` may be held back; only `content` commits a
 * call to its target; `terminal` completes the answer; `error` goes to `classify`.
 */
export type StreamPart = 'content' | 'preamble' | 'keepalive' | 'terminal' | 'error'

type Rule = StreamPart | ((data: unknown) => StreamPart)

const filledOr =
  (...fields: readonly string[]) =>
  (data: unknown): StreamPart =>
    fields.some((field) => isFilled(read(data, field))) ? 'content' : 'preamble'

const finish = (data: unknown): StreamPart => (stopClassOf(data) === 'failed' ? 'error' : 'terminal')

/** Events that carry a type: messages API, AI SDK parts, responses API. */
const typed: Readonly<Record<string, Rule>> = {
  error: 'error',
  ping: 'keepalive',
  message_start: (data) => (blocksHaveContent(readPath(data, 'message', 'content')) ? 'content' : 'preamble'),
  content_block_start: (data) => (blocksHaveContent([read(data, 'content_block')]) ? 'content' : 'preamble'),
  content_block_delta: (data) =>
    ['text', 'partial_json', 'thinking', 'citation'].some((key) => {
      const value = readPath(data, 'delta', key)
      return isFilled(value) || isBag(value)
    })
      ? 'content'
      : 'preamble',
  message_delta: (data) => (stopClassOf(data) === undefined ? 'preamble' : finish(data)),
  message_stop: 'terminal',
  'text-delta': filledOr('delta', 'text', 'textDelta'),
  'reasoning-delta': filledOr('delta', 'text', 'textDelta'),
  reasoning: filledOr('text', 'textDelta'),
  'tool-input-start': 'content',
  'tool-input-delta': 'content',
  'tool-call': 'content',
  'tool-call-delta': 'content',
  'tool-result': 'content',
  'tool-error': 'content',
  'tool-approval-request': 'content',
  file: 'content',
  source: 'content',
  finish,
  abort: 'error',
  raw: 'preamble',
  'response.completed': 'terminal',
  'response.incomplete': 'terminal',
  'response.failed': 'error',
  'response.cancelled': 'error',
  'response.refusal.delta': 'error',
  'response.refusal.done': 'error',
  'response.output_item.added': (data) =>
    readText(data, 'item', 'type').endsWith('_call') ? 'content' : 'preamble',
  'response.output_item.done': (data) => (outputHasContent([read(data, 'item')]) ? 'content' : 'preamble'),
  'response.content_part.done': (data) => (isFilled(readPath(data, 'part', 'text')) ? 'content' : 'preamble'),
}

/** The many deltas of the responses API differ only in their name. */
const responsesDelta = /^response\..+\.(?:delta|done|partial_image)$/

const chunkHasContent = (data: unknown): boolean =>
  items(read(data, 'choices')).some(
    (choice) => messageHasContent(read(choice, 'delta')) || messageHasReasoning(read(choice, 'delta')),
  )

const bedrockHasContent = (data: unknown): boolean =>
  isBag(readPath(data, 'contentBlockStart', 'start', 'toolUse')) ||
  ['text', 'toolUse', 'reasoningContent'].some((key) => {
    const value = readPath(data, 'contentBlockDelta', 'delta', key)
    return isFilled(value) || isBag(value)
  })

function ruleOf(data: unknown): Rule | undefined {
  const type = read(data, 'type')
  if (typeof type !== 'string') return undefined
  if (Object.hasOwn(typed, type)) return typed[type]
  return responsesDelta.test(type) ? filledOr('delta', 'text', 'arguments', 'partial_image_b64') : undefined
}

/** Its type says what an event is. */
export const isTyped = (data: unknown): boolean => ruleOf(data) !== undefined

const apply = (rule: Rule, data: unknown): StreamPart => (typeof rule === 'function' ? rule(data) : rule)

const isErrorShape = (data: unknown): boolean => {
  const error = read(data, 'error')
  const isException = (key: string) => key.endsWith('Exception') && isBag(read(data, key))
  return isFilled(error) || isBag(error) || keys(data).some(isException) || hasRefusal(data)
}

/** Every choice in the chunk has ended. With several choices a request, each ends in a chunk of its own. */
function hasEnded(data: unknown): boolean {
  const choices = items(read(data, 'choices'))
  if (choices.length > 0) return choices.every((choice) => isFilled(read(choice, 'finish_reason')))
  return stopClassOf(data) !== undefined || isBag(read(data, 'messageStop'))
}

/**
 * Whether an event carries something a reader wants: text, thoughts, a tool call, a file. Ask it beside
 * {@link classifyEvent}: a terminal event may carry the last, or all, of the content.
 */
export function hasContent(data: unknown): boolean {
  const rule = ruleOf(data)
  if (rule !== undefined && apply(rule, data) === 'content') return true
  return (
    chunkHasContent(data) ||
    choicesHaveContent(read(data, 'choices')) ||
    candidatesHaveContent(read(data, 'candidates')) ||
    outputHasContent(readPath(data, 'response', 'output')) ||
    bedrockHasContent(data)
  )
}

/**
 * What one parsed event of a stream is: chat completions, responses, messages, AI SDK parts, Gemini and Bedrock.
 * `data` is the parsed JSON, or the text `[DONE]`; nothing at all (an SSE comment) is a keepalive. A chunk with both
 * content and a finish reason is `terminal`. A refusal is an `error`. Anything unheard of is preamble.
 *
 * @example classifyEvent({ choices: [{ delta: { content: 'Hi' }, finish_reason: null }] }) // 'content'
 */
export function classifyEvent(data: unknown): StreamPart {
  if (data === undefined || data === null || data === '') return 'keepalive'
  if (data === '[DONE]') return 'terminal'
  const rule = ruleOf(data)
  if (rule !== undefined) return apply(rule, data)
  if (isErrorShape(data) || stopClassOf(data) === 'failed') return 'error'
  if (hasEnded(data)) return 'terminal'
  return hasContent(data) ? 'content' : 'preamble'
}

/**
 * What is wrong with a stream that closed cleanly; `undefined` when nothing is.
 *
 * @param end.content Whether any event {@link hasContent}.
 * @param end.terminal The first terminal event; `undefined` if none came.
 */
export function failureOfStreamEnd(end: { content: boolean; terminal: unknown }): FailureKind | undefined {
  if (end.terminal === undefined) return 'truncated_stream'
  if (end.content) return undefined
  if (stopClassOf(end.terminal) === 'length') return undefined
  return (isBag(end.terminal) ? failureOfAnswer(end.terminal) : undefined) ?? 'empty_response'
}
