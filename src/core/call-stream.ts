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
  #reading = false
  /** Reads asked for while another one is under way. */
  readonly #line: (() => void)[] = []
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
    // known before it begins: whatever it calls may read on
    if (this.#reading) return new Promise<void>((turn) => this.#line.push(turn)).then(() => this.#next())
    this.#reading = true
    return this.#next()
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
      const turn = this.#line.shift()
      if (turn === undefined) this.#reading = false
      else turn()
    }
  }

  #start(): Promise<StreamAttempt<Request, Result, Part>> {
    this.#gear = this.#gear.latest
    const obstacle = this.#gear.obstacleTo(this.#options)
    if (obstacle !== undefined) return Promise.reject(obstacle.error)
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
      run.start(this.#gear.faults.stream)
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
