import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

import type { Clock } from '../core/clock.ts'
import type { LimitQueue, Limited } from '../core/limits.ts'

const HEAD = ['cache-control', 'no-cache', 'x-accel-buffering', 'no']
const SSE_TYPE = ['content-type', 'text/event-stream; charset=utf-8']
const KEEP_ALIVE = ': keep-alive\n\n'
const NOTHING = Buffer.alloc(0)
// what one turn may gather
const MOST_PENDING_BYTES = 16 * 1024

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
  #pending: Buffer[] = []
  #pendingBytes = 0
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

  /** Takes events; those of one turn go out together. False = the client has not taken what it was given before. */
  write(bytes: Buffer): boolean {
    if (bytes.length > 0) {
      this.#wrote = true
      this.#last = bytes
      if (this.#pendingBytes === 0) process.nextTick(this.#flush)
      this.#pending.push(bytes)
      this.#pendingBytes += bytes.length
      if (this.#pendingBytes > MOST_PENDING_BYTES) this.#flush()
    }
    return !this.#response.writableNeedDrain
  }

  readonly #flush = (): void => {
    if (this.#pendingBytes > 0) this.#response.write(this.#taken())
  }

  #taken(): Buffer {
    const bytes = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending)
    this.#pending = []
    this.#pendingBytes = 0
    return bytes
  }

  /** Waits until the client has taken it, for `ms` at most; true = it has. */
  async drained(ms: number, signal: AbortSignal): Promise<boolean> {
    const late = new AbortController()
    const timer = this.#clock.setTimeout(() => late.abort(), ms)
    const hurry = () => late.abort()
    signal.addEventListener('abort', hurry, { once: true })
    try {
      await once(this.#response, 'drain', { signal: late.signal })
    } catch {
      // not yet
    } finally {
      this.#clock.clearTimeout(timer)
      signal.removeEventListener('abort', hurry)
    }
    return !this.#response.writableNeedDrain
  }

  end(event = ''): void {
    this.close()
    if (event !== '') this.write(Buffer.from(event))
    this.#response.end(this.#taken())
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
