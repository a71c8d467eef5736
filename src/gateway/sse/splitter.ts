import { UpstreamError } from '../upstream-error.ts'

// an event that never ends would fill the memory
const MOST_BYTES = 16 * 1024 * 1024

const LF = 10
const CR = 13

/** Some events as they came, each with the blank line that ends it. */
export interface SseBlock {
  readonly bytes: Buffer
  /** The same as Latin-1: a character a byte. */
  readonly text: string
  /** Where each event ends. */
  readonly ends: readonly number[]
}

/**
 * Cuts a stream of bytes into server-sent events, with line ends of any kind. Every byte is looked at once and copied
 * once at most, however many chunks an event comes in.
 */
export class SseSplitter {
  #bytes: Buffer[] = []
  #text = ''
  /** Nothing stands on the present line yet. */
  #blank = true
  #afterReturn = false
  /** The line that ended with the last CR was blank; an LF may belong to it. */
  #endsHere = false
  #usesBoth = false

  /** The events that are complete with this chunk; undefined = none. */
  push(chunk: Buffer): SseBlock | undefined {
    const text = chunk.toString('latin1')
    const ends = this.#afterReturn || text.includes('\r') ? this.#scanAll(text) : this.#scan(text)
    const last = ends.at(-1)
    if (last === undefined) {
      this.#hold(chunk, text)
      if (this.#text.length > MOST_BYTES) throw new UpstreamError(200, {}, 'an event without an end')
      return undefined
    }
    if (last === text.length && this.#text === '') return { bytes: chunk, text, ends }
    const block = this.#complete(chunk, text, ends, last)
    if (last < text.length) this.#hold(chunk.subarray(last), text.slice(last))
    return block
  }

  /** What stands there without a blank line when the stream is over. */
  rest(): SseBlock | undefined {
    const bytes = Buffer.concat(this.#bytes)
    const text = this.#text
    this.#bytes = []
    this.#text = ''
    return text === '' ? undefined : { bytes, text, ends: [text.length] }
  }

  #complete(chunk: Buffer, text: string, ends: readonly number[], last: number): SseBlock {
    const held = this.#text.length
    const end = chunk.subarray(0, last)
    if (held === 0) return { bytes: end, text: text.slice(0, last), ends }
    const bytes = Buffer.concat([...this.#bytes, end])
    const whole = this.#text + text.slice(0, last)
    this.#bytes = []
    this.#text = ''
    return { bytes, text: whole, ends: ends.map((at) => at + held) }
  }

  #hold(bytes: Buffer, text: string): void {
    if (text === '') return
    this.#bytes.push(bytes)
    this.#text += text
  }

  #scan(text: string): number[] {
    const ends: number[] = []
    let start = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
      if (this.#blank && at === start) ends.push(at + 1)
      this.#blank = true
      start = at + 1
    }
    if (start < text.length) this.#blank = false
    return ends
  }

  #scanAll(text: string): number[] {
    const ends: number[] = []
    for (let at = 0; at < text.length; at++) {
      const char = text.charCodeAt(at)
      if (this.#afterReturn) {
        this.#afterReturn = false
        if (char === LF) this.#usesBoth = true
        if (this.#endsHere) ends.push(char === LF ? at + 1 : at)
        this.#endsHere = false
        if (char === LF) continue
      }
      if (char === LF && this.#blank) ends.push(at + 1)
      if (char === CR) {
        this.#afterReturn = true
        this.#endsHere = this.#blank
      }
      this.#blank = char === LF || char === CR
    }
    // who ends lines with CR alone would wait for the next event in vain
    if (this.#endsHere && !this.#usesBoth) {
      ends.push(text.length)
      this.#endsHere = false
    }
    return ends
  }
}
