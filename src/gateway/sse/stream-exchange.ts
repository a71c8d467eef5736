import type { CallRequest } from '../call-request.ts'
import { Collected, Exchange, errorOf } from '../exchange.ts'
import { headersToClient } from '../headers.ts'
import type { SseRules } from './judge.ts'
import { SseSource } from './source.ts'
import type { Tap } from './source.ts'
import { MOST_ERROR_BYTES } from '../upstream-error.ts'

/** Opens an answer in parts; one that is no 2xx, or no event stream, is thrown. */
export class StreamExchange extends Exchange implements Tap {
  readonly opening: Promise<SseSource>
  #resolve!: (source: SseSource) => void
  #reject!: (error: Error) => void
  #source: SseSource | undefined
  readonly #error = new Collected()
  readonly #request: CallRequest
  readonly #rules: SseRules

  constructor(request: CallRequest, rules: SseRules, onOver: () => void) {
    super(onOver)
    this.#request = request
    this.#rules = rules
    this.opening = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  pause(): void {
    this.controller?.pause()
  }

  resume(): void {
    this.controller?.resume()
  }

  cancel(): void {
    this.cut(undefined)
  }

  protected override begun(): void {
    const type = this.headers['content-type']
    if (!this.isOk || (typeof type === 'string' && !type.includes('event-stream'))) return
    this.#request.answerHeaders = headersToClient(this.headers)
    this.#source = new SseSource(this.#rules, this)
    this.#resolve(this.#source)
  }

  protected override take(chunk: Buffer): void {
    if (this.#source !== undefined) return this.#source.push(chunk)
    this.#error.add(chunk)
    if (this.#error.length <= MOST_ERROR_BYTES) return
    this.#refuse()
    this.cut(undefined)
  }

  protected override complete(): void {
    this.end()
    if (this.#source === undefined) this.#refuse()
    else this.#source.end()
  }

  protected override fail(error: Error): void {
    this.end()
    if (this.#source === undefined) this.#reject(error)
    else this.#source.fail(error)
  }

  #refuse(): void {
    this.#reject(errorOf(this.status, this.headers, this.#error))
  }
}
