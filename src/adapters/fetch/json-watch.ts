import { failureOfAnswer } from '../../classify/answer.ts'
import { isBag, isFilled, read } from '../../classify/safe-read.ts'
import { SwitchgearError } from '../../core/errors.ts'
import type { Visit } from './visit.ts'
import type { Watch } from './watch.ts'

/** Longest answer that is looked at, in bytes; a longer one is not empty. */
const LONGEST = 1024 * 1024

/** A JSON answer: success once it was read to its end and is an answer. Blank lines before it are keep-alives. */
export class JsonWatch implements Watch {
  readonly #visit: Visit
  readonly #known: boolean
  readonly #decoder = new TextDecoder()
  #text = ''
  #bytes = 0

  /** @param known We know what an answer of this endpoint looks like. */
  constructor(visit: Visit, known: boolean) {
    this.#visit = visit
    this.#known = known
    if (known) visit.limitBody()
  }

  push(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength
    if (bytes.some((byte) => byte > 0x20)) this.#visit.content()
    if (!this.#known) return
    this.#text = this.#bytes > LONGEST ? '' : this.#text + this.#decoder.decode(bytes, { stream: true })
  }

  end(): undefined {
    this.#judge()
    return undefined
  }

  #judge(): void {
    if (!this.#known || this.#bytes > LONGEST) return this.#visit.succeed()
    const body = parse(this.#text + this.#decoder.decode())
    const error = read(body, 'error')
    if (isBag(error) || isFilled(error)) return this.#visit.fail(body)
    const failure = body === undefined ? 'malformed_response' : failureOfAnswer(body)
    if (failure === undefined) return this.#visit.succeed()
    const { bucket: target, model } = this.#visit.place
    const text = `'${target}' gave an answer that is none (${failure}).`
    this.#visit.failAs(failure, new SwitchgearError('ERR_EMPTY_RESPONSE', text, { target, model }))
  }
}

/** Undefined where it is no JSON. An empty body is null: no answer rather than a broken one. */
function parse(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
