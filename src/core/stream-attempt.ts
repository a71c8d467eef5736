import { KnownParts, failureOfKnownEnd } from '../classify/known-parts.ts'
import type { Verdict } from '../classify/verdict.ts'
import { Attempt } from './attempt.ts'
import { reasonOf, unlisten } from './caller-signal.ts'
import { StreamInterruptedError } from './errors.ts'
import type { Limit } from './errors.ts'
import { sizeOf } from './part-size.ts'
import { ReadLimit } from './read-limit.ts'
import type { PartKind } from './target-options.ts'

// what is held back before the first content; then the stream commits all the same
const MOST_PARTS = 64
const MOST_BYTES = 256 * 1024

const DONE = { done: true, value: undefined } as const
const OVER: AsyncIterator<never> = { next: () => Promise.resolve(DONE) }

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
  /** Made at the first part that is an object, where nobody else says what a part is. */
  #known: KnownParts | undefined
  #read: PendingRead<Part> | undefined
  /** What the reader is told once it has all that came before. */
  #broken: (() => unknown) | undefined
  /** Until the first content, then from one part to the next. */
  readonly #patience = new ReadLimit(this.run.gear.clock, () => this.#waitedTooLong())

  override begin(): void {
    this.on.timeout?.add(this)
    this.#patience.begin(this.on.firstContent, this.startedAt)
    const { stream } = this.on.options
    if (stream === undefined)
      return this.fail(new TypeError(`'${this.target}' has no stream; it can only answer in one piece.`))
    try {
      Promise.resolve(stream(this.run.request, this)).then(
        (parts) => this.#opened(parts),
        (error: unknown) => this.fail(error),
      )
    } catch (error) {
      this.fail(error)
    }
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
    try {
      Promise.resolve(this.#iterator!.next()).then(
        (step) => this.#step(step),
        (error: unknown) => this.#failedToRead(error),
      )
    } catch (error) {
      this.#failedToRead(error)
    }
  }

  #step(step: IteratorResult<Part, unknown>): void {
    let part: Part
    try {
      // an iterator of somebody else's may give anything, getters included
      if (typeof step !== 'object' || step === null)
        throw new TypeError('The iterator gave no result object.')
      if (step.done === true) return this.#endOfParts()
      part = step.value as Part
    } catch (error) {
      return this.#failedToRead(error)
    }
    this.#take(part)
  }

  #failedToRead(error: unknown): void {
    // what comes after the answer is complete cannot fail it any more
    if (this.#completed) this.#finish()
    else this.fail(error)
  }

  #kindOf(part: Part): PartKind {
    const { classifyPart } = this.on.options
    if (classifyPart === undefined) return this.#kindByShape(part) ?? 'content'
    return this.run.gear.notifier.ask('classifyPart', () => classifyPart(part)) ?? 'content'
  }

  #kindByShape(part: Part): PartKind | undefined {
    if (this.#known === undefined) {
      if (typeof part !== 'object' || this.on.options.surface === 'tool') return undefined
      this.#known = new KnownParts()
    }
    return this.#known.kindOf(part)
  }

  #take(part: Part): void {
    if (this.#completed) return this.#deliver(part)
    if (this.ended) return
    this.queue?.remove(this)
    this.#received++
    const kind = this.#kindOf(part)
    if (kind === 'error') return this.#failedPart(part)
    if (kind === 'terminal') return this.#complete(part)
    if (kind === 'content') this.#hasContent()
    if (this.#committed)
      return this.#deliver(part, kind !== 'keepalive' && this.#firstContentMs !== undefined)
    if (kind !== 'keepalive') this.#hold(part)
    if (kind === 'content' || this.#held.length >= MOST_PARTS || this.#heldBytes >= MOST_BYTES) this.#commit()
    else this.#pull()
  }

  #failedPart(part: Part): void {
    if (this.#committed) return this.#interrupt(part, this.verdictOf(part))
    const error = new StreamInterruptedError(0, { ...this.#names, cause: part })
    // a part of a known shape says more of itself than the error around it
    if (this.#known === undefined) this.fail(error)
    else this.failWith(error, this.verdictOf(part))
  }

  #hold(part: Part): void {
    this.#held.push(part)
    this.#heldBytes += sizeOf(part)
  }

  #hasContent(): void {
    const now = this.run.gear.clock.now()
    this.run.renew(now)
    if (this.#firstContentMs !== undefined) return
    this.#firstContentMs = this.#patience.waitedMs(now)
    this.on.stats.firstContent.add(this.#firstContentMs)
  }

  #commit(): void {
    this.#committed = true
    this.#patience.end(this.#firstContentMs !== undefined)
    this.run.streamCommitted(this)
  }

  /** The parts of a known shape are over, and none of them was content: how it ended may say that this is all the same. */
  #endWithoutContent(terminal: unknown): void {
    const failure = failureOfKnownEnd(terminal)
    if (failure !== undefined) return this.failAs(failure, 'ERR_EMPTY_RESPONSE')
    this.#hasContent()
    if (!this.#committed) this.#commit()
    if (!this.ended) this.#complete(undefined)
  }

  #complete(part: Part | undefined): void {
    if (this.#firstContentMs === undefined) return this.failAs('empty_response', 'ERR_EMPTY_RESPONSE')
    this.#completed = true
    this.end()
    this.run.attemptSucceeded(this, this.#firstContentMs)
    if (part === undefined) return this.#finish()
    this.#followCaller()
    this.#deliver(part)
  }

  /** The call has ended, its parts have not: whoever reads on can still hang up. */
  #followCaller(): void {
    const { gear, options } = this.run
    gear.notifier.guard('the signal', () => options.signal?.addEventListener('abort', this))
  }

  #unfollow(): void {
    unlisten(this.run.options.signal, this, this.run.gear.notifier)
  }

  /** The caller has hung up on an answer that is complete and not read to its end. */
  handleEvent(): void {
    this.#break(() => reasonOf(this.run.options.signal))
  }

  /** Nothing comes any more. */
  #finish(): void {
    this.#patience.end(true)
    this.#unfollow()
    this.#read?.resolve(DONE)
  }

  #endOfParts(): void {
    this.#iterator = OVER
    if (this.#completed) return this.#finish()
    if (this.ended) return
    const marked = this.on.options.classifyPart !== undefined || this.#known?.isTruncated === true
    const terminal = this.#known?.terminal
    if (this.#received === 0) this.failAs('empty_response', 'ERR_EMPTY_RESPONSE')
    else if (marked) this.failAs('truncated_stream', 'ERR_TRUNCATED_STREAM')
    else if (terminal !== undefined && this.#firstContentMs === undefined) this.#endWithoutContent(terminal)
    else this.#complete(undefined)
  }

  #deliver(part: Part, signOfLife = true): void {
    this.#patience.end(signOfLife)
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
    if (this.#broken !== undefined) return Promise.reject(this.#broken())
    return new Promise((resolve, reject) => {
      const over =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          this.#read = undefined
          then(value)
        }
      this.#read = { resolve: over(resolve), reject: over(reject) }
      const limit = this.#firstContentMs === undefined ? this.on.firstContent : this.on.idle
      this.#patience.begin(limit, this.run.gear.clock.now())
      this.#pull()
    })
  }

  #waitedTooLong(): void {
    // the answer is complete; what hangs on behind it is nobody's failure
    if (this.#completed) return this.release()
    if (this.#firstContentMs === undefined) this.timeOut('first_content_timeout', this.on.firstContent)
    else this.timeOut('idle_timeout', this.on.idle)
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
    if (this.#committed) return this.#interrupt(error, verdict)
    super.failWith(error, verdict)
    this.#release()
  }

  #interrupt(error: unknown, verdict: Verdict): void {
    if (this.ended) return
    // what the target took for it is the time to its first content, or the time that it was waited for
    const latencyMs = this.#firstContentMs ?? this.#patience.waitedMs(this.run.gear.clock.now())
    this.end()
    this.run.attemptFailed(error, verdict, latencyMs)
    this.#break(() => new StreamInterruptedError(this.#delivered, { ...this.#names, cause: error }))
  }

  override cut(reason: unknown): void {
    if (this.ended) return
    super.cut(reason)
    this.#break(() => reason)
  }

  #break(tell: () => unknown): void {
    this.#broken = tell
    this.#read?.reject(tell())
    this.#release()
  }

  protected override end(): void {
    super.end()
    this.#patience.end(true)
  }

  /** The reader wants no more: the source is told, too. */
  release(): void {
    this.#finish()
    this.#release()
  }

  #release(): void {
    const iterator = this.#iterator
    this.#iterator = OVER
    this.#unfollow()
    try {
      // a generator that waits for its source answers only when the source does
      Promise.resolve(iterator?.return?.()).catch(() => {})
    } catch {
      // it is over either way
    }
  }
}
