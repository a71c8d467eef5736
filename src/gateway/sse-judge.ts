import { hasRefusal } from '../classify/content.ts'
import { classifyEvent, failureOfStreamEnd, hasContent } from '../classify/stream-parts.ts'
import type { PartKind } from '../core/target-options.ts'
import { dataOf } from './sse-event.ts'
import type { SseBlock } from './sse-splitter.ts'
import { UpstreamError } from './upstream-error.ts'

/** Some events of a stream as they came, and what they are together. */
export class SsePart {
  readonly bytes: Buffer
  readonly kind: PartKind

  constructor(bytes: Buffer, kind: PartKind) {
    this.bytes = bytes
    this.kind = kind
  }

  /** For whoever measures how much is held back. */
  get byteLength(): number {
    return this.bytes.length
  }
}

export interface SseRules {
  /** How many choices the answer has; each ends in an event of its own. */
  readonly choices: number
  /** A refusal sends the call on to another target, so it is an error as long as nothing was delivered. */
  readonly refusalIsError: boolean
  /** Global; found in the text of every event that is more, or less, than content. */
  readonly telling: RegExp
}

/** What the judge says of some events: what may be passed on, and what is wrong behind it. */
export interface Judgement {
  readonly parts: readonly SsePart[]
  readonly wrong?: UpstreamError
}

/** Says what the events of one stream are to their reader. */
export class SseJudge {
  readonly #rules: SseRules
  readonly #endedChoices = new Set<unknown>()
  #content = false
  #complete = false

  constructor(rules: SseRules) {
    this.#rules = rules
  }

  judge({ bytes, text, ends }: SseBlock): Judgement {
    if (this.#complete) return { parts: [new SsePart(bytes, 'preamble')] }
    const parts = new Joined(bytes, this.#content)
    let start = 0
    let tells = -1
    for (const end of ends) {
      if (this.#content) {
        if (tells < start) tells = this.#nextTelling(text, start)
        if (end <= tells && isData(text, start, end)) {
          parts.add('content', end)
          start = end
          continue
        }
      }
      const wrong = this.#judgeEvent(parts, bytes, text, start, end)
      if (wrong !== undefined) return { parts: parts.end(), wrong }
      if (this.#complete) break
      start = end
    }
    return { parts: parts.end() }
  }

  #nextTelling(text: string, from: number): number {
    const { telling } = this.#rules
    telling.lastIndex = from
    return telling.exec(text)?.index ?? Infinity
  }

  #judgeEvent(
    parts: Joined,
    bytes: Buffer,
    text: string,
    start: number,
    end: number,
  ): UpstreamError | undefined {
    const { name, data } = dataOf(text.slice(start, end))
    const value = data === undefined || data === '[DONE]' ? data : parsed(data)
    // a text that is no JSON would break the client as well
    const kind = value === BROKEN || name === 'error' ? 'error' : this.#kindOf(value)
    if (kind === 'error' || (kind === 'terminal' && this.#isRefusedEnd(value))) {
      // only now the letters matter
      const told = dataOf(bytes.toString('utf8', start, end)).data ?? ''
      return new UpstreamError(200, {}, parsed(told, told))
    }
    if (kind === 'terminal') {
      if (this.#isWhole(value)) parts.add('content', end)
      this.#complete = true
      parts.add('terminal', bytes.length)
      return undefined
    }
    if (kind === 'content') this.#content = true
    parts.add(kind, end)
    return undefined
  }

  #kindOf(value: unknown): PartKind {
    const kind = classifyEvent(value)
    const refusal = kind === 'error' && hasRefusal(value)
    if (refusal && (this.#content || !this.#rules.refusalIsError)) return 'content'
    return kind === 'terminal' && this.#choicesAreLeft(value) ? 'content' : kind
  }

  #choicesAreLeft(value: unknown): boolean {
    const choices = (value as { choices?: unknown } | undefined)?.choices
    if (!Array.isArray(choices)) return false
    for (const choice of choices) this.#endedChoices.add((choice as { index?: unknown } | null)?.index)
    return this.#endedChoices.size < this.#rules.choices
  }

  #isRefusedEnd(value: unknown): boolean {
    return !this.#content && this.#rules.refusalIsError && failureOfEnd(value) === 'content_policy'
  }

  /** The whole answer in one event: first it commits, then it completes. */
  #isWhole(value: unknown): boolean {
    if (this.#content) return false
    const failure = failureOfEnd(value)
    return failure === undefined || failure === 'content_policy'
  }
}

/** What a joined part is: the weightiest of its events. */
const WEIGHT: Readonly<Record<PartKind, number>> = {
  keepalive: 0,
  preamble: 1,
  content: 2,
  terminal: 3,
  error: 4,
}

const failureOfEnd = (terminal: unknown) => failureOfStreamEnd({ content: hasContent(terminal), terminal })

/** Events of one block, joined where their reader sees no difference: each part costs a turn through the core. */
class Joined {
  readonly #bytes: Buffer
  readonly #parts: SsePart[] = []
  /** The reader has seen content before this block. */
  readonly #committed: boolean
  #start = 0
  #end = 0
  #kind: PartKind | undefined

  constructor(bytes: Buffer, committed: boolean) {
    this.#bytes = bytes
    this.#committed = committed
  }

  add(kind: PartKind, end: number): void {
    const open = this.#kind
    const joins = open === undefined || this.#joins(open, kind)
    if (!joins) this.#close()
    this.#kind = open !== undefined && joins && WEIGHT[open] > WEIGHT[kind] ? open : kind
    this.#end = end
  }

  #joins(open: PartKind, kind: PartKind): boolean {
    if (this.#committed || open === kind) return true
    return open === 'content' ? kind !== 'terminal' : open === 'preamble' && kind === 'content'
  }

  #close(): void {
    if (this.#kind !== undefined)
      this.#parts.push(new SsePart(this.#bytes.subarray(this.#start, this.#end), this.#kind))
    this.#start = this.#end
    this.#kind = undefined
  }

  end(): SsePart[] {
    this.#close()
    return this.#parts
  }
}

/** An event that carries JSON, as everybody writes it; the others are read with care. */
function isData(text: string, start: number, end: number): boolean {
  const data = text.startsWith('event: ', start) ? text.indexOf('\n', start) + 1 : start
  return text.startsWith('data: {', data) && text.startsWith('}\n\n', end - 3)
}

const BROKEN = Symbol('broken')

function parsed(data: string, otherwise: unknown = BROKEN): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return otherwise
  }
}
