import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

import type { Switchgear } from '../core/switchgear.ts'
import type { Answer, ChatRequest } from './chat-request.ts'
import { errorEvent, errorReply } from './error-body.ts'
import type { ErrorReply } from './error-body.ts'
import { switchgearHeaders } from './headers.ts'
import type { SsePart } from './sse-source.ts'

export type GatewayGear = Switchgear<ChatRequest, Answer, SsePart>

/** What the handlers of a gateway share. */
export interface Desk {
  readonly gear: GatewayGear
  /** The name of the first target. */
  readonly primary: string
}

const left = () => new DOMException('The client has left.', 'AbortError')

/** Fires when the client goes before it has its answer. */
export function clientSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableEnded) controller.abort(left())
  })
  return controller.signal
}

const optionsOf = ({ id, model }: ChatRequest, signal: AbortSignal) => ({
  id,
  signal,
  ...(model !== undefined && { model }),
})

/** A call answered in one piece; undefined = the client has left. */
export async function answerWhole(
  { gear, primary }: Desk,
  chat: ChatRequest,
  signal: AbortSignal,
): Promise<ErrorReply | undefined> {
  try {
    const { body, headers } = await gear.call(chat, optionsOf(chat, signal))
    return { status: 200, headers: { ...headers, ...switchgearHeaders(chat, primary) }, body }
  } catch (error) {
    return failedReply(error, chat, primary, signal)
  }
}

/**
 * A call answered in parts. The status is decided when the first content is there: a failure before it ends as an
 * ordinary error, which is returned.
 */
export async function answerInParts(
  { gear, primary }: Desk,
  chat: ChatRequest,
  signal: AbortSignal,
  response: ServerResponse,
  takeOver: () => void,
): Promise<ErrorReply | undefined> {
  const parts = gear.stream(chat, optionsOf(chat, signal))
  // an answer that is complete but still open is no longer a call that the signal could end
  signal.addEventListener('abort', () => void parts.return?.(), { once: true })
  let first: IteratorResult<SsePart, undefined>
  try {
    first = await parts.next()
  } catch (error) {
    return failedReply(error, chat, primary, signal)
  }
  if (signal.aborted) return undefined
  takeOver()
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    ...chat.answerHeaders,
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    ...switchgearHeaders(chat, primary),
  })
  try {
    for (let part = first; part.done !== true; part = await parts.next()) {
      const { bytes } = part.value
      if (bytes.length > 0 && !response.write(bytes)) await once(response, 'drain', { signal })
    }
  } catch (error) {
    if (!signal.aborted) response.write(errorEvent(error, chat))
  }
  response.end()
  return undefined
}

function failedReply(
  error: unknown,
  chat: ChatRequest,
  primary: string,
  signal: AbortSignal,
): ErrorReply | undefined {
  if (signal.aborted) return undefined
  const { status, headers, body } = errorReply(error, chat)
  return { status, headers: { ...headers, ...switchgearHeaders(chat, primary) }, body }
}
