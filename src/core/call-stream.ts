import { ConfigError } from './errors.ts'
import type { Gear } from './gear.ts'
import { Run } from './run.ts'
import { StreamAttempt } from './stream-attempt.ts'
import type { CallOptions } from './switchgear-options.ts'
import type { Target } from './target.ts'

const DONE = { done: true, value: undefined } as const

/** The reader's side of a streamed call. Nothing is sent before the first read. */
export class CallStream<Request, Result, Part> implements AsyncIterableIterator<Part, undefined> {
  #gear: Gear<Request, Result, Part>
  readonly #request: Request
  readonly #options: CallOptions
  #run: Run<Request, Result, Part, StreamAttempt<Request, Result, Part>> | undefined
  #committed: Promise<StreamAttempt<Request, Result, Part>> | undefined
  #attempt: StreamAttempt<Request, Result, Part> | undefined
  #last: Promise<unknown> = Promise.resolve()
  /** Reads asked for and not answered. */
  #reads = 0
  #left = false

  constructor(gear: Gear<Request, Result, Part>, request: Request, options: CallOptions) {
    this.#gear = gear
    this.#request = request
    this.#options = options
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Part, undefined>> {
    // hardly anybody asks for two at a time, and waiting in line costs three promises a part
    const read = this.#reads === 0 ? this.#next() : this.#nextInLine()
    this.#reads++
    this.#last = read
    return read
  }

  #nextInLine(): Promise<IteratorResult<Part, undefined>> {
    const ask = () => this.#next()
    return this.#last.then(ask, ask)
  }

  async #next(): Promise<IteratorResult<Part, undefined>> {
    try {
      if (this.#left) return DONE
      this.#attempt ??= await (this.#committed ??= this.#start())
      const part = await this.#attempt.read()
      if (part.done === true) this.#left = true
      return this.#left ? DONE : part
    } catch (error) {
      // a reader that has left is told nothing more; after an error the stream is over
      if (this.#left) return DONE
      this.#left = true
      throw error
    } finally {
      this.#reads--
    }
  }

  #start(): Promise<StreamAttempt<Request, Result, Part>> {
    this.#gear = this.#gear.latest
    const obstacle = this.#gear.obstacleTo(this.#options)
    if (obstacle !== undefined) return Promise.reject(obstacle.error)
    if (this.#gear.targets.every(({ options }) => options.stream === undefined)) {
      const hint = 'Give stream to the targets, or use call().'
      return Promise.reject(new ConfigError('No target can stream.', { path: 'targets', hint }))
    }
    return new Promise((resolve, reject) => {
      const run = new Run<Request, Result, Part, StreamAttempt<Request, Result, Part>>(
        this.#gear,
        this.#request,
        this.#options,
        beginStream,
      )
      run.resolve = resolve
      run.reject = reject
      this.#run = run
      run.start()
    })
  }

  /** The reader leaves: the upstream is cancelled, and nothing is held against it. Does not wait for a pending read. */
  return(): Promise<IteratorResult<Part, undefined>> {
    this.#left = true
    this.#run?.leave(new DOMException('The reader has left.', 'AbortError'))
    this.#attempt?.release()
    return Promise.resolve(DONE)
  }

  throw(error: unknown): Promise<IteratorResult<Part, undefined>> {
    void this.return()
    return Promise.reject(error)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }
}

function beginStream<Request, Result, Part>(
  run: Run<Request, Result, Part, StreamAttempt<Request, Result, Part>>,
  target: Target<Request, Result, Part>,
  attempt: number,
  now: number,
): StreamAttempt<Request, Result, Part> {
  return new StreamAttempt(run, target, run.model, attempt, now)
}
