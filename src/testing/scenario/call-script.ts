import type { AttemptContext, PartKind, TargetOptions } from '../../core/target-options.ts'
import type { Agenda } from './agenda.ts'
import { cutError, httpError, transportError } from './provider-error.ts'
import type { Chunk, ScriptEntry } from './scenario.ts'

/** What a call sends: which step of the scenario it is. */
export interface ScriptRequest {
  readonly step: number
}

/** A whole answer; `soft` = the scenario's `detectSoftFailure` says yes to it. */
export interface Reply {
  readonly value: unknown
  readonly soft: boolean
}

/** One upstream request, as the provider saw it. */
export interface Upstream {
  readonly step: number
  readonly target: string
  readonly model: string | null
  readonly startedAt: number
  /** False = the script has no entry for the target. */
  readonly scripted: boolean
  endedAt?: number
  cancelled: boolean
}

type ScriptTarget = TargetOptions<ScriptRequest, Reply, Chunk>
type Behaviour = Required<Pick<ScriptTarget, 'invoke' | 'stream' | 'classifyPart' | 'isEmpty'>>

const KINDS: readonly (readonly [keyof Chunk, PartKind])[] = [
  ['comment', 'keepalive'],
  ['preamble', 'preamble'],
  ['text', 'content'],
  ['error', 'error'],
  ['done', 'terminal'],
]
const classifyPart = (part: Chunk): PartKind => KINDS.find(([key]) => key in part)?.[1] ?? 'preamble'
const isEmpty = ({ value }: Reply) => value === undefined || value === null || value === ''

/** The providers of a scenario: they answer from the script and remember what they were asked. */
export class CallScript {
  readonly upstream: Upstream[] = []
  readonly #script: Readonly<Record<string, readonly ScriptEntry[]>>
  readonly #asked = new Map<string, number>()

  constructor(script: Readonly<Record<string, readonly ScriptEntry[]>>) {
    this.#script = script
  }

  /** What a target does, in the time of `agenda`. */
  behaviour(target: string, agenda: Agenda): Behaviour {
    return {
      invoke: (request, context) => this.#ask(target, request, context, agenda).answer(),
      stream: (request, context) => this.#ask(target, request, context, agenda).open(),
      classifyPart,
      isEmpty,
    }
  }

  #ask(target: string, { step }: ScriptRequest, { model, signal }: AttemptContext, agenda: Agenda): Exchange {
    const entries = this.#script[target] ?? []
    const asked = this.#asked.get(target) ?? 0
    this.#asked.set(target, asked + 1)
    const entry = entries[Math.min(asked, entries.length - 1)]
    const log: Upstream = {
      step,
      target,
      model: model ?? null,
      startedAt: agenda.now,
      scripted: entry !== undefined,
      cancelled: false,
    }
    this.upstream.push(log)
    return new Exchange(entry ?? { error: 'ENOTFOUND' }, log, signal, agenda)
  }
}

/** One request and its answer. */
class Exchange {
  readonly #entry: ScriptEntry
  readonly #log: Upstream
  readonly #signal: AbortSignal
  readonly #agenda: Agenda

  constructor(entry: ScriptEntry, log: Upstream, signal: AbortSignal, agenda: Agenda) {
    this.#entry = entry
    this.#log = log
    this.#signal = signal
    this.#agenda = agenda
    signal.addEventListener('abort', () => this.#end({ cancelled: true }), { once: true })
  }

  #end({ cancelled }: { readonly cancelled: boolean }): void {
    if (this.#log.endedAt !== undefined) return
    this.#log.endedAt = this.#agenda.now
    this.#log.cancelled = cancelled
  }

  async answer(): Promise<Reply> {
    try {
      await this.#begin()
      const { ok, stream, soft = false } = this.#entry
      return { value: stream === undefined ? ok : await this.#whole(stream), soft }
    } finally {
      this.#end({ cancelled: false })
    }
  }

  async open(): Promise<AsyncIterable<Chunk>> {
    try {
      await this.#begin()
    } catch (error) {
      this.#end({ cancelled: false })
      throw error
    }
    const { ok, empty, stream } = this.#entry
    if (stream !== undefined) return this.#parts(stream)
    return this.#parts(empty === true ? [{ done: true }] : [{ text: String(ok) }, { done: true }])
  }

  /** Until the first byte: the wait, and what is refused at the door. */
  async #begin(): Promise<void> {
    const { afterMs = 0, hang, status, error } = this.#entry
    if (afterMs > 0) await this.#agenda.pause(afterMs, this.#signal)
    if (hang === true) await this.#agenda.pause(Infinity, this.#signal)
    if (status !== undefined) throw httpError(this.#entry)
    if (error !== undefined) throw transportError(error)
  }

  async #whole(chunks: readonly Chunk[]): Promise<string> {
    let text = ''
    for await (const part of this.#parts(chunks)) {
      if (part.error !== undefined) throw Object.assign(new Error('error event'), { error: part.error })
      if (part.done === true) return text
      text += part.text ?? ''
    }
    throw cutError()
  }

  async *#parts(chunks: readonly Chunk[]): AsyncGenerator<Chunk, void> {
    let cancelled = true
    try {
      for (const chunk of chunks) {
        if (chunk.cut === true) break
        // the provider has said its last word, whatever the reader does with it
        if (chunk.done === true || chunk.error !== undefined) this.#end({ cancelled: false })
        if (chunk.wait === undefined) yield chunk
        else await this.#agenda.pause(chunk.wait, this.#signal)
      }
      cancelled = false
    } finally {
      this.#end({ cancelled })
    }
  }
}
