import type { Verdict } from '../classify/verdict.ts'
import { classify } from '../classify/classify.ts'
import { verdictOf } from '../classify/failure-table.ts'
import { AttemptTimeoutError, SwitchgearError } from './errors.ts'
import type { Limit } from './errors.ts'
import type { LimitQueue, Limited } from './limits.ts'
import type { Run } from './run.ts'
import type { Target } from './target.ts'
import type { AttemptContext } from './target-options.ts'

/** One request sent. Ends once: with an answer, a failure, or cut off from outside. */
export abstract class Attempt<Request, Result, Part, Out> implements Limited, AttemptContext {
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
  abstract begin(): void

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
  protected failAs(failure: Verdict['failure'], code: 'ERR_EMPTY_RESPONSE' | 'ERR_SOFT_FAILURE' | 'ERR_TRUNCATED_STREAM'): void {
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
    let verdict: Verdict | undefined
    if (options.classify !== undefined && ownLimit === undefined) {
      gear.notifier.guard('classify', () => {
        verdict = options.classify?.(error, context)
      })
    }
    return this.#adjust(verdict ?? classify(error, context), error)
  }

  #adjust(verdict: Verdict, error: unknown): Verdict {
    const { nonRetryableStatus } = this.on.options
    if (nonRetryableStatus !== undefined && nonRetryableStatus.includes(statusOf(error) ?? 0)) {
      return { ...verdict, retry: 'no' }
    }
    // one wrong name must not open the circuit for everybody
    const chosen = this.run.options.model !== undefined && this.model !== this.on.options.model
    if (verdict.failure === 'not_found' && chosen && !this.on.isolates) return { ...verdict, outcome: 'neutral' }
    return verdict
  }
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { status, statusCode } = error as { status?: unknown; statusCode?: unknown }
  return typeof status === 'number' ? status : typeof statusCode === 'number' ? statusCode : undefined
}
