import type { Refusal as ChainRefusal } from '../../machines/chain-events.ts'
import type { Verdict } from '../classify/verdict.ts'
import type { Attempt } from './attempt.ts'
import { ChainDriver } from './chain-driver.ts'
import type { CallEnd, CallWatch } from './call-observer.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { AttemptTimeoutError, DeadlineExceededError } from './errors.ts'
import type { AttemptRecord } from './errors.ts'
import { NEUTRAL, SUCCESS, outcomeOf } from './execute.ts'
import type { Gear } from './gear.ts'
import { Deadline } from './deadline.ts'
import type { Outcome, Permit, Refusal } from './permit.ts'
import { RunStory } from './run-story.ts'
import type { CallOptions, CallReport } from './switchgear-options.ts'
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
  resolve!: (out: Out) => void
  reject!: (error: unknown) => void
  ended = false
  readonly #begin: Begin<Request, Result, Part, Out>
  #attempt: Attempt<Request, Result, Part, Out> | undefined
  #breaker: CircuitBreaker | undefined
  #permit: Permit | undefined
  /** The open gate that admitted the present visit, as long as it needs no ticket; 0 = it has one, or no breaker. */
  #gate = 0
  #deadline: Deadline | undefined
  #story: RunStory<Request, Result, Part, Out> | undefined

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
    return this.options.id ?? (this.#told.id ??= this.gear.nextId())
  }

  /** Refusals and failures so far, in order. */
  get records(): readonly AttemptRecord[] | undefined {
    return this.#story?.records
  }

  get #told(): RunStory<Request, Result, Part, Out> {
    return (this.#story ??= new RunStory())
  }

  get #committed(): boolean {
    return this.#story?.committed === true
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
    const { observer } = gear
    if (observer !== undefined)
      this.#told.watch = gear.notifier.ask('the observer', () => observer.begin(this))
    if (options.signal !== undefined || options.deadlineMs !== undefined || gear.deadlineMs !== undefined)
      this.#bound()
    try {
      if (gear.inline) this.#walk()
      else {
        if (options.targets !== undefined) gear.chainOf(options.targets)
        this.#drive().act()
      }
    } catch (error) {
      this.fail(error)
    }
  }

  /** Ties the call to its caller's signal and its deadline. */
  #bound(): void {
    const { gear, options, deadlineMs } = this
    // the call listens itself: a closure for each call, kept in a field, outlives it until the next major collection
    options.signal?.addEventListener('abort', this)
    if (deadlineMs !== undefined) {
      this.#deadline = new Deadline(() => this.#outOfTime())
      this.#deadline.start(gear, deadlineMs, this.startedAt)
    }
  }

  /** The caller's signal has fired. */
  handleEvent(): void {
    this.leave(this.options.signal?.reason)
  }

  #walk(): void {
    const { gear, options } = this
    const targets = options.targets === undefined ? gear.targets : gear.chainOf(options.targets)
    for (let i = 0; i < targets.length; i++) {
      const target = targets[i]!
      const refusal = this.admit(target)
      // a listener may have aborted the call meanwhile
      if (this.ended) return
      if (refusal === undefined) return this.attemptAt(target, 1, this.startedAt)
      ;(this.#told.refused ??= []).push(refusal)
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
    if (this.options.bypassCircuit === true && this.attempts === 0 && breaker?.canExecute() === false) {
      this.#visit(target, model, breaker, breaker.admitAnyway())
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
    if (this.gear.listeners.outcome.size > 0) this.#told.visitAt = this.gear.clock.now()
    if (this.#story !== undefined) this.#story.from = this.#before(target.name)
  }

  /** Tells whoever records it what the present visit came to; once. */
  #record(outcome: Outcome, now: number): void {
    const story = this.#story
    if (story?.visitAt === undefined) return
    this.gear.record(this.target!, this.model, outcome, story.visitAt, now)
    story.visitAt = undefined
  }

  /** The target that the call was at before it came to `name`. */
  #before(name: string): string | undefined {
    return this.records?.findLast(({ target }) => target !== name)?.target
  }

  #hopped(result: Outcome['outcome']): void {
    const story = this.#story
    if (story?.from === undefined) return
    this.target!.stats.hop(story.from, result)
    story.from = undefined
  }

  #note(
    asked: Target<Request, Result, Part>,
    model: string | undefined,
    breaker: CircuitBreaker,
    refusal: Refusal,
  ): ChainRefusal {
    const { name: target, stats } = asked
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
    const records = (this.#told.records ??= [])
    // who waits for a circuit is refused many times: the last one tells the story
    const earlier = records.findIndex((other) => other.target === target && other.outcome === 'refused')
    const from = this.#before(target)
    if (earlier >= 0) records.splice(earlier, 1)
    else if (from !== undefined) stats.hop(from, 'refused')
    this.#tell((watch) => watch.refused(target, model, refusal))
    this.#recordRefusal(asked, model)
    records.push(record)
    const retryAt = retryAfterMs === undefined ? null : this.gear.clock.now() + retryAfterMs
    return { target, reason: refusal.reason, retryAt }
  }

  #recordRefusal(target: Target<Request, Result, Part>, model: string | undefined): void {
    if (this.gear.listeners.outcome.size === 0) return
    const now = this.gear.clock.now()
    this.gear.record(target, model, undefined, now, now)
  }

  attemptAt(target: Target<Request, Result, Part>, n: number, now: number): void {
    this.attempts++
    if (this.#story !== undefined) this.#story.failure = undefined
    if (this.#permit?.probe === true) this.#breaker?.renew(this.#permit, now)
    const attempt = this.#begin(this, target, n, now)
    this.#attempt = attempt
    const watch = this.#story?.watch
    if (watch === undefined) attempt.begin()
    else this.#beginWatched(watch, attempt)
  }

  /** Sends the request wherever the observer wants it sent, once, whatever the observer does. */
  #beginWatched(watch: CallWatch, attempt: Attempt<Request, Result, Part, Out>): void {
    let begun = false
    const send = () => {
      if (begun) return
      begun = true
      attempt.begin()
    }
    this.gear.notifier.guard('the observer', () => watch.attempt(attempt, send))
    send()
  }

  #tell(what: (watch: CallWatch) => void): void {
    const watch = this.#story?.watch
    if (watch !== undefined) this.gear.notifier.guard('the observer', () => what(watch))
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
    const { stats } = this.target!
    stats.attempts.success++
    stats.duration.add(now - attempt.startedAt)
    const story = this.#story
    if (story !== undefined) {
      this.#attemptEnded('success', undefined, story.committed ? undefined : out)
      this.#hopped('success')
      this.#record(SUCCESS, now)
    }
    if (this.#gate > 0) this.#breaker!.succeeded(this.#gate, now)
    else
      this.#settle(
        latencyMs === undefined ? SUCCESS : { outcome: 'success', latencyMs },
        now,
        attempt.startedAt,
      )
    story?.driver?.tell({ type: story.committed ? 'stream.completed' : 'attempt.succeeded', at: now })
    this.finish('answered', now)
    this.resolve(out)
  }

  /** A stream has shown its first content: from now on nobody else may answer. */
  streamCommitted(out: Out): void {
    this.#told.committed = true
    this.#tell((watch) => watch.committed())
    this.#story?.driver?.tell({ type: 'stream.committed', at: this.gear.clock.now() })
    this.resolve(out)
  }

  attemptFailed(error: unknown, verdict: Verdict): void {
    const now = this.gear.clock.now()
    const attempt = this.#attempt?.attempt ?? 1
    this.#measure(verdict.outcome, now)
    this.#attempt = undefined
    const story = this.#told
    story.failure = { error, verdict }
    const { name: target, stats } = this.target!
    const { failure, alert, retryAfterMs } = verdict
    stats.failed(failure)
    this.#attemptEnded(verdict.outcome, failure, undefined)
    const outcome = verdict.outcome === 'failure' ? 'failed' : 'neutral'
    ;(story.records ??= []).push({ target, model: this.model, outcome, failure, retryAfterMs, error })
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
    this.#story?.driver?.tell({ type: 'stream.failed', at: now })
    this.finish('interrupted', now)
  }

  /** The visit that failed is over: its one outcome is recorded. */
  endVisit(now: number): void {
    const story = this.#story
    const failure = story?.failure
    if (story === undefined || failure === undefined) return
    story.failure = undefined
    const outcome = this.#breaker?.outcomeOf(failure.error, failure.verdict)
    this.#hopped(outcome?.outcome ?? failure.verdict.outcome)
    this.#record(outcome ?? outcomeOf(undefined, this.gear.notifier, failure.error, failure.verdict), now)
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

  #measure(outcome: Outcome['outcome'], now: number): void {
    const stats = this.target!.stats
    stats.attempts[outcome]++
    stats.duration.add(now - this.#attempt!.startedAt)
  }

  #drive(): ChainDriver<Request, Result, Part, Out> {
    const story = this.#told
    if (story.driver !== undefined) return story.driver
    story.driver = new ChainDriver(this)
    story.driver.replay(story.refused ?? [], this.target?.name)
    return story.driver
  }

  /** The caller hung up, or the reader left: everything ends, nothing is held against the target. */
  leave(reason: unknown): void {
    if (this.ended) return
    this.ended = true
    const now = this.gear.clock.now()
    this.#cut(reason, NEUTRAL, now)
    this.#story?.driver?.tell({ type: 'caller.aborted', at: now })
    this.finish('aborted', now)
    this.reject(reason)
  }

  /** Something of ours broke: this call ends, and no other. */
  fail(error: unknown): void {
    if (this.ended) return
    this.ended = true
    const now = this.gear.clock.now()
    this.#cut(error, NEUTRAL, now)
    this.finish('failed', now)
    this.reject(error)
  }

  #outOfTime(): void {
    if (this.ended) return
    this.ended = true
    const now = this.gear.clock.now()
    const ms = this.deadlineMs ?? 0
    const error = new DeadlineExceededError(ms, { target: this.target?.name, model: this.model })
    this.#cut(error, this.#outcomeAtDeadline(ms, now), now, 'deadline')
    this.#story?.driver?.tell({ type: 'deadline.passed', at: now })
    this.finish('outOfTime', now)
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

  #cut(reason: unknown, outcome: Outcome, now: number, why: 'aborted' | 'deadline' = 'aborted'): void {
    const attempt = this.#attempt
    if (attempt !== undefined) {
      const failure = outcome.outcome === 'failure' ? (outcome.failure ?? 'unknown') : why
      this.#measure(outcome.outcome, now)
      if (outcome.outcome === 'failure') this.target!.stats.failed(failure)
      this.#attemptEnded(outcome.outcome, failure, undefined)
      attempt.cut(reason)
    }
    this.#hopped(outcome.outcome)
    this.#record(outcome, now)
    this.#settle(outcome, now, attempt?.startedAt ?? now)
  }

  #attemptEnded(outcome: Outcome['outcome'], failure: string | undefined, answer: unknown): void {
    this.#tell((watch) => watch.attemptEnded({ outcome, failure, answer }))
  }

  /** Lets go of everything that could still fire, and reports. */
  finish(end: CallEnd, now: number): void {
    this.ended = true
    this.#attempt = undefined
    this.options.signal?.removeEventListener('abort', this)
    this.#deadline?.stop(this.gear)
    const story = this.#story
    story?.driver?.end()
    if (end === 'answered') this.gear.calls.answered++
    else this.gear.calls[end]++
    this.gear.ended()
    const report = this.options.report
    const watched = story?.watch !== undefined
    if (report === undefined && !watched) return
    const told = this.#report(end === 'answered', now)
    if (watched) this.#tell((watch) => watch.ended(end, told))
    if (report !== undefined) this.gear.notifier.tell('report', report, told)
  }

  #report(ok: boolean, now: number): CallReport {
    const { target, model, attempts, startedAt } = this
    const place = target === undefined ? -1 : (this.options.targets?.indexOf(target.name) ?? target.index)
    const fallbackIndex = ok ? place : -1
    return { target: target?.name, model, attempts, fallbackIndex, durationMs: now - startedAt, ok }
  }
}
