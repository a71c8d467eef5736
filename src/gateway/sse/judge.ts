import { hasRefusal } from '../../classify/content.ts'
import { classifyEvent, failureOfStreamEnd, hasContent } from '../../classify/stream-parts.ts'
import type { PartKind } from '../../core/target-options.ts'
import { dataOf } from './event.ts'
import { JoinedParts, SsePart } from './parts.ts'
import type { SseBlock } from './splitter.ts'
import { UpstreamError } from '../upstream-error.ts'

export interface SseRules {
  /** How many choices the answer has; each ends in an event of its own. */
  readonly choices: number
  /** A refusal sends the call on to another target, so it is an error as long as nothing was delivered. */
  readonly refusalIsError: boolean
  /** Global; found in the text of every event that is more, or less, than content. */
  readonly telling: RegExp
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

  /** Puts what may be passed on behind `parts`; what is wrong behind it is returned. */
  judge(block: SseBlock, parts: SsePart[]): UpstreamError | undefined {
    const { bytes, text, ends } = block
    if (this.#complete) parts.push(new SsePart(bytes, 'preamble'))
    // one event at a time, as most providers send them
    else if (
      this.#content &&
      ends.length === 1 &&
      isData(text, 0, text.length) &&
      this.#nextTelling(text, 0) === NONE
    )
      parts.push(new SsePart(bytes, 'content'))
    else return this.#judgeAll(block, parts)
    return undefined
  }

  #judgeAll(block: SseBlock, parts: SsePart[]): UpstreamError | undefined {
    const joined = new JoinedParts(block.bytes, this.#content, parts)
    let wrong: UpstreamError | undefined
    let start = 0
    let tells = -1
    for (const end of block.ends) {
      if (this.#content && tells < start) tells = this.#nextTelling(block.text, start)
      if (this.#content && end <= tells && isData(block.text, start, end)) joined.add('content', end)
      else wrong = this.#judgeEvent(joined, block, start, end)
      if (this.#complete || wrong !== undefined) break
      start = end
    }
    joined.close()
    return wrong
  }

  #nextTelling(text: string, from: number): number {
    const { telling } = this.#rules
    telling.lastIndex = from
    return telling.exec(text)?.index ?? NONE
  }

  #judgeEvent(
    parts: JoinedParts,
    { bytes, text }: SseBlock,
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

const failureOfEnd = (terminal: unknown) => failureOfStreamEnd({ content: hasContent(terminal), terminal })

/** An event that carries JSON, as everybody writes it; the others are read with care. */
function isData(text: string, start: number, end: number): boolean {
  const data = text.startsWith('event: ', start) ? text.indexOf('\n', start) + 1 : start
  return text.startsWith('data: {', data) && text.startsWith('}\n\n', end - 3)
}

const NONE = Infinity
const BROKEN = Symbol('broken')

function parsed(data: string, otherwise: unknown = BROKEN): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return otherwise
  }
}
