import type { Dispatcher } from 'undici'

import type { Answer, CallRequest } from './call-request.ts'
import { headersToClient } from './headers.ts'
import { MOST_ERROR_BYTES, UpstreamError, jsonOrText } from './upstream-error.ts'

export type AnswerHeaders = UpstreamError['headers']

/**
 * One request and its answer, as undici tells of them. Made by hand rather than by `request`: a body as a Node stream
 * costs as much as all the rest of a call.
 */
export abstract class Exchange implements Dispatcher.DispatchHandler {
  protected status = 0
  protected headers: AnswerHeaders = {}
  protected controller: Dispatcher.DispatchController | undefined
  /** Nothing that comes later is of interest. */
  protected over = false
  #cut: { readonly reason: Error } | undefined
  readonly #onOver: () => void

  /** @param onOver Called once, when the answer is complete, has failed, or nobody wants it any more. */
  constructor(onOver: () => void) {
    this.#onOver = onOver
  }

  /** Nobody wants the answer any more. */
  cut(reason: unknown): void {
    if (!this.end()) return
    const error = reason instanceof Error ? reason : new Error('The request was cancelled.')
    this.#cut = { reason: error }
    this.controller?.abort(error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.#cut !== undefined) controller.abort(this.#cut.reason)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    // a hint ahead of the answer
    if (status < 200 || this.over) return
    this.status = status
    this.headers = headers
    this.begun()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.over) this.take(chunk)
  }

  onResponseEnd(): void {
    if (this.over) return
    this.complete()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.over) return
    this.fail(error)
  }

  /** False = it was over before. */
  protected end(): boolean {
    if (this.over) return false
    this.over = true
    this.#onOver()
    return true
  }

  protected get isOk(): boolean {
    return this.status >= 200 && this.status < 300
  }

  /** The status and the headers are there. */
  protected begun(): void {}
  protected abstract take(chunk: Buffer): void
  protected abstract complete(): void
  protected abstract fail(error: Error): void
}

// nobody's answer is larger; an endless one would fill the memory
const MOST_ANSWER_BYTES = 256 * 1024 * 1024

/** Collects an answer in one piece; one that is no 2xx, or no answer, is thrown. */
export class WholeExchange extends Exchange {
  readonly answer: Promise<Answer>
  #resolve!: (answer: Answer) => void
  #reject!: (error: Error) => void
  readonly #request: CallRequest
  readonly #body = new Collected()

  constructor(request: CallRequest, onOver: () => void) {
    super(onOver)
    this.#request = request
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  protected override take(chunk: Buffer): void {
    this.#body.add(chunk)
    const { isOk } = this
    if (this.#body.length <= (isOk ? MOST_ANSWER_BYTES : MOST_ERROR_BYTES)) return
    const error = isOk ? new UpstreamError(this.status, {}, 'an answer without an end') : this.#error()
    this.cut(error)
    this.#reject(error)
  }

  protected override complete(): void {
    this.end()
    if (!this.isOk) return this.#reject(this.#error())
    const body = this.#body.bytes()
    const { failureOf, isPlainAnswer } = this.#request.endpoint
    const isPlain = isPlainAnswer?.(body) === true
    const value = isPlain ? undefined : jsonOrText(body)
    const failure = isPlain ? undefined : failureOf(value)
    const empty = failure === 'empty_response'
    if ((failure !== undefined && !empty) || hasError(value)) return this.#reject(this.#error(value))
    const headers = headersToClient(this.headers)
    this.#request.answerHeaders = headers
    this.#resolve({ body, headers, empty })
  }

  protected override fail(error: Error): void {
    this.end()
    this.#reject(error)
  }

  #error(value?: unknown): UpstreamError {
    return errorOf(this.status, this.headers, this.#body, value)
  }
}

/** Chunks of a body. */
export class Collected {
  readonly #chunks: Buffer[] = []
  length = 0

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.length += chunk.length
  }

  bytes(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
  }
}

/** What a provider says in place of an answer. */
export function errorOf(
  status: number,
  headers: AnswerHeaders,
  body: Collected,
  parsed?: unknown,
): UpstreamError {
  const bytes = body.bytes()
  if (parsed !== undefined) return new UpstreamError(status, headers, parsed, bytes)
  const first = bytes.subarray(0, MOST_ERROR_BYTES)
  return new UpstreamError(status, headers, jsonOrText(first), first)
}

const hasError = (value: unknown) => {
  const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined
  return error !== undefined && error !== null
}
