import type { ServerResponse } from 'node:http'

import type { Clock } from '../../core/clock.ts'
import type { LimitQueue, Limited } from '../../core/limits.ts'
import type { Hangup } from '../hangup.ts'

const HEAD = ['cache-control', 'no-cache', 'x-accel-buffering', 'no']
const SSE_TYPE = ['content-type', 'text/event-stream; charset=utf-8']
const KEEP_ALIVE = ': keep-alive\n\n'
const NOTHING = Buffer.alloc(0)

/** The client's side of a streamed answer: its head, its events, and comments while nothing else comes. */
export class ClientStream implements Limited {
  startedAt = 0
  previous: Limited | undefined
  next: Limited | undefined
  queue: LimitQueue | undefined
  readonly #response: ServerResponse
  readonly #clock: Clock
  readonly #keepAlive: LimitQueue
  readonly #call: string
  #wrote = false
  #isOpen = false
  #last: Buffer = NOTHING

  /** @param call The id of the call: all that can be told before somebody answers. */
  constructor(
    response: ServerResponse,
    call: string,
    { clock, keepAlive }: { readonly clock: Clock; readonly keepAlive: LimitQueue },
  ) {
    this.#response = response
    this.#call = call
    this.#clock = clock
    this.#keepAlive = keepAlive
    keepAlive.begin(this, clock.now())
  }

  /** The status is out: what fails now is an event. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Sends the head. */
  open(headers: readonly string[]): void {
    this.#isOpen = true
    const type = headers.includes('content-type') ? [] : SSE_TYPE
    this.#response.writeHead(200, [...type, ...headers, ...HEAD])
  }

  /** The last events that were given to it. */
  get last(): string {
    return this.#last.toString('latin1')
  }

  /** False = the client has not taken what it was given before. */
  write(bytes: Buffer): boolean {
    if (bytes.length === 0) return !this.#response.writableNeedDrain
    this.#wrote = true
    this.#last = bytes
    return this.#response.write(bytes)
  }

  /** Waits until the client has taken it, for `ms` at most; true = it has. */
  async drained(ms: number, hangup: Hangup): Promise<boolean> {
    const turn = Promise.withResolvers<void>()
    const wake = { handleEvent: () => turn.resolve() }
    const timer = this.#clock.setTimeout(turn.resolve, ms)
    this.#response.once('drain', turn.resolve)
    hangup.addEventListener('abort', wake)
    await turn.promise
    this.#clock.clearTimeout(timer)
    this.#response.off('drain', turn.resolve)
    hangup.removeEventListener('abort', wake)
    return !this.#response.writableNeedDrain
  }

  end(event?: string): void {
    this.close()
    this.#response.end(event)
  }

  /** No comments any more. */
  close(): void {
    this.queue?.remove(this)
  }

  /** Nothing has come for a while. */
  expire(): void {
    if (!this.#wrote && !this.#response.writableNeedDrain) {
      if (!this.#isOpen) this.open(['x-switchgear-call', this.#call])
      this.#response.write(KEEP_ALIVE)
    }
    this.#wrote = false
    this.#keepAlive.begin(this, this.#clock.now())
  }
}
