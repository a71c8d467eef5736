import { isBag, read } from '../../classify/safe-read.ts'
import { classifyEvent, failureOfStreamEnd, hasContent } from '../../classify/stream-parts.ts'
import type { StreamPart } from '../../classify/stream-parts.ts'
import { SwitchgearError } from '../../core/errors.ts'
import { SseScanner } from './sse-scanner.ts'
import type { SseEvent } from './sse-scanner.ts'
import type { Visit } from './visit.ts'
import type { Watch } from './watch.ts'

/** An event stream: success at the event that completes the answer, truncated without one. */
export class SseWatch implements Watch {
  readonly #visit: Visit
  readonly #known: boolean
  readonly #scanner = new SseScanner((event) => this.#take(event))
  #content = false
  #unsure = false
  broken: Error | undefined

  /** @param known The endpoint is known to answer as a model; elsewhere only content shows that the stream is one. */
  constructor(visit: Visit, known: boolean) {
    this.#visit = visit
    this.#known = known
    if (known) visit.limitBody()
  }

  push(bytes: Uint8Array): void {
    this.#scanner.push(bytes)
  }

  end(): Error | undefined {
    this.#scanner.end()
    if (this.#visit.settled) return this.broken
    if (this.#unsure || !(this.#known || this.#content)) return void this.#visit.succeed(true)
    const error = this.#error('ERR_TRUNCATED_STREAM', 'ended its stream before the answer was complete')
    this.#visit.failAs('truncated_stream', error)
    return error
  }

  #take(event: SseEvent): void {
    if (this.#visit.settled) return
    const data = parse(event.data)
    const part = this.#partOf(event, data)
    if (part === 'keepalive') return
    if (this.#known && part !== 'content' && isBroken(event, data)) return this.#malformed()
    this.#visit.alive()
    if (part === 'content' || (!this.#content && hasContent(data))) this.#hasContent()
    if (part === 'error') this.#visit.fail(data)
    if (part === 'terminal') this.#complete(data)
  }

  #partOf({ name, data, oversized }: SseEvent, parsed: unknown): StreamPart {
    if (oversized) {
      // it may have been the last one
      this.#unsure = true
      return 'content'
    }
    // an answer of JSON-RPC, errors included, is no answer of a model
    if (isBag(parsed) && read(parsed, 'jsonrpc') !== undefined) return 'preamble'
    if (name === 'error' && data !== undefined) return 'error'
    return classifyEvent(parsed)
  }

  #hasContent(): void {
    this.#content = true
    this.#visit.limitBody()
    this.#visit.content()
  }

  #complete(terminal: unknown): void {
    const failure = this.#known ? failureOfStreamEnd({ content: this.#content, terminal }) : undefined
    if (failure === undefined) return this.#visit.succeed(true)
    this.#visit.failAs(failure, this.#error('ERR_EMPTY_RESPONSE', `gave an answer that is none (${failure})`))
  }

  /** An SDK throws at it and leaves; nobody would ever see the end. */
  #malformed(): void {
    this.broken = this.#error('ERR_TRUNCATED_STREAM', 'sent an event that is no JSON')
    this.#visit.failAs('malformed_response', this.broken)
  }

  #error(code: 'ERR_TRUNCATED_STREAM' | 'ERR_EMPTY_RESPONSE', text: string): SwitchgearError {
    const { bucket: target, model } = this.#visit.place
    return new SwitchgearError(code, `'${target}' ${text}.`, { target, model })
  }
}

const isBroken = ({ data }: SseEvent, parsed: unknown) =>
  typeof parsed === 'string' && data !== undefined && data.trimStart().startsWith('{')

/** The JSON, or the text where it is none. */
function parse(data: string | undefined): unknown {
  if (data === undefined) return undefined
  try {
    return JSON.parse(data)
  } catch {
    return data
  }
}
