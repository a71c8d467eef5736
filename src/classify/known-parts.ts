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

const isGemini = (data: object): boolean =>
  all(own(data, 'candidates')).some(
    (candidate) =>
      Array.isArray(own(own(candidate, 'content'), 'parts')) || isFilled(own(candidate, 'finishReason')),
  ) || isFilled(own(own(data, 'promptFeedback'), 'blockReason'))

const bedrock = ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop']

/** Bedrock names an event by the one key it has. */
function isBedrock(data: object): boolean {
  const [key, second] = Object.keys(data)
  if (key === undefined || second !== undefined || !isBag(own(data, key))) return false
  return bedrock.includes(key) || key.endsWith('Exception')
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
  return isChunk(data) || isErrorBody(data) || isGemini(data) || isBedrock(data)
}

/** A terminal part may be all that there is. */
const speaks = (data: unknown): boolean =>
  hasContent(data) ||
  hasRefusal(read(data, 'response')) ||
  all(read(data, 'choices')).some((choice) => !isSilentMessage(read(choice, 'delta')))

/** A model that says no has answered; a prompt that was blocked has not reached it. */
const isOnlyRefusal = (data: unknown): boolean =>
  !isBag(own(data, 'error')) && own(data, 'promptFeedback') === undefined && hasRefusal(data)

/** Parts that may come before all others, and say nothing of the shape. */
const openings = [
  { type: 'ping', kind: 'keepalive', keys: ['type'] },
  { type: 'start', kind: 'preamble', keys: ['type', 'messageId', 'messageMetadata'] },
] as const

function openingOf(part: object): StreamPart | undefined {
  const type = own(part, 'type')
  const found = openings.find((opening) => opening.type === type)
  const keys: readonly string[] = found?.keys ?? []
  return Object.keys(part).every((key) => keys.includes(key)) ? found?.kind : undefined
}

/**
 * Knows the parts of one stream by their shape: chat completions, responses, messages, AI SDK, Gemini and Bedrock.
 * Never throws.
 */
export class KnownParts {
  #seen = false
  /** Choices that have begun: with several a request, each ends in a chunk of its own. */
  readonly #open = new Set<number>()

  /** Some part was of a known shape, so the stream has an end that is told. */
  get seen(): boolean {
    return this.#seen
  }

  /** `undefined` where the shape is unknown: what everybody may make of it. */
  kindOf(part: unknown): StreamPart | undefined {
    try {
      if (isBag(part)) return this.#kindOfObject(part)
      return this.#seen && part === '[DONE]' ? 'terminal' : undefined
    } catch {
      return undefined
    }
  }

  #kindOfObject(part: object): StreamPart | undefined {
    const known = isKnown(part) || (this.#seen && this.#goesOn(part))
    this.#seen ||= known
    return known ? this.#ofChoices(part, kindOfKnown(part)) : openingOf(part)
  }

  /** Less is asked of a part that follows a known one. */
  #goesOn(part: object): boolean {
    const error = own(part, 'error')
    return isTyped(part) || Array.isArray(own(part, 'choices')) || isBag(error) || isFilled(error)
  }

  #ofChoices(part: object, kind: StreamPart): StreamPart {
    const choices = all(own(part, 'choices'))
    for (const choice of choices) {
      const index = own(choice, 'index')
      const at = typeof index === 'number' ? index : 0
      if (isFilled(own(choice, 'finish_reason'))) this.#open.delete(at)
      else this.#open.add(at)
    }
    if (kind === 'terminal' && choices.length > 0 && this.#open.size > 0)
      return speaks(part) ? 'content' : 'preamble'
    return kind === 'preamble' && speaks(part) ? 'content' : kind
  }
}

function kindOfKnown(part: object): StreamPart {
  const kind = classifyEvent(part)
  if (kind !== 'error' || !isOnlyRefusal(part)) return kind
  const ends = all(own(part, 'choices')).some((choice) => isFilled(own(choice, 'finish_reason')))
  return ends ? 'terminal' : 'content'
}

/** What is wrong with an answer of which nothing came but its terminal part. A refusal is an answer. */
export const failureOfKnownEnd = (terminal: unknown): FailureKind | undefined =>
  failureOfStreamEnd({ content: speaks(terminal), terminal })
