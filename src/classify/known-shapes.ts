import { isBag, isFilled, read } from './safe-read.ts'

/**
 * What an object has itself. What its class computes is left alone: to look at a getter of a stranger's class may start
 * work, as with results of the AI SDK.
 */
export const own = (value: unknown, key: string): unknown =>
  isBag(value) && Object.hasOwn(value, key) ? value[key] : undefined

export const all = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

const thoughts = new Set(['thinking', 'redacted_thinking', 'reasoning'])
const texts = new Set(['text', 'output_text'])

/** A part of a message that says nothing: an empty text, or thoughts. Whatever is unheard of says something. */
function isSilentBlock(block: unknown): boolean {
  if (!isBag(block)) return isBlank(block)
  const type = own(block, 'type')
  if (type === 'message') return isSilentContent(own(block, 'content'))
  if (typeof type !== 'string') return false
  return thoughts.has(type) || (texts.has(type) && isBlank(own(block, 'text')))
}

export const isSilentContent = (content: unknown): boolean =>
  isBlank(content) || (Array.isArray(content) && content.every(isSilentBlock))

/** Fields of a message that are no answer, filled or not. */
const besides = new Set([
  'role',
  'name',
  'prefix',
  'id',
  'type',
  'index',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking',
  'thinking_blocks',
  'provider_specific_fields',
])

/** A chat message, or what a chunk adds to it, that says nothing in any of its fields. */
export const isSilentMessage = (message: unknown): boolean =>
  !isBag(message) ||
  Object.keys(message).every(
    (key) =>
      besides.has(key) ||
      isBlank(read(message, key)) ||
      (key === 'content' && isSilentContent(read(message, key))),
  )

/** What stands around a chat completion or one of its chunks, with choices or without; some send an empty `object`. */
export function isCompletionFrame(data: unknown): boolean {
  const object = own(data, 'object')
  if (isFilled(object)) return /^(?:chat\.completion|text_completion)/.test(object)
  const told = ['id', 'model'].every((key) => typeof own(data, key) === 'string')
  return told && typeof own(data, 'created') === 'number'
}

/** What may stand beside an error that is the whole body. */
const envelope = new Set([
  'error',
  'type',
  'id',
  'object',
  'created',
  'model',
  'provider',
  'status',
  'code',
  'request_id',
  'user_id',
])

const frames = ['object', 'model', 'created', 'provider', 'choices']

const answers = new Set(['choices', 'content', 'output'])

/** `{ error: { message, … } }` of a provider, and nothing that could be an answer beside it. */
export function isErrorBody(data: unknown): boolean {
  const error = own(data, 'error')
  // an Error is what a program made of one, in a result of its own
  if (!isBag(error) || Array.isArray(error) || error instanceof Error) return false
  if (!isFilled(own(error, 'message')) && !isFilled(own(error, 'type'))) return false
  // a row of a list that failed, or an event of a program's own
  const type = own(data, 'type')
  if (type !== undefined && type !== null && type !== 'error') return false
  if (own(data, 'id') !== undefined && !frames.some((key) => own(data, key) !== undefined)) return false
  return Object.keys(data as object).every(
    (key) => envelope.has(key) || (answers.has(key) && isBlank(own(data, key))),
  )
}
