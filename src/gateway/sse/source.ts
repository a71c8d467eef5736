import { SseJudge } from './judge.ts'
import type { SseRules } from './judge.ts'
import type { SsePart } from './parts.ts'
import { SseSplitter } from './splitter.ts'
import type { SseBlock } from './splitter.ts'
import type { UpstreamError } from '../upstream-error.ts'

/** Where the bytes come from. */
export interface Tap {
  pause(): void
  resume(): void
  cancel(): void
}

// what may wait for a slow reader, beside what the sockets hold
const HIGH_WATER_BYTES = 64 * 1024

const DONE = { done: true, value: undefined } as const
type Step = IteratorResult<SsePart, undefined>

/**
 * A provider's event stream as parts. Chunks that come before the next read are judged together, and no more are taken
 * than the reader reads. What is wrong is thrown; every byte before it is passed on.
 */
export class SseSource implements AsyncIterableIterator<SsePart, undefined> {
  readonly #tap: Tap
  readonly #splitter = new SseSplitter()
  readonly #judge: SseJudge
  #chunks: Buffer[] = []
  #bytes = 0
  #paused = false
  readonly #ready: SsePart[] = []
  #ended = false
  #wrong: Error | undefined
  #reader: { readonly resolve: (step: Step) => void; readonly reject: (error: Error) => void } | undefined

  constructor(rules: SseRules, tap: Tap) {
    this.#judge = new SseJudge(rules)
    this.#tap = tap
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Step> {
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
      this.#serve()
    })
  }

  /** Drops the connection, also while a read is pending. */
  return(): Promise<Step> {
    this.#ended = true
    this.#tap.cancel()
    this.#reader?.resolve(DONE)
    this.#reader = undefined
    return Promise.resolve(DONE)
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#reader !== undefined) this.#serve()
    else if (this.#bytes >= HIGH_WATER_BYTES && !this.#paused) {
      this.#paused = true
      this.#tap.pause()
    }
  }

  end(): void {
    this.#ended = true
    this.#serve()
  }

  /** The rest of what has just come in comes first. */
  fail(error: Error): void {
    this.#wrong ??= error
    this.#serve()
  }

  #serve(): void {
    const reader = this.#reader
    if (reader === undefined) return
    if (this.#ready.length === 0) this.#read()
    const part = this.#ready.shift()
    if (part === undefined && this.#wrong === undefined && !this.#ended) return this.#resume()
    this.#reader = undefined
    if (part !== undefined) reader.resolve({ done: false, value: part })
    else if (this.#wrong !== undefined) reader.reject(this.#wrong)
    else reader.resolve(DONE)
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#tap.resume()
  }

  #read(): void {
    if (this.#bytes > 0) {
      const [first] = this.#chunks
      const bytes = this.#chunks.length === 1 ? first! : Buffer.concat(this.#chunks, this.#bytes)
      this.#chunks = []
      this.#bytes = 0
      try {
        this.#take(this.#splitter.push(bytes))
      } catch (error) {
        this.#break(error as UpstreamError)
      }
    }
    if (this.#ready.length === 0 && this.#ended) this.#take(this.#splitter.rest())
  }

  #take(block: SseBlock | undefined): void {
    if (block === undefined) return
    const wrong = this.#judge.judge(block, this.#ready)
    if (wrong !== undefined) this.#break(wrong)
  }

  #break(error: UpstreamError): void {
    this.#wrong = error
    this.#tap.cancel()
  }
}
