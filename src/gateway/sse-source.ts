import { classifyEvent, failureOfStreamEnd, hasContent } from '../classify/stream-parts.ts'
import { hasRefusal } from '../classify/content.ts'
import type { PartKind } from '../core/target-options.ts'
import { dataOf, SseSplitter } from './sse-splitter.ts'
import { UpstreamError } from './upstream-error.ts'

/** Some events of a stream as they came, and what they are. */
export class SsePart {
  readonly bytes: Buffer
  readonly kind: PartKind

  constructor(bytes: Buffer, kind: PartKind) {
    this.bytes = bytes
    this.kind = kind
  }

  /** For whoever measures how much is held back. */
  toJSON(): string {
    return this.bytes.toString('latin1')
  }
}

export interface SseRules {
  /** How many choices the answer has; each ends in an event of its own. */
  readonly choices: number
  /** A refusal sends the call on to another target, so it is an error as long as nothing was delivered. */
  readonly refusalIsError: boolean
}

interface Source extends AsyncIterable<Buffer> {
  destroy(): unknown
}

const DONE = { done: true, value: undefined } as const

/** Reads a provider's event stream. What is wrong with it is thrown; every byte of the rest is passed on. */
export class SseSource implements AsyncIterableIterator<SsePart, undefined> {
  readonly #body: Source
  readonly #chunks: AsyncIterator<Buffer>
  readonly #rules: SseRules
  readonly #splitter = new SseSplitter()
  readonly #endedChoices = new Set<unknown>()
  #ready: SsePart[] = []
  #wrong: UpstreamError | undefined
  #content = false
  #complete = false

  constructor(body: Source, rules: SseRules) {
    this.#body = body
    this.#chunks = body[Symbol.asyncIterator]()
    this.#rules = rules
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<SsePart, undefined>> {
    for (;;) {
      const part = this.#ready.shift()
      if (part !== undefined) return { done: false, value: part }
      if (this.#wrong !== undefined) throw this.#wrong
      const chunk = await this.#chunks.next()
      const events = chunk.done === true ? this.#splitter.rest() : this.#split(chunk.value)
      if (chunk.done === true && events.length === 0) return DONE
      this.#read(events)
    }
  }

  /** Drops the connection, also while a read is pending. */
  return(): Promise<IteratorResult<SsePart, undefined>> {
    this.#body.destroy()
    return Promise.resolve(DONE)
  }

  #split(chunk: Buffer): Buffer[] {
    try {
      return this.#splitter.push(chunk)
    } catch (error) {
      this.#wrong = error as UpstreamError
      return []
    }
  }

  #read(events: readonly Buffer[]): void {
    for (const bytes of events) {
      if (this.#complete) this.#add(bytes, 'preamble')
      else this.#judge(bytes)
      if (this.#wrong !== undefined) return
    }
  }

  #judge(bytes: Buffer): void {
    const { name, data } = dataOf(bytes)
    const value = data === undefined || data === '[DONE]' ? data : parsed(data)
    // a text that is no JSON would break the client as well
    if (value === BROKEN) return this.#fail(data)
    const kind = name === 'error' ? 'error' : this.#kindOf(value)
    if (kind === 'error') return this.#fail(value)
    if (kind === 'terminal') return this.#end(bytes, value)
    if (kind === 'content') this.#content = true
    this.#add(bytes, kind)
  }

  #kindOf(value: unknown): PartKind {
    const kind = classifyEvent(value)
    const refusal = kind === 'error' && hasRefusal(value)
    if (refusal && (this.#content || !this.#rules.refusalIsError)) return 'content'
    return kind === 'terminal' && this.#choicesAreLeft(value) ? 'content' : kind
  }

  #choicesAreLeft(value: unknown): boolean {
    const choices = (value as { choices?: unknown } | undefined)?.choices
    if (!Array.isArray(choices)) return false
    for (const choice of choices) this.#endedChoices.add((choice as { index?: unknown } | null)?.index)
    return this.#endedChoices.size < this.#rules.choices
  }

  #end(bytes: Buffer, value: unknown): void {
    this.#complete = true
    if (this.#content) return this.#add(bytes, 'terminal')
    const failure = failureOfStreamEnd({ content: hasContent(value), terminal: value })
    if (failure === 'content_policy' && this.#rules.refusalIsError) return this.#fail(value)
    if (failure !== undefined && failure !== 'content_policy') return this.#add(bytes, 'terminal')
    // the whole answer in one event: first it commits, then it completes
    this.#add(bytes, 'content')
    this.#ready.push(new SsePart(bytes.subarray(bytes.length), 'terminal'))
  }

  #fail(body: unknown): void {
    this.#wrong = new UpstreamError(200, {}, body)
  }

  /** Events of one chunk go on together once the first content has shown itself. */
  #add(bytes: Buffer, kind: PartKind): void {
    const last = this.#ready.at(-1)
    const joins = last?.kind === 'content' && kind !== 'terminal'
    const adjoining =
      last !== undefined && last.bytes.buffer === bytes.buffer && endOf(last.bytes) === bytes.byteOffset
    if (!joins || !adjoining) return void this.#ready.push(new SsePart(bytes, kind))
    const whole = Buffer.from(bytes.buffer, last.bytes.byteOffset, last.bytes.length + bytes.length)
    this.#ready[this.#ready.length - 1] = new SsePart(whole, 'content')
  }
}

const endOf = (bytes: Buffer) => bytes.byteOffset + bytes.length

const BROKEN = Symbol('broken')

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return BROKEN
  }
}
