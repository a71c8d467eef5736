import { chatReply, embeddingsReply } from './completions.ts'
import { anthropicError, messagesReply } from './messages.ts'
import type { ErrorBody } from './provider-errors.ts'
import { isRecord } from './request-body.ts'
import type { ReplyShape } from './reply.ts'
import { responsesReply } from './responses.ts'
import type { Script } from './script.ts'
import { chatToolCall, messagesToolCall, responsesToolCall } from './tool-calls.ts'

/** How one endpoint of a provider answers. */
export interface EndpointShape {
  readonly path: string
  readonly reply: ReplyShape
  /** How it has the client call a tool, where it can. */
  readonly toolCall?: ReplyShape
  readonly streams: boolean
  /** Brings errors, which are written in OpenAI's shape, into the endpoint's own. */
  readonly dress: (script: Script) => Script
}

const asItIs = (script: Script): Script => script

export const endpointShapes = {
  chat: {
    path: '/v1/chat/completions',
    reply: chatReply,
    toolCall: chatToolCall,
    streams: true,
    dress: asItIs,
  },
  responses: {
    path: '/v1/responses',
    reply: responsesReply,
    toolCall: responsesToolCall,
    streams: true,
    dress: asItIs,
  },
  embeddings: { path: '/v1/embeddings', reply: embeddingsReply, streams: false, dress: asItIs },
  messages: {
    path: '/v1/messages',
    reply: messagesReply,
    toolCall: messagesToolCall,
    streams: true,
    dress: toAnthropic,
  },
} as const satisfies Readonly<Record<string, EndpointShape>>

/** An error in one piece becomes Anthropic's; an empty account is a 400 there. */
function toAnthropic(script: Script): Script {
  const { head, parts } = script
  const error = head?.headers['content-type'] === 'application/json' ? errorIn(parts[0]) : undefined
  if (head === undefined || error === undefined) return script
  const status = error.code === 'insufficient_quota' ? 400 : head.status
  const shown = JSON.stringify(anthropicError(error, status === 200 ? 500 : status))
  return { ...script, head: { ...head, status }, parts: [shown] }
}

function errorIn(body: string | undefined): ErrorBody | undefined {
  try {
    const value: unknown = JSON.parse(body ?? '')
    return isRecord(value) && isRecord(value['error']) ? (value['error'] as unknown as ErrorBody) : undefined
  } catch {
    return undefined
  }
}
