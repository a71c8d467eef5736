import type { Refusal as ChainRefusal } from '../../machines/chain-events.ts'
import type { Verdict } from '../classify/verdict.ts'
import type { Attempt } from './attempt.ts'
import { ChainDriver } from './chain-driver.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { AttemptTimeoutError, DeadlineExceededError } from './errors.ts'
import type { AttemptRecord } from './errors.ts'
import { NEUTRAL, SUCCESS } from './execute.ts'
import type { Gear } from './gear.ts'
import { Deadline } from './deadline.ts'
import type { Outcome, Permit, Refusal } from './permit.ts'
import type { CallOptions } from './switchgear-options.ts'
import type { Target } from './target.ts'
import { checkNumber } from './validate.ts'

/** Starts one attempt of a run. */
export type Begin<Request, Result, Part, Out> = (
  run: Run<Request, Result, Part, Out>,
  target: Target<Request, Result, Part>,
  attempt: number,
  now: number,
) => Attempt<Request, Result, Part, Out>

/**
 * One call on its way. Refusals are walked and the first attempt runs inline; at the first failure, or where something
 * must be waited for, a chain takes over, is told what has happened so far, and decides from then on.
 */
export class Run<Request, Result, Part, Out> {
  readonly gear: Gear<Request, Result, Part>
  readonly request: Request
  readonly options: CallOptions
  readonly startedAt: number
  /** Upstream requests so far. */
  attempts = 0
  /** Where the call is, or was last. */
  target: Target<Request, Result, Part> | undefined
  model: string | undefined
  /** Refusals and failures so far, in order. */
  records: AttemptRecord[] | undefined
  resolve!: (out: Out) => void
  reject!: (error: unknown) => void
  ended = false
  readonly #begin: Begin<Request, Result, Part, Out>
  #id: string | undefined
  #attempt: Attempt<Request, Result, Part, Out> | undefined
  #breaker: CircuitBreaker | undefined
  #permit: Permit | undefined
  #driver: ChainDriver<Request, Result, Part, Out> | undefined
  #refused: ChainRefusal[] | undefined
  #failure: { readonly error: unknown; readonly verdict: Verdict } | undefined
  #committed = false
  /** Nothing has to be let go of at the end: no signal, no deadline, no chain. */
  #bare = true
  /** The open gate that admitted the present visit, as long as it needs no ticket; 0 = it has one, or no breaker. */
  #gate = 0
  #deadline: Deadline | undefined
  #onAbort: (() => void) | undefined

  constructor(
    gear: Gear<Request, Result, Part>,
    request: Request,
    options: CallOptions,
    begin: Begin<Request, Result, Part, Out>,
  ) {
    this.gear = gear
    this.request = request
    this.options = options
    this.#begin = begin
    this.startedAt = gear.clock.now()
  }

