/** One event of an event stream. A block of comments alone is none. */
export interface SseEvent {
  /** The field `event`; empty where there is none. */
  readonly name: string
  /** The lines of `data`, joined; undefined where there is none, or where it was too long to be looked at. */
  readonly data: string | undefined
  /** The data was too long to be looked at. */
  readonly oversized: boolean
}

/** Longest data that is looked at, in characters. */
const LONGEST = 8 * 1024 * 1024

/**
 * Finds the events in the bytes of an event stream, however they are cut into chunks. It only reads: nothing is held
 * but the event that is not complete yet.
 */
export class SseScanner {
  readonly #onEvent: (event: SseEvent) => void
  readonly #longest: number
  readonly #decoder = new TextDecoder()
  #line = ''
  #lineIsBlank = true
  #afterReturn = false
  #name = ''
  #data: string | undefined
  #oversized = false

  constructor(onEvent: (event: SseEvent) => void, longest = LONGEST) {
    this.#onEvent = onEvent
    this.#longest = longest
  }

  push(bytes: Uint8Array): void {
    this.#take(this.#decoder.decode(bytes, { stream: true }))
  }

  /** The stream is over. SDKs also read a last event that no blank line ends, so it is one here. */
  end(): void {
    this.#take(this.#decoder.decode())
    if (!this.#lineIsBlank) this.#endLine()
    this.#dispatch()
  }

  #take(text: string): void {
    let start = 0
    // a chunk may end between the CR and the LF of one line end
    if (this.#afterReturn && text !== '') {
      this.#afterReturn = false
      if (text.startsWith('\n')) start = 1
    }
    const ends = /\r\n?|\n/g
    ends.lastIndex = start
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      this.#add(text.slice(start, end.index))
      this.#endLine()
      start = ends.lastIndex
      this.#afterReturn = end[0] === '\r' && start === text.length
    }
    this.#add(text.slice(start))
  }

  #add(text: string): void {
    if (text === '') return
    this.#lineIsBlank = false
    if (this.#line.length + (this.#data?.length ?? 0) + text.length > this.#longest) this.#oversized = true
    this.#line = this.#oversized ? '' : this.#line + text
  }

  #endLine(): void {
    const line = this.#line
    this.#line = ''
    if (this.#lineIsBlank) this.#dispatch()
    else if (!this.#oversized) this.#field(line)
    this.#lineIsBlank = true
  }

  #field(line: string): void {
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const raw = colon === -1 ? '' : line.slice(colon + 1)
    const value = raw.startsWith(' ') ? raw.slice(1) : raw
    if (field === 'event') this.#name = value
    if (field === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
  }

  #dispatch(): void {
    const oversized = this.#oversized
    const event = { name: this.#name, data: oversized ? undefined : this.#data, oversized }
    this.#name = ''
    this.#data = undefined
    this.#oversized = false
    if (event.name !== '' || event.data !== undefined || oversized) this.#onEvent(event)
  }
}
