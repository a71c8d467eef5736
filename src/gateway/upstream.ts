import { Agent } from 'undici'
import type { Dispatcher } from 'undici'

import { failureOfAnswer, isEmptyCompletion } from '../classify/answer.ts'
import type { AttemptContext } from '../core/target-options.ts'
import type { Answer, ChatRequest } from './chat-request.ts'
import type { GatewayTarget } from './config-schema.ts'
import { headersToClient } from './headers.ts'
import { SseSource } from './sse-source.ts'
import { MOST_ERROR_BYTES, UpstreamError, jsonOrText } from './upstream-error.ts'

/** The one agent of a gateway: connections are kept and shared by all targets. */
export function createAgent(): Agent {
  return new Agent({ connect: { timeout: 10_000 }, keepAliveTimeout: 10_000 })
}

/** Sends the requests of one target. Only the target's own key leaves. */
export class Upstream {
  readonly #name: string
  readonly #origin: string
  readonly #path: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #agent: Dispatcher
  readonly #refusalIsError: boolean
  readonly #silenceMs: number

  constructor(name: string, target: GatewayTarget, agent: Dispatcher, refusalIsError: boolean) {
    const url = new URL(`${target.baseUrl.replace(/\/+$/, '')}/chat/completions`)
    this.#name = name
    this.#origin = url.origin
    this.#path = url.pathname
    this.#headers = {
      'content-type': 'application/json',
      ...(target.apiKey !== undefined && { authorization: `Bearer ${target.apiKey}` }),
    }
    this.#agent = agent
    this.#refusalIsError = refusalIsError
    // the core's limits come first; this one ends what is left after a complete answer
    const silenceMs = Math.max(target.firstContentTimeoutMs ?? 30_000, target.idleTimeoutMs ?? 30_000) + 1000
    this.#silenceMs = Number.isFinite(silenceMs) ? silenceMs : 0
  }

  /** An answer in one piece. */
  async invoke(request: ChatRequest, context: AttemptContext): Promise<Answer> {
    const { statusCode, headers, body } = await this.#send(request, context, 0)
    if (statusCode < 200 || statusCode > 299) throw await errorOf(statusCode, headers, body)
    const bytes = Buffer.from(await body.arrayBuffer())
    const value = jsonOrText(bytes)
    const failure = failureOfAnswer(value)
    if ((failure !== undefined && failure !== 'empty_response') || hasError(value)) {
      throw new UpstreamError(statusCode, headers, value, bytes)
    }
    const answer = { body: bytes, headers: headersToClient(headers), empty: isEmptyCompletion(value) }
    request.answerHeaders = answer.headers
    return answer
  }

  /** An answer in parts. */
  async stream(request: ChatRequest, context: AttemptContext): Promise<SseSource> {
    const { statusCode, headers, body } = await this.#send(request, context, this.#silenceMs)
    const type = headers['content-type']
    const isStream = typeof type !== 'string' || type.includes('event-stream')
    if (statusCode < 200 || statusCode > 299 || !isStream) throw await errorOf(statusCode, headers, body)
    request.answerHeaders = headersToClient(headers)
    return new SseSource(body, { choices: request.choices, refusalIsError: this.#refusalIsError })
  }

  async #send(request: ChatRequest, { signal, model }: AttemptContext, bodyTimeout: number) {
    request.sent.push({ target: this.#name, model: model ?? request.model })
    const answer = await this.#agent.request({
      origin: this.#origin,
      path: this.#path,
      method: 'POST',
      headers: { ...request.headers, ...this.#headers },
      body: request.bodyFor(model),
      signal,
      // how long to wait is the core's to say
      headersTimeout: 0,
      bodyTimeout,
    })
    // an abort after the last read has nobody else to tell
    answer.body.on('error', () => {})
    return answer
  }
}

const hasError = (value: unknown) => {
  const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined
  return error !== undefined && error !== null
}

async function errorOf(
  status: number,
  headers: UpstreamError['headers'],
  body: AsyncIterable<Buffer> & { destroy(): unknown },
): Promise<UpstreamError> {
  const chunks: Buffer[] = []
  let left = MOST_ERROR_BYTES
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, left))
    left -= chunk.length
    if (left <= 0) break
  }
  const bytes = Buffer.concat(chunks)
  return new UpstreamError(status, headers, jsonOrText(bytes), bytes)
}
