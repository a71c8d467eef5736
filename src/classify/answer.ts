import {
  blocksHaveContent,
  candidatesHaveContent,
  choicesHaveContent,
  hasRefusal,
  outputHasContent,
} from './content.ts'
import { isBag, items, keys, read, readText } from './safe-read.ts'
import { stopClassOf } from './stop-reason.ts'
import { isHtml, jsonIn } from './text.ts'
import type { FailureKind } from './verdict.ts'

/** Where each API keeps its answer, and whether something usable stands there. */
const shapes: readonly (readonly [field: string, hasContent: (value: unknown) => boolean])[] = [
  ['choices', choicesHaveContent],
  ['output', outputHasContent],
  ['candidates', candidatesHaveContent],
  ['content', blocksHaveContent],
]

/**
 * A JSON answer of chat completions, responses, messages or Gemini that holds nothing usable: no choices, or neither
 * text nor a call. Thoughts alone are nothing usable. An answer cut by the caller's own token limit, one still in
 * progress, and shapes that are none of these (embeddings, lists) are not empty.
 *
 * @example isEmptyCompletion({ choices: [] }) // true
 */
export function isEmptyCompletion(body: unknown): boolean {
  if (body === undefined || body === null || body === '') return true
  if (!isBag(body)) return false
  const running = ['queued', 'in_progress'].includes(readText(body, 'status'))
  if (running || stopClassOf(body) === 'length') return false
  const shape = shapes.find(([field]) => Array.isArray(read(body, field)) || read(body, field) === null)
  if (shape) return !shape[1](read(body, shape[0]))
  return !Array.isArray(body) && (keys(body).length === 0 || read(body, 'object') === 'chat.completion')
}

/**
 * What is wrong with the body of a 2xx answer, as JSON or text; `undefined` when it is usable. An `error` object in
 * the body is left to `classify`.
 */
export function failureOfAnswer(body: unknown): FailureKind | undefined {
  if (typeof body === 'string' && body.trim() !== '') {
    const json = isHtml(body) ? undefined : jsonIn(body)
    return json?.prefix.trim() === '' ? failureOfAnswer(json.value) : 'malformed_response'
  }
  const response = read(body, 'response')
  const answer = isBag(response) ? response : body
  if (hasRefusal(answer)) return 'content_policy'
  const content = shapes.some(
    ([field, hasContent]) => items(read(answer, field)).length > 0 && hasContent(read(answer, field)),
  )
  if (content) return undefined
  const stopped = stopClassOf(answer)
  if (stopped === 'filtered') return 'content_policy'
  if (stopped === 'misused') return 'tool_contract'
  if (stopped === 'failed') return 'server_error'
  return isEmptyCompletion(answer) ? 'empty_response' : undefined
}
