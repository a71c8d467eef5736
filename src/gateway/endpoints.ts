import { failureOfAnswer } from '../classify/answer.ts'
import type { FailureKind } from '../classify/verdict.ts'
import { anthropicErrors, openAiErrors, responsesErrors } from './error-shape.ts'
import type { ErrorShape } from './error-shape.ts'
import type { Api } from './config/resolve-target.ts'

/** One of the endpoints that are passed on to providers. */
export interface Endpoint {
  readonly name: 'chat' | 'responses' | 'embeddings' | 'messages'
  /** Where clients find it. */
  readonly path: string
  /** Where a provider has it, behind its base URL. */
  readonly upstreamPath: string
  /** What a target must speak. */
  readonly api: Api
  /** Whether `stream: true` asks for events. */
  readonly streams: boolean
  /** Found in every event that is more, or less, than content; see `SseRules`. */
  readonly telling: RegExp
  /** What is wrong with the body of a 200, parsed or as a text. */
  readonly failureOf: (body: unknown) => FailureKind | undefined
  /** True for bytes that need not be parsed to be known as an answer. */
  readonly isPlainAnswer?: (body: Buffer) => boolean
  readonly errors: ErrorShape
}

const completion = { streams: true, failureOf: failureOfAnswer }

function failureOfList(body: unknown): FailureKind | undefined {
  if (typeof body === 'string') return failureOfAnswer(body)
  const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined
  return Array.isArray(data) && data.length > 0 ? undefined : 'empty_response'
}

/** Every endpoint that is passed on. */
export const endpoints: readonly Endpoint[] = [
  {
    ...completion,
    name: 'chat',
    path: '/v1/chat/completions',
    upstreamPath: '/chat/completions',
    api: 'openai',
    telling: /"error"|"finish_reason"\s*:\s*"|Exception"/g,
    errors: openAiErrors,
  },
  {
    ...completion,
    name: 'responses',
    path: '/v1/responses',
    upstreamPath: '/responses',
    api: 'openai',
    telling: /"error"|event: error|"response\.(?:completed|incomplete|failed|cancelled)"/g,
    errors: responsesErrors,
  },
  {
    name: 'embeddings',
    path: '/v1/embeddings',
    upstreamPath: '/embeddings',
    api: 'openai',
    streams: false,
    telling: /^/g,
    failureOf: failureOfList,
    isPlainAnswer: isEmbeddings,
    errors: openAiErrors,
  },
  {
    ...completion,
    name: 'messages',
    path: '/v1/messages',
    upstreamPath: '/messages',
    api: 'anthropic',
    telling: /"error"|event: error|"ping"|"stop_reason"\s*:\s*"|"message_stop"/g,
    errors: anthropicErrors,
  },
]

/** Megabytes of numbers are not parsed only to see that they are there. */
function isEmbeddings(body: Buffer): boolean {
  const head = body.toString('latin1', 0, 512)
  return (
    /^\s*\{/.test(head) &&
    /"data"\s*:\s*\[\s*\{/.test(head) &&
    /\}\s*$/.test(body.toString('latin1', Math.max(0, body.length - 16)))
  )
}
