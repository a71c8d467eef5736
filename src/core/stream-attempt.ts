import type { Verdict } from '../classify/verdict.ts'
import { Attempt } from './attempt.ts'
import { StreamInterruptedError } from './errors.ts'
import type { Limit } from './errors.ts'
import { TimeLimit } from './limits.ts'
import { sizeOf } from './part-size.ts'
import type { PartKind } from './target-options.ts'

// what is held back before the first content; then the stream commits all the same
const MOST_PARTS = 64
const MOST_BYTES = 256 * 1024

const DONE = { done: true, value: undefined } as const

interface PendingRead<Part> {
  resolve(result: IteratorResult<Part, undefined>): void
  reject(error: unknown): void
}

/**
 * An attempt whose answer comes in parts. Parts are held until the first content, then the stream commits and the reader
 * pulls: success is recorded at the terminal part, and a failure reaches the reader as an error, never as a clean end.
 */
export class StreamAttempt<Request, Result, Part> extends Attempt<
  Request,
  Result,
  Part,
  StreamAttempt<Request, Result, Part>
> {
  #iterator: AsyncIterator<Part> | undefined
  #held: Part[] = []
  #heldBytes = 0
  #received = 0
  #delivered = 0
  #committed = false
  #completed = false
  #firstContentMs: number | undefined
  #read: PendingRead<Part> | undefined
  #broken: { readonly error: unknown } | undefined
  readonly #firstContent = new TimeLimit(() => this.timeOut('first_content_timeout', this.on.firstContent))
  readonly #idle = new TimeLimit(() => this.#idled())

  override begin(): void {
    this.on.timeout?.add(this)
    this.on.firstContent?.begin(this.#firstContent, this.startedAt)
    const { stream } = this.on.options
    if (stream === undefined)
      return this.fail(new TypeError(`'${this.target}' has no stream; it can only answer in one piece.`))
    let opening: AsyncIterable<Part> | PromiseLike<AsyncIterable<Part>>
    try {
      opening = stream(this.run.request, this)
    } catch (error) {
      return this.fail(error)
    }
    Promise.resolve(opening).then(
      (parts) => this.#opened(parts),
      (error: unknown) => this.fail(error),
    )
  }

  #opened(parts: AsyncIterable<Part>): void {
    try {
      this.#iterator = parts[Symbol.asyncIterator]()
    } catch (error) {
      return this.fail(error)
    }
    if (this.ended) this.#release()
    else this.#pull()
  }

  #pull(): void {
    let next: Promise<IteratorResult<Part, unknown>>
    try {
      next = Promise.resolve(this.#iterator!.next())
    } catch (error) {
      return this.#failedToRead(error)
    }
    next.then(
      (step) => this.#step(step),
      (error: unknown) => this.#failedToRead(error),
    )
  }

  #step(step: IteratorResult<Part, unknown>): void {
    if (typeof step !== 'object' || step === null)
      this.#failedToRead(new TypeError('The iterator gave no result object.'))
    else if (step.done === true) this.#endOfParts()
    else this.#take(step.value)
  }

  #failedToRead(error: unknown): void {
    // what comes after the answer is complete cannot fail it any more
    if (this.#completed) this.#read?.resolve(DONE)
    else this.fail(error)
  }

  #kindOf(part: Part): PartKind {
    const { classifyPart } = this.on.options
    if (classifyPart === undefined) return 'content'
    let kind: PartKind = 'content'
    this.run.gear.notifier.guard('classifyPart', () => {
      kind = classifyPart(part)
    })
    return kind
  }

  #take(part: Part): void {
    if (this.#completed) return this.#deliver(part)
    if (this.ended) return
    this.queue?.remove(this)
    this.#received++
    const kind = this.#kindOf(part)
    if (kind === 'error')
      return this.fail(new StreamInterruptedError(this.#delivered, { ...this.#names, cause: part }))
    if (kind === 'terminal') return this.#complete(part)
    if (kind === 'content') this.#hasContent()
    if (this.#committed) return this.#deliver(part, kind !== 'keepalive')
    if (kind !== 'keepalive') this.#hold(part)
    if (kind === 'content' || this.#held.length >= MOST_PARTS || this.#heldBytes >= MOST_BYTES) this.#commit()
    else this.#pull()
  }

  #hold(part: Part): void {
    this.#held.push(part)
    this.#heldBytes += sizeOf(part)
  }

  #hasContent(): void {
    const now = this.run.gear.clock.now()
    this.run.renew(now)
    if (this.#firstContentMs !== undefined) return
    this.#firstContentMs = now - this.startedAt
    this.on.stats.firstContent.add(this.#firstContentMs)
    this.#firstContent.queue?.remove(this.#firstContent)
  }

  #commit(): void {
    this.#committed = true
    this.run.streamCommitted(this)
  }

  #complete(part: Part | undefined): void {
    if (this.#firstContentMs === undefined) return this.failAs('empty_response', 'ERR_EMPTY_RESPONSE')
    this.#completed = true
    this.end()
    this.run.attemptSucceeded(this, this.#firstContentMs)
    if (part === undefined) this.#read?.resolve(DONE)
    else this.#deliver(part)
  }

  #endOfParts(): void {
    if (this.#completed) return void this.#read?.resolve(DONE)
    if (this.ended) return
    const marked = this.on.options.classifyPart !== undefined
    if (this.#received === 0) this.failAs('empty_response', 'ERR_EMPTY_RESPONSE')
    else if (marked) this.failAs('truncated_stream', 'ERR_TRUNCATED_STREAM')
    else this.#complete(undefined)
  }

  #deliver(part: Part, signOfLife = true): void {
    if (signOfLife) this.#idle.queue?.remove(this.#idle)
    this.#delivered++
    this.#read?.resolve({ done: false, value: part })
  }

  /** The next part for the reader. One read at a time. */
  read(): Promise<IteratorResult<Part, undefined>> {
    const held = this.#held.shift()
    if (held !== undefined) {
      this.#delivered++
      return Promise.resolve({ done: false, value: held })
    }
    if (this.#broken !== undefined) return Promise.reject(this.#broken.error)
    return new Promise((resolve, reject) => {
      const over =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          this.#read = undefined
          then(value)
        }
      this.#read = { resolve: over(resolve), reject: over(reject) }
      if (!this.#completed && this.#firstContentMs !== undefined && this.#idle.queue === undefined) {
        this.on.idle?.begin(this.#idle, this.run.gear.clock.now())
      }
      this.#pull()
    })
  }

  #idled(): void {
    if (this.#read !== undefined) this.timeOut('idle_timeout', this.on.idle)
  }

  get #names() {
    return { target: this.target, model: this.model }
  }

  protected override fail(error: unknown, ownLimit?: Limit): void {
    if (this.ended) return
    if (!this.#committed) {
      super.fail(error, ownLimit)
      return this.#release()
    }
    this.#interrupt(error, this.verdictOf(error, ownLimit))
  }

  protected override failWith(error: Error, verdict: Verdict): void {
    if (this.#committed) this.#interrupt(error, verdict)
    else super.failWith(error, verdict)
  }

  #interrupt(error: unknown, verdict: Verdict): void {
    if (this.ended) return
    this.end()
    const told =
      error instanceof StreamInterruptedError
        ? error
        : new StreamInterruptedError(this.#delivered, { ...this.#names, cause: error })
    this.run.attemptFailed(told, verdict)
    this.#break(told)
  }

  override cut(reason: unknown): void {
    if (this.ended) return
    super.cut(reason)
    this.#break(reason)
  }

  #break(error: unknown): void {
    this.#broken = { error }
    this.#read?.reject(error)
    this.#release()
  }

  protected override end(): void {
    super.end()
    this.#firstContent.queue?.remove(this.#firstContent)
    this.#idle.queue?.remove(this.#idle)
  }

  /** The reader wants no more: the source is told, too. */
  release(): void {
    this.#read?.resolve(DONE)
    this.#release()
  }

  #release(): void {
    const iterator = this.#iterator
    this.#iterator = { next: () => Promise.resolve(DONE) }
    try {
      // a generator that waits for its source answers only when the source does
      Promise.resolve(iterator?.return?.()).catch(() => {})
    } catch {
      // it is over either way
    }
  }
}
