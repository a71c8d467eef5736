import type { Attributes, Context, Histogram, Span, Tracer } from '@opentelemetry/api'
import type {
  AttemptEnd,
  CallEnd,
  CallObserver,
  CallWatch,
  ObservedAttempt,
  ObservedCall,
} from '../core/call-observer.ts'
import type { Clock } from '../core/clock.ts'
import type { Refusal } from '../core/permit.ts'
import type { CallReport } from '../core/switchgear-options.ts'
import type { Transition } from '../core/transition.ts'
import { answerAttributes, requestAttributes } from './gen-ai.ts'
import type { GenAiNames, GenAiTarget } from './gen-ai.ts'

/** The part of `@opentelemetry/api` that is needed here. */
export type Api = Pick<
  typeof import('@opentelemetry/api'),
  'context' | 'trace' | 'SpanKind' | 'SpanStatusCode'
>

/** What is recorded while calls are observed. */
export interface Recorders {
  readonly api: Api
  /** undefined = no spans. */
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  /** In seconds, by target. */
  readonly duration: Histogram
  readonly firstContent: Histogram
  /** In seconds, with the attributes of the GenAI conventions. */
  readonly genAiDuration: readonly Histogram[]
  readonly genAiFirstChunk: readonly Histogram[]
  readonly names: GenAiNames
  readonly targetOf: (name: string) => GenAiTarget | undefined
  /** What a request asks for, such as `embeddings`; undefined = nothing is said. */
  readonly operationOf: (request: unknown) => string | undefined
  /** The provider's answer within what `invoke` gave. */
  readonly answerOf: (answer: unknown) => unknown
}

/** Makes spans of calls and attempts, and records how long they took. */
export class CallSpans implements CallObserver {
  readonly #with: Recorders
  /** The spans of calls under way. */
  readonly #open = new Map<string, Span>()

  constructor(recorders: Recorders) {
    this.#with = recorders
  }

  begin(call: ObservedCall): CallWatch {
    const { api, tracer } = this.#with
    const parent = api.context.active()
    const model = call.options.model
    const attributes = {
      'switchgear.call': call.id,
      ...(model !== undefined && { 'gen_ai.request.model': model }),
    }
    const span = tracer?.startSpan('switchgear.call', { kind: api.SpanKind.INTERNAL, attributes }, parent)
    if (span?.isRecording() === true) this.#open.set(call.id, span)
    const operation = this.#with.operationOf(call.request)
    return new CallSpan(this.#with, span, parent, operation, () => this.#open.delete(call.id))
  }

  /** A circuit has changed because of a call that is under way. */
  moved({ bucket, from, to, cause, call }: Transition): void {
    if (call === undefined) return
    this.#open.get(call)?.addEvent('switchgear.transition', {
      'switchgear.circuit': bucket,
      'switchgear.from': from,
      'switchgear.to': to,
      'switchgear.reason': cause.why,
    })
  }
}

/** One call as a span, its attempts as spans below it. */
class CallSpan implements CallWatch {
  readonly #with: Recorders
  readonly #span: Span | undefined
  readonly #context: Context
  readonly #operation: string | undefined
  readonly #done: () => void
  #attempt: Span | undefined
  #attributes: Attributes = {}
  #target = ''
  #startedAt = 0
  #failure: string | undefined

  constructor(
    recorders: Recorders,
    span: Span | undefined,
    parent: Context,
    operation: string | undefined,
    done: () => void,
  ) {
    this.#with = recorders
    this.#span = span
    this.#context = span === undefined ? parent : recorders.api.trace.setSpan(parent, span)
    this.#operation = operation
    this.#done = done
  }

  refused(target: string, model: string | undefined, { reason, retryAfterMs }: Refusal): void {
    this.#failure = 'circuit_open'
    this.#span?.addEvent('switchgear.refused', {
      'switchgear.target': target,
      ...(model !== undefined && { 'gen_ai.request.model': model }),
      'switchgear.reason': reason,
      ...(retryAfterMs !== null && { 'switchgear.retry_after_ms': retryAfterMs }),
    })
  }

  attempt({ target, model, attempt }: ObservedAttempt, send: () => void): void {
    const { api, tracer, targetOf, names, clock } = this.#with
    const known = targetOf(target) ?? {}
    const operation = known.operation ?? this.#operation ?? 'chat'
    this.#attributes = requestAttributes(known, operation, model, names)
    this.#target = target
    this.#startedAt = clock.now()
    if (tracer === undefined) return send()
    const name = model === undefined ? operation : `${operation} ${model}`
    const attributes = {
      ...this.#attributes,
      'switchgear.target': target,
      'switchgear.attempt': attempt,
      ...(attempt > 1 && { 'http.request.resend_count': attempt - 1 }),
    }
    this.#attempt = tracer.startSpan(name, { kind: api.SpanKind.CLIENT, attributes }, this.#context)
    // what the request itself traces, such as HTTP, belongs below the attempt
    api.context.with(api.trace.setSpan(this.#context, this.#attempt), send)
  }

  get #seconds(): number {
    return (this.#with.clock.now() - this.#startedAt) / 1000
  }

  committed(): void {
    const seconds = this.#seconds
    this.#with.firstContent.record(seconds, { target: this.#target })
    for (const histogram of this.#with.genAiFirstChunk) histogram.record(seconds, this.#attributes)
    this.#attempt?.setAttributes({
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': seconds,
    })
  }

  attemptEnded({ outcome, failure, answer }: AttemptEnd): void {
    const { duration, genAiDuration, answerOf, api } = this.#with
    const failed = outcome !== 'success' && failure !== 'aborted'
    this.#failure = failed ? failure : undefined
    const seconds = this.#seconds
    duration.record(seconds, { target: this.#target })
    const attributes = { ...this.#attributes, ...(failed && { 'error.type': failure ?? 'unknown' }) }
    for (const histogram of genAiDuration) histogram.record(seconds, attributes)
    const span = this.#attempt
    this.#attempt = undefined
    if (span === undefined) return
    if (answer !== undefined && span.isRecording()) span.setAttributes(answerAttributes(answerOf(answer)))
    span.setAttribute('switchgear.outcome', outcome)
    if (failed) {
      span.setAttribute('error.type', failure ?? 'unknown')
      span.setStatus({ code: api.SpanStatusCode.ERROR })
    }
    span.end()
  }

  ended(end: CallEnd, { target, attempts, fallbackIndex }: CallReport): void {
    this.#done()
    const span = this.#span
    if (span === undefined) return
    span.setAttributes({
      'switchgear.result': end === 'outOfTime' ? 'deadline' : end,
      'switchgear.attempts': attempts,
      ...(target !== undefined && { 'switchgear.target': target }),
      ...(fallbackIndex >= 0 && { 'switchgear.fallback_index': fallbackIndex }),
    })
    if (end !== 'answered' && end !== 'aborted') {
      span.setAttribute('error.type', end === 'outOfTime' ? 'deadline' : (this.#failure ?? 'unknown'))
      span.setStatus({ code: this.#with.api.SpanStatusCode.ERROR })
    }
    span.end()
  }
}
