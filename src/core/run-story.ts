import type { Refusal as ChainRefusal } from '../../machines/chain-events.ts'
import type { Verdict } from '../classify/verdict.ts'
import type { AttemptEnd, CallEnd, CallObserver, CallWatch } from './call-observer.ts'
import type { ChainDriver } from './chain-driver.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { AttemptRecord } from './errors.ts'
import type { Outcome, Refusal } from './permit.ts'
import type { Run } from './run.ts'
import type { CallReport } from './switchgear-options.ts'
import type { Target } from './target.ts'

/**
 * What a call that is simply answered never needs, made with the first of it: fields of a run that are always there
 * would cost every call the time to fill them. Keeps the story, and tells it to whoever looks on.
 */
export class RunStory<Request, Result, Part, Out> {
  readonly #run: Run<Request, Result, Part, Out>
  id: string | undefined
  /** The chain of this call, where it is one of its own. */
  targets: readonly Target<Request, Result, Part>[] | undefined
  /** Refusals and failures so far, in order. */
  records: AttemptRecord[] | undefined
  /** Refusals that no chain was there to hear. */
  refused: ChainRefusal[] | undefined
  driver: ChainDriver<Request, Result, Part, Out> | undefined
  /** The failure of the present visit, until it is settled. */
  failure: { readonly error: unknown; readonly verdict: Verdict; readonly latencyMs: number } | undefined
  watch: CallWatch | undefined
  /** The present visit goes against its circuit's word, as the caller wished. */
  bypassed = false
  /** A stream has shown its first content. */
  committed = false
  /** The target before this one, until the visit's outcome is counted as a hop from there. */
  #from: string | undefined
  /** When the present visit asked for admission; kept only while somebody records. */
  #visitAt: number | undefined

  constructor(run: Run<Request, Result, Part, Out>) {
    this.#run = run
  }

  /** The call begins: somebody may want to hear the rest of it. */
  observedBy(observer: CallObserver): void {
    this.watch = this.#run.gear.notifier.ask('the observer', () => observer.begin(this.#run))
  }

  /** The call has come to `target`. */
  visitBegan({ name }: Target<Request, Result, Part>): void {
    const { clock, listeners } = this.#run.gear
    this.bypassed = false
    this.#from = this.#before(name)
    this.#visitAt = listeners.outcome.size > 0 ? clock.now() : undefined
  }

  /** Counts and tells what the present visit came to; once. */
  visitEnded(outcome: Outcome, now: number): void {
    const { gear, target, model } = this.#run
    const [from, since] = [this.#from, this.#visitAt]
    this.#from = undefined
    this.#visitAt = undefined
    if (target === undefined) return
    if (from !== undefined) target.stats.hop(from, outcome.outcome)
    if (since !== undefined) gear.record(target, model, outcome, since, now)
  }

  /** The target that the call was at before it came to `name`. */
  #before(name: string): string | undefined {
    return this.records?.findLast(({ target }) => target !== name)?.target
  }

  /** A circuit has refused: nothing was sent. */
  refusedBy(
    asked: Target<Request, Result, Part>,
    model: string | undefined,
    breaker: CircuitBreaker,
    refusal: Refusal,
  ): ChainRefusal {
    const { gear } = this.#run
    const { name: target, stats } = asked
    const error = breaker.refusalError(refusal, target, model)
    const retryAfterMs = refusal.retryAfterMs ?? undefined
    const records = (this.records ??= [])
    // who waits for a circuit is refused many times: the last one tells the story
    const earlier = records.findIndex((other) => other.target === target && other.outcome === 'refused')
    const from = this.#before(target)
    if (earlier >= 0) records.splice(earlier, 1)
    else if (from !== undefined) stats.hop(from, 'refused')
    this.tell((watch) => watch.refused(target, model, refusal))
    const now = gear.clock.now()
    if (gear.listeners.outcome.size > 0) gear.record(asked, model, undefined, now, now)
    records.push({ target, model, outcome: 'refused', failure: 'circuit_open', retryAfterMs, error })
    return {
      target,
      reason: refusal.reason,
      retryAt: retryAfterMs === undefined ? null : now + retryAfterMs,
    }
  }

  /** An attempt has failed: counted, kept and told in one place, so that numbers, errors and events agree. */
  attemptFailed(attempt: number, error: unknown, verdict: Verdict): void {
    const run = this.#run
    const { gear, model } = run
    const { name: target, stats } = run.target!
    const { failure, alert, retryAfterMs } = verdict
    stats.failed(failure)
    this.attemptEnded({ outcome: verdict.outcome, failure, answer: undefined })
    const outcome = verdict.outcome === 'failure' ? 'failed' : 'neutral'
    ;(this.records ??= []).push({ target, model, outcome, failure, retryAfterMs, error })
    gear.tell(() => ({ type: 'attempt_failed', call: run.id, target, model, attempt, failure, alert }))
  }

  attemptEnded(end: AttemptEnd): void {
    this.tell((watch) => watch.attemptEnded(end))
  }

  callEnded(end: CallEnd, report: CallReport): void {
    this.tell((watch) => watch.ended(end, report))
  }

  tell(what: (watch: CallWatch) => void): void {
    const { watch } = this
    if (watch !== undefined) this.#run.gear.notifier.guard('the observer', () => what(watch))
  }
}
