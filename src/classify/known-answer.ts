import {
  all,
  isBlank,
  isCompletionFrame,
  isErrorBody,
  isSilentContent,
  isSilentMessage,
  own,
} from './known-shapes.ts'
import { isBag, isFilled } from './safe-read.ts'
import { stopClassOf } from './stop-reason.ts'
import type { StopClass } from './stop-reason.ts'
import type { FailureKind } from './verdict.ts'

/** `error`: the body is an error, which `classify` reads. */
export type AnswerFault = FailureKind | 'error'

const faults: Readonly<Partial<Record<StopClass, FailureKind>>> = {
  filtered: 'content_policy',
  misused: 'tool_contract',
  failed: 'server_error',
}

const isChoice = (choice: unknown): boolean => {
  const message = own(choice, 'message')
  // a text of old is empty by rights where there is nothing to add
  return isBag(message) && (Object.hasOwn(message, 'role') || Object.hasOwn(message, 'content'))
}

/** Where a program of its own may have put what it makes of a completion. */
const saysElsewhere = ['data', 'result', 'output', 'answer', 'content', 'text', 'message', 'parsed']

function isSilentCompletion(data: object): boolean {
  const choices = own(data, 'choices')
  if (choices === undefined || saysElsewhere.some((key) => !isBlank(own(data, key)))) return false
  const frame = isCompletionFrame(data)
  if (choices === null || (Array.isArray(choices) && choices.length === 0)) return frame
  if (!Array.isArray(choices)) return false
  return choices.every(
    (choice) => isChoice(choice) && isSilentMessage(own(choice, 'message')) && !isFilled(own(choice, 'text')),
  )
}

const isSilentAnthropicMessage = (data: object): boolean =>
  own(data, 'type') === 'message' &&
  (own(data, 'role') === 'assistant' || Object.hasOwn(data, 'stop_reason')) &&
  Array.isArray(own(data, 'content')) &&
  isSilentContent(own(data, 'content'))

/** One that runs in the background, and one that was cancelled, has no output by rights. */
const overs: readonly unknown[] = ['completed', 'failed', 'incomplete', undefined]

const isSilentResponse = (data: object): boolean =>
  own(data, 'object') === 'response' &&
  Array.isArray(own(data, 'output')) &&
  overs.includes(own(data, 'status')) &&
  isSilentContent(own(data, 'output')) &&
  !isFilled(own(data, 'output_text'))

function faultOf(answer: object): AnswerFault | undefined {
  if (isErrorBody(answer)) return 'error'
  if (!isSilentCompletion(answer) && !isSilentAnthropicMessage(answer) && !isSilentResponse(answer))
    return undefined
  if (isBag(own(answer, 'error'))) return 'error'
  if (own(answer, 'status') === 'failed') return 'server_error'
  const stopped = stopClassOf(answer)
  // the caller's own limit left no room for more
  if (stopped === 'length' || all(own(answer, 'choices')).some((choice) => isCut(choice))) return undefined
  return (stopped && faults[stopped]) ?? 'empty_response'
}

const isCut = (choice: unknown): boolean => stopClassOf({ choices: [choice] }) === 'length'

/**
 * What is wrong with an object in which an API is known to answer: a chat completion, a response, a message, or an error
 * in the place of one. `undefined` for all others and in all cases of doubt: unlike the bodies that `failureOfAnswer`
 * reads, this may be an object of anybody's. Refusals are answers, thoughts alone are none. Never throws.
 *
 * @example faultOfKnownAnswer({ object: 'chat.completion', choices: [] }) // 'empty_response'
 */
export function faultOfKnownAnswer(answer: unknown): AnswerFault | undefined {
  try {
    return isBag(answer) && !Array.isArray(answer) ? faultOf(answer) : undefined
  } catch {
    return undefined
  }
}
