import type { AnswerFault } from '../classify/known-answer.ts'
import type { Verdict } from '../classify/verdict.ts'
import { classify } from '../classify/classify.ts'
import { verdictOf } from '../classify/failure-table.ts'
import { faultOfKnownAnswer } from '../classify/known-answer.ts'
import { readVerdict } from '../classify/read-verdict.ts'
import { AttemptTimeoutError, SwitchgearError } from './errors.ts'
import { isPlainPromise } from './execute.ts'
import type { Limit } from './errors.ts'
import type { LimitQueue, Limited } from './limits.ts'
import type { Run } from './run.ts'
import type { Target } from './target.ts'
import type { AttemptContext } from './target-options.ts'

const isNothing = (result: unknown) => result === undefined || result === null || result === ''

/** A promise of a foreign class is adopted: its own `then` may do anything. */
const adopted = <T>(answer: T | PromiseLike<T>): Promise<T> => Promise.resolve().then(() => answer)

/**
 * One request sent. Ends once: with an answer, a failure, or cut off from outside. This one's answer comes in one piece.
 * It is a class of its own, and not derived from a common one, because it is made for every call: a derived constructor
 * costs as much again.
 */
export class Attempt<Request, Result, Part, Out> implements Limited, AttemptContext {
  startedAt: number
  previous: Limited | undefined
  next: Limited | undefined
  queue: LimitQueue | undefined
  readonly attempt: number
  readonly model: string | undefined
  protected readonly run: Run<Request, Result, Part, Out>
  protected readonly on: Target<Request, Result, Part>
  /** Nothing that comes later has any effect. */
  protected ended = false
  #controller: AbortController | undefined

  constructor(
    run: Run<Request, Result, Part, Out>,
    target: Target<Request, Result, Part>,
    model: string | undefined,
    attempt: number,
    startedAt: number,
  ) {
    this.run = run
    this.on = target
    this.model = model
    this.attempt = attempt
    this.startedAt = startedAt
  }

  get target(): string {
    return this.on.name
  }

  get call(): string {
    return this.run.id
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  /** Sends the request. Never throws. */
  begin(): void {
    this.on.timeout?.add(this)
    const { invoke } = this.on.options
    if (invoke === undefined) return this.#cannotBegin()
    try {
      const answer = invoke(this.run.request, this)
      const promise = isPlainPromise(answer) ? answer : adopted(answer)
      promise.then(
        (result: Result) => this.#answered(result),
        (error: unknown) => this.fail(error),
      )
    } catch (error) {
      // to look at the answer may throw as well as to ask for it
      this.fail(error)
    }
  }

  #cannotBegin(): void {
    this.fail(new TypeError(`'${this.target}' has no invoke; it can only stream.`))
  }

