import type { ServerResponse } from 'node:http'

const MOST_BEHIND_BYTES = 256 * 1024
const LONGEST_STALL_MS = 15_000

/** One reader of the live events. Nothing is kept for it but what its connection still holds. */
export class Viewer {
  readonly who: string
  /** False once its token is out of use. */
  readonly isWelcome: () => boolean
  readonly #response: ServerResponse
  #stalledAt: number | undefined
  #behind = 0

  constructor(who: string, isWelcome: () => boolean, response: ServerResponse) {
    this.who = who
    this.isWelcome = isWelcome
    this.#response = response
    // the connection may break between two writes; its end is heard of elsewhere
    response.on('error', () => {})
  }

  /** Sends what a later one makes up for: nothing, while an earlier one is still under way. */
  sendState(text: string, now: number): void {
    if (this.#isBehind(now)) return
    this.#response.write(text)
  }

  /** Sends what must not be left out. */
  send(text: string, now: number): void {
    if (this.#isBehind(now)) this.#behind += Buffer.byteLength(text)
    this.#response.write(text)
  }

  /** It has not read for too long, or missed too much. */
  isLost(now: number): boolean {
    if (!this.#isBehind(now)) return false
    return this.#behind > MOST_BEHIND_BYTES || now - this.#stalledAt! >= LONGEST_STALL_MS
  }

  /** Ends the stream in order, or at once where the end would not be read either. */
  end(): void {
    if (this.#response.writableLength === 0) this.#response.end()
    else this.drop()
  }

  drop(): void {
    this.#response.destroy()
  }

  #isBehind(now: number): boolean {
    if (this.#response.writableLength === 0) {
      this.#stalledAt = undefined
      this.#behind = 0
      return false
    }
    this.#stalledAt ??= now
    return true
  }
}