  get id(): string {
    return (this.#id ??= this.options.id ?? this.gear.nextId())
  }

  /** Hears the transitions that this call causes. */
  get onTransition(): CallOptions['onTransition'] {
    return this.options.onTransition
  }

  get callerAborted(): boolean {
    return this.options.signal?.aborted === true
  }

  get deadlineMs(): number | undefined {
    return this.options.deadlineMs ?? this.gear.deadlineMs
  }

  /** When waiting no longer makes sense; null = no deadline. */
  get deadlineAt(): number | null {
    return this.deadlineMs === undefined ? null : this.startedAt + this.deadlineMs
  }

  start(): void {
    const { gear, options } = this
    if (options.deadlineMs !== undefined)
      checkNumber('deadlineMs', options.deadlineMs, { min: 0, above: true })
    gear.begun()
    if (options.signal !== undefined || options.deadlineMs !== undefined || gear.deadlineMs !== undefined)
      this.#bound()
    try {
      if (gear.inline) this.#walk()
      else this.#drive().act()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Ties the call to its caller's signal and its deadline. */
  #bound(): void {
    const { gear, options, deadlineMs } = this
    this.#bare = false
    if (options.signal !== undefined) {
      this.#onAbort = () => this.leave(options.signal?.reason)
      options.signal.addEventListener('abort', this.#onAbort)
    }
    if (deadlineMs !== undefined) {
      this.#deadline = new Deadline(() => this.#outOfTime())
      this.#deadline.start(gear, deadlineMs, this.startedAt)
    }
  }

  #walk(): void {
    const targets = this.gear.targets
    for (let i = 0; i < targets.length; i++) {
      const target = targets[i]!
      const refusal = this.admit(target)
      // a listener may have aborted the call meanwhile
      if (this.ended) return
      if (refusal === undefined) return this.attemptAt(target, 1, this.startedAt)
      ;(this.#refused ??= []).push(refusal)
    }
    this.#drive().act()
  }

  /** Asks for admission; undefined = admitted, and the visit has begun. */
  admit(target: Target<Request, Result, Part>): ChainRefusal | undefined {
    const model = target.modelFor(this.options.model)
    const breaker = target.breakerFor(model)
    const gate = breaker?.openGate ?? 0
    if (gate > 0) {
      this.#visit(target, model, breaker, undefined)
      this.#gate = gate
      return undefined
    }
    const answer = breaker?.tryAcquire(this)
    if (this.ended) {
      if (answer?.admitted === true) breaker?.settle(answer, NEUTRAL)
      return undefined
    }
    if (breaker !== undefined && answer?.admitted === false) return this.#note(target, model, breaker, answer)
    this.#visit(target, model, breaker, answer?.admitted === true ? answer : undefined)
    return undefined
  }

  /** Visits a target against its breaker's word. */
  admitAnyway(target: Target<Request, Result, Part>): void {
    const model = target.modelFor(this.options.model)
    const breaker = target.breakerFor(model)
    this.#visit(target, model, breaker, breaker?.admitAnyway())
  }

  #visit(
    target: Target<Request, Result, Part>,
    model: string | undefined,
    breaker: CircuitBreaker | undefined,
    permit: Permit | undefined,
  ): void {
    this.target = target
    this.model = model
    this.#breaker = breaker
    this.#permit = permit
    this.#gate = 0
  }

  #note(
    { name: target }: Target<Request, Result, Part>,
    model: string | undefined,
    breaker: CircuitBreaker,
    refusal: Refusal,
  ): ChainRefusal {
    const error = breaker.refusalError(refusal, target, model)
    const retryAfterMs = refusal.retryAfterMs ?? undefined
    const record = {
      target,
      model,
      outcome: 'refused',
      failure: 'circuit_open',
      retryAfterMs,
      error,
    } as const
    const records = (this.records ??= [])
    // who waits for a circuit is refused many times: the last one tells the story
    const earlier = records.findIndex((other) => other.target === target && other.outcome === 'refused')
    if (earlier >= 0) records.splice(earlier, 1)
    records.push(record)
    const retryAt = retryAfterMs === undefined ? null : this.gear.clock.now() + retryAfterMs
    return { target, reason: refusal.reason, retryAt }
  }

  attemptAt(target: Target<Request, Result, Part>, n: number, now: number): void {
    this.attempts++
    this.#failure = undefined
    if (this.#permit?.probe === true) this.#breaker?.renew(this.#permit, now)
    const attempt = this.#begin(this, target, n, now)
    this.#attempt = attempt
    attempt.begin()
  }

  /** A sign of life of the present visit. */
  renew(now: number): void {
    if (this.#permit?.probe === true) this.#breaker?.renew(this.#permit, now)
  }

  /** True while a retry of the present visit would still decide something. */
  get permitIsCurrent(): boolean {
    this.#takeTicket()
    return this.#permit === undefined || this.#breaker === undefined || this.#breaker.isCurrent(this.#permit)
  }

  attemptSucceeded(out: Out, latencyMs?: number): void {
    // the answer is there: what a listener does to the call from now on comes too late
    this.ended = true
    const now = this.gear.clock.now()
    const attempt = this.#attempt!
    this.#measure('success', now)
    if (this.#gate > 0) this.#breaker!.succeeded(this.#gate, now)
    else
      this.#settle(
        latencyMs === undefined ? SUCCESS : { outcome: 'success', latencyMs },
        now,
        attempt.startedAt,
      )
    this.#driver?.tell({ type: this.#committed ? 'stream.completed' : 'attempt.succeeded', at: now })
    this.finish(true, now)
    this.resolve(out)
  }

  /** A stream has shown its first content: from now on nobody else may answer. */
  streamCommitted(out: Out): void {
    this.#committed = true
    this.#driver?.tell({ type: 'stream.committed', at: this.gear.clock.now() })
    this.resolve(out)
  }

  attemptFailed(error: unknown, verdict: Verdict): void {
    const now = this.gear.clock.now()
    const attempt = this.#attempt?.attempt ?? 1
    this.#measure(verdict.outcome, now)
    this.#attempt = undefined
    this.#failure = { error, verdict }
    const target = this.target!.name
    const { failure, alert, retryAfterMs } = verdict
    const outcome = verdict.outcome === 'failure' ? 'failed' : 'neutral'
    ;(this.records ??= []).push({ target, model: this.model, outcome, failure, retryAfterMs, error })
    this.gear.tell(() => ({
      type: 'attempt_failed',
      call: this.id,
      target,
      model: this.model,
      attempt,
      failure,
      alert,
    }))
    if (this.ended) return
    if (this.#committed) this.#interrupted(now)
    else this.#drive().attemptFailed(error, verdict, now)
  }

  #interrupted(now: number): void {
    this.endVisit(now)
    if (this.ended) return
    this.#driver?.tell({ type: 'stream.failed', at: now })
    this.finish(false, now)
  }

  /** The visit that failed is over: its one outcome is recorded. */
  endVisit(now: number): void {
    const failure = this.#failure
    if (failure === undefined) return
    this.#failure = undefined
    const outcome = this.#breaker?.outcomeOf(failure.error, failure.verdict)
    if (outcome !== undefined) this.#settle(outcome, now, now)
  }

  #takeTicket(): void {
    if (this.#gate === 0) return
    this.#permit = this.#breaker!.ticket(this.#gate)
    this.#permit.call = this
    this.#gate = 0
  }

  #settle(outcome: Outcome, now: number, startedAt: number): void {
    this.#takeTicket()
    const permit = this.#permit
    if (permit === undefined) return
    this.#permit = undefined
    this.#breaker!.settle(permit, outcome, now, now - startedAt)
  }

  #measure(outcome: 'success' | 'failure' | 'neutral', now: number): void {
    const stats = this.target!.stats
    stats.attempts[outcome]++
    stats.duration.add(now - this.#attempt!.startedAt)
  }

  #drive(): ChainDriver<Request, Result, Part, Out> {
    if (this.#driver !== undefined) return this.#driver
    this.#bare = false
    this.#driver = new ChainDriver(this)
    this.#driver.replay(this.#refused ?? [], this.target?.name)
    return this.#driver
  }

  /** The caller hung up, or the reader left: everything ends, nothing is held against the target. */
  leave(reason: unknown): void {
    if (this.ended) return
    this.ended = true
    const now = this.gear.clock.now()
    this.#cut(reason, NEUTRAL, now)
    this.#driver?.tell({ type: 'caller.aborted', at: now })
    this.finish(false, now)
    this.reject(reason)
  }

  /** Something of ours broke: this call ends, and no other. */
  fail(error: unknown): void {
    if (this.ended) return
    this.ended = true
    const now = this.gear.clock.now()
    this.#cut(error, NEUTRAL, now)
    this.finish(false, now)
    this.reject(error)
  }

  #outOfTime(): void {
    if (this.ended) return
    this.ended = true
    const now = this.gear.clock.now()
    const ms = this.deadlineMs ?? 0
    const error = new DeadlineExceededError(ms, { target: this.target?.name, model: this.model })
    this.#cut(error, this.#outcomeAtDeadline(ms, now), now)
    this.#driver?.tell({ type: 'deadline.passed', at: now })
    this.finish(false, now)
    this.reject(error)
  }

  /** A caller's own hurry says nothing about the target; the switchgear's deadline does, had the attempt half of it. */
  #outcomeAtDeadline(ms: number, now: number): Outcome {
    const attempt = this.#attempt
    const own = this.options.deadlineMs !== undefined
    if (own || attempt === undefined || this.#committed || now - attempt.startedAt < ms / 2) return NEUTRAL
    const error = new AttemptTimeoutError('timeout', ms, { target: attempt.target, model: attempt.model })
    return { outcome: 'failure', failure: 'timeout', error }
  }

  #cut(reason: unknown, outcome: Outcome, now: number): void {
    const attempt = this.#attempt
    if (attempt !== undefined) {
      this.#measure(outcome.outcome, now)
      attempt.cut(reason)
    }
    this.#settle(outcome, now, attempt?.startedAt ?? now)
  }

  /** Lets go of everything that could still fire, and reports. */
  finish(ok: boolean, now: number): void {
    this.ended = true
    this.#attempt = undefined
    if (!this.#bare) this.#letGo()
    this.gear.ended()
    const report = this.options.report
    if (report !== undefined) this.#report(report, ok, now)
  }

  #letGo(): void {
    if (this.#onAbort !== undefined) this.options.signal?.removeEventListener('abort', this.#onAbort)
    this.#deadline?.stop(this.gear)
    this.#driver?.end()
  }

  #report(report: NonNullable<CallOptions['report']>, ok: boolean, now: number): void {
    const { target, model, attempts, startedAt } = this
    const fallbackIndex = ok ? (target?.index ?? -1) : -1
    const told = { target: target?.name, model, attempts, fallbackIndex, durationMs: now - startedAt, ok }
    this.gear.notifier.guard('report', () => report(told))
  }
}