  #answered(result: Result): void {
    if (this.ended) return
    const asked =
      this.on.options.isEmpty !== undefined || this.run.gear.options.detectSoftFailure !== undefined
    if (asked || typeof result === 'object' || isNothing(result)) this.#judge(result)
    // either of those asked may have aborted the call
    if (this.ended) return
    this.end()
    // whoever answers in another shape overrides begin
    this.run.attemptSucceeded(result as Result & Out)
  }

  /** Ends the attempt where the answer is none. */
  #judge(result: Result): void {
    const { isEmpty } = this.on.options
    const { detectSoftFailure } = this.run.gear.options
    const empty = isEmpty === undefined ? isNothing(result) : this.#asks('isEmpty', () => isEmpty(result))
    if (empty) return this.failAs('empty_response', 'ERR_EMPTY_RESPONSE')
    const fault = isEmpty === undefined ? this.#faultOf(result) : undefined
    if (fault !== undefined) return this.#failAsAnswer(fault, result)
    if (
      detectSoftFailure !== undefined &&
      this.#asks('detectSoftFailure', () => detectSoftFailure(result, this))
    ) {
      this.failAs('soft_failure', 'ERR_SOFT_FAILURE')
    }
  }

  /** An error that a tool answers with is an answer. */
  #faultOf(result: Result): AnswerFault | undefined {
    return this.on.options.surface === 'tool' ? undefined : faultOfKnownAnswer(result)
  }

  #failAsAnswer(fault: AnswerFault, result: Result): void {
    if (fault !== 'error') return this.failAs(fault, 'ERR_EMPTY_RESPONSE')
    const { target, model } = this
    const text = `'${target}' answered with an error in the place of an answer.`
    const verdict = this.verdictOf(result)
    this.failWith(
      new SwitchgearError('ERR_EMPTY_RESPONSE', text, { target, model, cause: result }),
      verdict.failure === 'unknown' ? verdictOf('empty_response') : verdict,
    )
  }

  #asks(what: string, question: () => boolean): boolean {
    return this.run.gear.notifier.ask(what, question) === true
  }

  /** The attempt's own limit is over. */
  expire(): void {
    this.timeOut('timeout', this.on.timeout)
  }

  protected timeOut(limit: Limit, queue: LimitQueue | undefined): void {
    const error = new AttemptTimeoutError(limit, queue?.ms ?? 0, { target: this.target, model: this.model })
    this.fail(error, limit)
    this.#controller?.abort(error)
  }

  /** Ends it from outside: the caller hung up, or the time for the whole call is over. */
  cut(reason: unknown): void {
    if (this.ended) return
    this.end()
    this.#controller?.abort(reason)
  }

  protected end(): void {
    this.ended = true
    this.queue?.remove(this)
  }

  protected fail(error: unknown, ownLimit?: Limit): void {
    if (this.ended) return
    this.end()
    this.run.attemptFailed(error, this.verdictOf(error, ownLimit))
  }

  /** An answer that is none. */
  protected failAs(
    failure: Verdict['failure'],
    code: 'ERR_EMPTY_RESPONSE' | 'ERR_SOFT_FAILURE' | 'ERR_TRUNCATED_STREAM',
  ): void {
    const texts = {
      ERR_EMPTY_RESPONSE: 'answered without content',
      ERR_SOFT_FAILURE: 'gave an answer that detectSoftFailure calls a failure',
      ERR_TRUNCATED_STREAM: 'ended its stream before the answer was complete',
    }
    const { target, model } = this
    const error = new SwitchgearError(code, `'${target}' ${texts[code]}.`, { target, model })
    this.failWith(error, verdictOf(failure))
  }

  protected failWith(error: Error, verdict: Verdict): void {
    if (this.ended) return
    this.end()
    this.run.attemptFailed(error, verdict)
  }

  protected verdictOf(error: unknown, ownLimit?: Limit): Verdict {
    const { options } = this.on
    const gear = this.run.gear
    const context = {
      callerAborted: this.run.callerAborted,
      now: gear.clock.wall(),
      surface: options.surface ?? 'model',
      ...(ownLimit && { ownLimit }),
    } as const
    const own = ownLimit === undefined ? options.classify : undefined
    const verdict = own && readVerdict(gear.notifier.ask('classify', () => own(error, context)))
    return this.#adjust(verdict ?? classify(error, context), error)
  }

  #adjust(verdict: Verdict, error: unknown): Verdict {
    const { nonRetryableStatus } = this.on.options
    if (nonRetryableStatus !== undefined && nonRetryableStatus.includes(statusOf(error) ?? 0)) {
      return { ...verdict, retry: 'no' }
    }
    // one wrong name must not open the circuit for everybody
    const chosen = this.run.options.model !== undefined && this.model !== this.on.options.model
    if (verdict.failure === 'not_found' && chosen && !this.on.isolates)
      return { ...verdict, outcome: 'neutral' }
    return verdict
  }
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  try {
    const { status, statusCode } = error as { status?: unknown; statusCode?: unknown }
    return typeof status === 'number' ? status : typeof statusCode === 'number' ? statusCode : undefined
  } catch {
    // a getter that throws says nothing
    return undefined
  }
}
