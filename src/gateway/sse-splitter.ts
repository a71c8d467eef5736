import { UpstreamError } from './upstream-error.ts'

const LF = 10
const CR = 13
// an event that never ends would fill the memory
const MOST_BYTES = 16 * 1024 * 1024

/** Cuts a stream of bytes into server-sent events, each with the blank line that ends it. */
export class SseSplitter {
  #rest: Buffer[] = []
  #restBytes = 0

  push(chunk: Buffer): Buffer[] {
    const joined = this.#restBytes === 0
    const bytes = joined ? chunk : Buffer.concat([...this.#rest, chunk])
    const events: Buffer[] = []
    let start = 0
    // a blank line may lie across the seam
    let line = joined ? 0 : Math.max(0, this.#restBytes - 3)
    for (let at = bytes.indexOf(LF, line); at >= 0; at = bytes.indexOf(LF, at + 1)) {
      const before = bytes[at - 1] === CR ? at - 2 : at - 1
      if (before < start || bytes[before] !== LF) continue
      events.push(bytes.subarray(start, at + 1))
      start = at + 1
    }
    line = bytes.length - start
    this.#rest = line === 0 ? [] : [bytes.subarray(start)]
    this.#restBytes = line
    if (line > MOST_BYTES) throw new UpstreamError(200, {}, 'an event without an end')
    return events
  }

  /** What stands there without a blank line when the stream is over. */
  rest(): Buffer[] {
    const rest = this.#rest
    this.#rest = []
    this.#restBytes = 0
    return rest
  }
}

/** Name and data of an event; no data = a comment, or nothing at all. */
export function dataOf(event: Buffer): { name: string | undefined; data: string | undefined } {
  let name: string | undefined
  let data: string | undefined
  for (const line of event.toString('utf8').split(/\r?\n/)) {
    if (line.startsWith('data:')) {
      const value = line.slice(line[5] === ' ' ? 6 : 5)
      data = data === undefined ? value : `${data}\n${value}`
    } else if (line.startsWith('event:')) {
      name = line.slice(6).trim()
    }
  }
  return { name, data: data?.trim() === '' ? undefined : data?.trim() }
}
