import { hasRefusal } from './content.ts'
import { all, isCompletionFrame, isErrorBody, isSilentMessage, own } from './known-shapes.ts'
import { isBag, isFilled, read } from './safe-read.ts'
import { classifyEvent, failureOfStreamEnd, hasContent, isTyped } from './stream-parts.ts'
import type { StreamPart } from './stream-parts.ts'
import type { FailureKind } from './verdict.ts'

const isDelta = (choice: unknown): boolean =>
  isBag(own(choice, 'delta')) ||
  (own(choice, 'finish_reason') !== undefined &&
    (own(choice, 'delta') === null || typeof own(choice, 'text') === 'string'))

function isChunk(data: object): boolean {
  const choices = own(data, 'choices')
  if (!Array.isArray(choices)) return false
  return choices.length > 0 ? choices.every(isDelta) : isCompletionFrame(data)
}

type Sign = (data: object) => boolean

const hasBag =
  (key: string): Sign =>
  (data) =>
    isBag(own(data, key))
const hasText =
  (...among: readonly string[]): Sign =>
  (data) =>
    among.some((key) => isFilled(own(data, key)))
const always: Sign = () => true

/** What has to stand beside a type that others may use for something else: messages API, AI SDK. */
const beside: Readonly<Record<string, Sign>> = {
  message_start: hasBag('message'),
  content_block_start: hasBag('content_block'),
  content_block_delta: hasBag('delta'),
  content_block_stop: (data) => typeof own(data, 'index') === 'number',
  message_delta: hasBag('delta'),
  'stream-start': (data) => Array.isArray(own(data, 'warnings')),
  'response-metadata': always,
  'step-start': hasBag('request'),
  'step-finish': hasText('finishReason'),
  'start-step': always,
  'finish-step': always,
  'text-start': hasText('id'),
  'text-delta': hasText('id', 'textDelta'),
  'text-end': hasText('id'),
  'reasoning-start': hasText('id'),
  'reasoning-delta': hasText('id'),
  'reasoning-end': hasText('id'),
  'tool-input-start': hasText('toolName'),
  'tool-input-end': hasText('id'),
  'tool-call': (data) => isFilled(own(data, 'toolName')) && isFilled(own(data, 'toolCallId')),
  finish: (data) => hasText('finishReason')(data) || isFilled(own(own(data, 'finishReason'), 'unified')),
  // of the responses API, without a name of its own
  keepalive: (data) => typeof own(data, 'sequence_number') === 'number',
  error: (data) =>
    own(data, 'error') instanceof Error ||
    (isFilled(own(data, 'message')) && typeof own(data, 'sequence_number') === 'number'),
}

/** Events of the responses API. Those of its realtime sister end otherwise. */
const isResponsesEvent = (data: object, type: string): boolean =>
  /^response\.[a-z_]/.test(type) &&
  own(data, 'event_id') === undefined &&
  (typeof own(data, 'sequence_number') === 'number' ||
    ['response', 'item', 'part'].some((key) => isBag(own(data, key))) ||
    isFilled(own(data, 'item_id')))

const isKnownType = (data: object, type: string): boolean =>
  Object.hasOwn(beside, type) ? beside[type]!(data) : isResponsesEvent(data, type)

function isKnown(data: object): boolean {
  const type = own(data, 'type')
  if (typeof type === 'string' && isKnownType(data, type)) return true
  return isChunk(data) || isErrorBody(data)
}

/** A terminal part may be all that there is. */
const speaks = (data: unknown): boolean =>
  hasContent(data) ||
  hasRefusal(read(data, 'response')) ||
  all(read(data, 'choices')).some((choice) => !isSilentMessage(read(choice, 'delta')))

/** A model that says no has answered. */
const isOnlyRefusal = (data: unknown): boolean => !isBag(own(data, 'error')) && hasRefusal(data)

/** Parts that may come before all others, and say nothing of the shape. */
const openings = [
  { type: 'ping', kind: 'keepalive', keys: ['type'] },
  { type: 'start', kind: 'preamble', keys: ['type', 'messageId', 'messageMetadata'] },
] as const

function openingOf(part: object): Exclude<StreamPart, 'terminal'> | undefined {
  const type = own(part, 'type')
  const found = openings.find((opening) => opening.type === type)
  const keys: readonly string[] = found?.keys ?? []
  return Object.keys(part).every((key) => keys.includes(key)) ? found?.kind : undefined
}

const isMessagesEvent = (type: string): boolean => /^(?:message|content_block)_/.test(type)

/** An API that always says how its answer ends. */
function tellsItsEnd(data: object): boolean {
  const type = own(data, 'type')
  return (
    isChunk(data) || (typeof type === 'string' && (isMessagesEvent(type) || isResponsesEvent(data, type)))
  )
}

/**
 * Knows the parts of one stream by their shape: chat completions, responses, messages and AI SDK. An end is noted and
 * ends nothing: a program may send several answers in one stream, and break after the first. Never throws.
 */
export class KnownParts {
  #seen = false
  #owesItsEnd = false
  #terminal: unknown

  /** The last part that said how the answer ends. */
  get terminal(): unknown {
    return this.#terminal
  }

  /** It came from an API that always says how its answer ends, and did not. */
  get isTruncated(): boolean {
    return this.#owesItsEnd && this.#terminal === undefined
  }

  /** `undefined` where the shape is unknown: what everybody may make of it. */
  kindOf(part: unknown): Exclude<StreamPart, 'terminal'> | undefined {
    if (part === '[DONE]' && this.#seen) return this.#ends(part)
    // bytes and lists are nobody's events, and long to look through
    if (!isBag(part) || Array.isArray(part) || ArrayBuffer.isView(part)) return undefined
    try {
      return this.#kindOfObject(part)
    } catch {
      return undefined
    }
  }

  #kindOfObject(part: object): Exclude<StreamPart, 'terminal'> | undefined {
    const known = isKnown(part) || (this.#seen && goesOn(part))
    if (!known) return openingOf(part)
    this.#seen = true
    this.#owesItsEnd ||= tellsItsEnd(part)
    const kind = kindOfKnown(part)
    if (kind === 'terminal') this.#ends(part)
    if (kind === 'terminal' || kind === 'preamble') return speaks(part) ? 'content' : 'preamble'
    return kind
  }

  #ends(part: unknown): 'preamble' {
    this.#terminal = part
    return 'preamble'
  }
}

/** Less is asked of a part that follows a known one. */
function goesOn(part: object): boolean {
  if (isTyped(part) || Array.isArray(own(part, 'choices'))) return true
  const error = own(part, 'error')
  return own(part, 'type') === undefined && (isBag(error) || isFilled(error))
}

function kindOfKnown(part: object): StreamPart {
  const kind = classifyEvent(part)
  if (kind !== 'error' || !isOnlyRefusal(part)) return kind
  const ends = all(own(part, 'choices')).some((choice) => isFilled(own(choice, 'finish_reason')))
  return ends ? 'terminal' : 'content'
}

/** What is wrong with an answer of which nothing came but its terminal part. A refusal is an answer. */
export function failureOfKnownEnd(terminal: unknown): FailureKind | undefined {
  try {
    return failureOfStreamEnd({ content: speaks(terminal), terminal })
  } catch {
    return undefined
  }
}
