import type { ServerResponse } from 'node:http'

const MOST_BEHIND_BYTES = 1024 * 1024
const LONGEST_STALL_MS = 15_000

/** One page that watches. What it does not read is dropped; once it reads again it gets a new picture. */
export class Viewer {
  /** False once it may see nothing any more. */
  readonly isWelcome: () => boolean
  readonly #response: ServerResponse
  #missed: number | undefined
  #stalledAt: number | undefined

  constructor(response: ServerResponse, isWelcome: () => boolean) {
    this.#response = response
    this.isWelcome = isWelcome
    // the connection may break between two writes; its end is heard of elsewhere
    response.on('error', () => {})
  }

  /** Sends `text`, which tells of so many events, or drops it. */
  send(text: string, events: number): void {
    if (this.#missed === undefined && this.#response.writableLength <= MOST_BEHIND_BYTES) {
      this.#response.write(text)
    } else {
      this.#missed = (this.#missed ?? 0) + events
    }
  }

  /** Sends what `picture` makes of the number of events that it missed, once there is room again. */
  catchUp(picture: (missed: number) => string): void {
    if (this.#missed === undefined || this.#response.writableLength > 0) return
    const text = picture(this.#missed)
    this.#missed = undefined
    this.#response.write(text)
  }

  /** It has not read for too long. */
  isLost(now: number): boolean {
    if (this.#response.writableLength === 0) {
      this.#stalledAt = undefined
      return false
    }
    this.#stalledAt ??= now
    return now - this.#stalledAt >= LONGEST_STALL_MS
  }

  drop(): void {
    this.#response.destroy()
  }
}
