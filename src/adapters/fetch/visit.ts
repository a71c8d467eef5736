import { verdictOf } from '../../classify/failure-table.ts'
import type { FailureKind, Verdict } from '../../classify/verdict.ts'
import type { CircuitBreaker } from '../../core/circuit-breaker.ts'
import { AttemptTimeoutError } from '../../core/errors.ts'
import type { Limit } from '../../core/errors.ts'
import { NEUTRAL } from '../../core/execute.ts'
import type { Outcome, Permit } from '../../core/permit.ts'
import { RequestLimits } from './body-limits.ts'
import type { Place } from './bucket.ts'
import { judge } from './judge.ts'
import type { Around } from './options.ts'

/**
 * One admitted request, from the permit to the end of the body. Settles once; whatever comes later changes nothing.
 * It never holds on to the body: a body that nobody holds any more ends its visit, see `abandon`.
 */
export class Visit {
  readonly place: Place
  readonly #around: Around
  readonly #breaker: CircuitBreaker
  readonly #permit: Permit
  readonly #caller: AbortSignal | undefined
  readonly #controller = new AbortController()
  readonly #startedAt: number
  #firstContentAt: number | undefined
  #limited = false
  #waiter: ((reason: unknown) => void) | undefined
  #cut: { readonly reason: unknown } | undefined
  readonly #limits: RequestLimits

  constructor(
    around: Around,
    place: Place,
    breaker: CircuitBreaker,
    permit: Permit,
    caller: AbortSignal | undefined,
  ) {
    this.#around = around
    this.place = place
    this.#breaker = breaker
    this.#permit = permit
    this.#caller = caller
    this.#startedAt = around.clock.now()
    this.#limits = new RequestLimits(around, (limit, ms) => this.#timeOut(limit, ms))
    caller?.addEventListener('abort', this.#aborted)
  }

  readonly #aborted = (): void => {
    this.settle(NEUTRAL)
    this.#end(this.#caller?.reason)
  }

  /** Fires at the caller's abort and at our own limits. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get settled(): boolean {
    return this.#permit.settled
  }

  /** Ended from outside; what is still on its way is unwanted. */
  get isCut(): boolean {
    return this.#cut !== undefined
  }

  /** Waits for the work, or for the end from outside: a fetch may not listen to its signal. */
  wait<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const over =
        <V>(then: (value: V) => void) =>
        (value: V) => {
          this.#waiter = undefined
          then(value)
        }
      work.then(over(resolve), over(reject))
      if (this.#cut !== undefined) reject(this.#cut.reason)
      else this.#waiter = reject
    })
  }

  /** The same for a read of the body, within the limits of the body. */
  read<T>(work: PromiseLike<T>): Promise<T> {
    if (this.#limited && !this.settled && !this.isCut)
      this.#limits.reading(this.#firstContentAt !== undefined)
    return this.wait(work)
  }

  headersCame(): void {
    this.#limits.headersCame()
    this.#breaker.renew(this.#permit)
  }

  /** From here on the limits of the body hold. */
  limitBody(): void {
    this.#limited = true
  }

  /** Something came that is no keep-alive. */
  alive(): void {
    this.#limits.alive()
  }

  /** Content came. */
  content(): void {
    const now = this.#around.clock.now()
    this.#firstContentAt ??= now
    this.#limits.content()
    this.#breaker.renew(this.#permit, now)
  }

  /** Success; `latencyMs` runs to the first content of a stream, else until now. */
  succeed(streamed = false): void {
    const until = streamed ? this.#firstContentAt : undefined
    this.settle({ outcome: 'success', latencyMs: (until ?? this.#around.clock.now()) - this.#startedAt })
  }

  /** Settles as the classifier says. */
  fail(error: unknown, ownLimit?: Limit): void {
    if (this.settled) return
    this.#settleAs(error, judge(this.#around, this.place, error, ownLimit))
  }

  /** Settles as a failure that we have seen for ourselves. */
  failAs(failure: FailureKind, error: Error): void {
    this.#settleAs(error, verdictOf(failure))
  }

  #settleAs(error: unknown, verdict: Verdict): void {
    const outcome = this.#breaker.outcomeOf(error, verdict)
    const now = this.#around.clock.now()
    // what comes after the first content is the reader's time, too
    const latencyMs = (this.#firstContentAt ?? now) - this.#startedAt
    this.settle(outcome.outcome === 'failure' ? { ...outcome, latencyMs } : outcome)
  }

  settle(outcome: Outcome): void {
    this.#breaker.settle(this.#permit, outcome)
    this.#limits.end()
  }

  #timeOut(limit: Limit, ms: number): void {
    // nobody was waiting: the reader is slow, not the provider; the next read starts the limit anew
    if (this.#waiter === undefined) return
    const { bucket: target, model } = this.place
    const error = new AttemptTimeoutError(limit, ms, { target, model })
    this.fail(error, limit)
    this.#end(error)
  }

  #end(reason: unknown): void {
    if (this.isCut) return
    this.#cut = { reason }
    this.finish()
    this.#controller.abort(reason)
    this.#waiter?.(reason)
  }

  /** The request is over: nothing of it stays on the caller's signal. */
  finish(): void {
    this.#caller?.removeEventListener('abort', this.#aborted)
    this.#limits.end()
  }

  /** Its body was forgotten without being read to the end: says nothing about the provider. */
  abandon(): void {
    this.settle(NEUTRAL)
    this.#end(new DOMException('The body was never read to its end.', 'AbortError'))
  }
}
