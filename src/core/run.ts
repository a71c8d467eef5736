import type { Refusal as ChainRefusal } from '../../machines/chain-events.ts'
import { verdictOf } from '../classify/failure-table.ts'
import type { Verdict } from '../classify/verdict.ts'
import type { Attempt } from './attempt.ts'
import { ChainDriver } from './chain-driver.ts'
import type { CallEnd, CallWatch } from './call-observer.ts'
import { hasAborted, reasonOf, unlisten } from './caller-signal.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { AttemptTimeoutError, DeadlineExceededError } from './errors.ts'
import type { AttemptRecord } from './errors.ts'
import { NEUTRAL, SUCCESS, outcomeOf } from './execute.ts'
import type { Gear } from './gear.ts'
import { Deadline } from './deadline.ts'
import type { Outcome, Permit } from './permit.ts'
import { RunStory } from './run-story.ts'
import type { CallOptions, CallReport } from './switchgear-options.ts'
import type { Target } from './target.ts'
import { checkMethods, checkNumber } from './validate.ts'

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
  readonly report: CallOptions['report']
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
    this.report = options.report
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
    return (this.#story ??= new RunStory(this))
  }

  get #committed(): boolean {
    return this.#story?.committed === true
  }

  /** Hears the transitions that this call causes. */
  get onTransition(): CallOptions['onTransition'] {
    return this.options.onTransition
  }

  get callerAborted(): boolean {
    return hasAborted(this.options.signal)
  }

  /** The chain of this call, where it is one of its own. */
  get ownTargets(): readonly Target<Request, Result, Part>[] | undefined {
    return this.#story?.targets
  }

  /** The present visit goes against its circuit's word, as the caller wished. */
  get bypassed(): boolean {
    return this.#story?.bypassed === true
  }

  get deadlineMs(): number | undefined {
    return this.options.deadlineMs ?? this.gear.deadlineMs
  }

  /** When waiting no longer makes sense; null = no deadline. */
  get deadlineAt(): number | null {
    return this.deadlineMs === undefined ? null : this.startedAt + this.deadlineMs
  }

  /** Sets out. Whatever happens on the way, the call ends; `fault` = it cannot even begin. */
  start(fault?: Error): void {
    const { gear, options } = this
    gear.begun()
    try {
      const bounded =
        options.signal !== undefined || options.deadlineMs !== undefined || gear.deadlineMs !== undefined
      if (bounded || options.targets !== undefined || gear.observer !== undefined || fault !== undefined)
        this.#prepare(fault)
      if (this.ended) return
      if (!gear.inline) this.#drive().act()
      else if (!this.#goesStraight()) this.#walk()
    } catch (error) {
      this.fail(error)
    }
  }

  #prepare(fault: Error | undefined): void {
    const { gear, options } = this
    if (gear.observer !== undefined) this.#told.observedBy(gear.observer)
    if (fault !== undefined) throw fault
    // the list is its caller's, who may change it while the call is under way
    if (options.targets !== undefined) this.#told.targets = gear.chainOf(options.targets)
    this.#bound()
  }

  /** Ties the call to its caller's signal and its deadline. */
  #bound(): void {
    const { gear, options, deadlineMs } = this
    if (options.deadlineMs !== undefined)
      checkNumber('deadlineMs', options.deadlineMs, { min: 0, above: true })
    if (typeof options.signal?.addEventListener !== 'function')
      checkMethods('signal', options.signal ?? undefined, ['addEventListener', 'removeEventListener'])
    // the call listens itself: a closure for each call, kept in a field, outlives it until the next major collection
    options.signal?.addEventListener('abort', this)
    // an observer may have aborted it a moment ago
    if (this.callerAborted) return this.handleEvent()
    if (deadlineMs !== undefined) {
      this.#deadline = new Deadline(() => this.#outOfTime())
      this.#deadline.start(gear, deadlineMs, this.startedAt)
    }
  }

  /** The caller's signal has fired. */
  handleEvent(): void {
    this.leave(reasonOf(this.options.signal))
  }

  /**
   * The usual case of {@link #walk}: the first circuit is closed, and there is nothing to tell. Apart from the others and
   * short, as V8 inlines only so much code into one function: false = go the long way.
   */
  #goesStraight(): boolean {
    const { gear } = this
    if (this.#story !== undefined || gear.listeners.outcome.size > 0) return false
    const target = gear.targets[0]!
    const model = target.modelFor(this.options.model)
    const breaker = target.breakerFor(model)
    // to make a breaker may end another one, whose policy and journal are somebody else's code
    if (this.ended) return true
    const gate = breaker === undefined ? 0 : breaker.openGate
    if (gate === 0) return false
    this.target = target
    this.model = model
    this.#breaker = breaker
    this.#gate = gate
    this.attempts = 1
    const attempt = this.#begin(this, target, 1, this.startedAt)
    this.#attempt = attempt
    attempt.begin()
    return true
  }

  #walk(): void {
    const targets = this.ownTargets ?? this.gear.targets
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
      this.#told.bypassed = true
      return undefined
    }
    const answer = breaker?.tryAcquire(this)
    if (this.ended) {
      if (answer?.admitted === true) breaker?.settle(answer, NEUTRAL)
      return undefined
    }
    if (breaker !== undefined && answer?.admitted === false)
      return this.#told.refusedBy(target, model, breaker, answer)
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
    if (this.#story !== undefined || this.gear.listeners.outcome.size > 0) this.#told.visitBegan(target)
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

  /** A sign of life of the present visit. */
  renew(now: number): void {
    if (this.#permit?.probe === true) this.#breaker?.renew(this.#permit, now)
  }

  /** True while a retry of the present visit would still decide something. */
  get permitIsCurrent(): boolean {
    this.#takeTicket()
    const permit = this.#permit
    const inForce = this.target!.peekBreaker(this.model)
    if (inForce === undefined) return true
    // it was not this one that admitted
    if (permit === undefined || inForce !== this.#breaker) return inForce.flows
    return inForce.options.observe || inForce.isCurrent(permit)
  }

  /** `latencyMs` = how long the target took for it. Default: until now. */
  attemptSucceeded(out: Out, latencyMs?: number): void {
    // the answer is there: what a listener does to the call from now on comes too late
    this.ended = true
    const now = this.gear.clock.now()
    const { startedAt } = this.#attempt!
    const { stats } = this.target!
    stats.attempts.success++
    stats.duration.add(now - startedAt)
    const story = this.#story
    if (story !== undefined) {
      const answer = story.committed ? undefined : out
      story.attemptEnded({ outcome: 'success', failure: undefined, answer })
      story.visitEnded(SUCCESS, now)
    }
    const took = latencyMs ?? now - startedAt
    if (this.#gate > 0) this.#breaker!.succeeded(this.#gate, now, took)
    else this.#settle(SUCCESS, now, took)
    story?.driver?.tell({ type: story.committed ? 'stream.completed' : 'attempt.succeeded', at: now })
    if (story !== undefined || this.options.signal !== undefined || this.#deadline !== undefined)
      this.finish('answered', now)
    else this.#answered(now)
    this.resolve(out)
  }

  /** A stream has shown its first content: from now on nobody else may answer. */
  streamCommitted(out: Out): void {
    const story = this.#told
    story.committed = true
    story.tell((watch) => watch.committed())
    story.driver?.tell({ type: 'stream.committed', at: this.gear.clock.now() })
    this.resolve(out)
  }

  /** `latencyMs` = how long the target took to fail. Default: until now. */
  attemptFailed(error: unknown, verdict: Verdict, latencyMs?: number): void {
    const now = this.gear.clock.now()
    this.#failed(error, verdict, now, latencyMs)
    if (this.ended) return
    if (this.#committed) this.#interrupted(now)
    else this.#drive().attemptFailed(error, verdict, now)
  }

  #failed(error: unknown, verdict: Verdict, now: number, latencyMs?: number): void {
    const { attempt, startedAt } = this.#attempt!
    this.#measure(verdict.outcome, now)
    this.#attempt = undefined
    const story = this.#told
    story.failure = { error, verdict, latencyMs: latencyMs ?? now - startedAt }
    story.attemptFailed(attempt, error, verdict)
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
    if (story?.failure === undefined) return
    const { error, verdict, latencyMs } = story.failure
    story.failure = undefined
    const outcome =
      this.#breaker?.outcomeOf(error, verdict) ?? outcomeOf(undefined, this.gear.notifier, error, verdict)
    story.visitEnded(outcome, now)
    this.#settle(outcome, now, latencyMs)
  }

  #takeTicket(): void {
    if (this.#gate === 0) return
    this.#permit = this.#breaker!.ticket(this.#gate)
    this.#permit.call = this
    this.#gate = 0
  }

  #settle(outcome: Outcome, now: number, latencyMs: number): void {
    this.#takeTicket()
    const permit = this.#permit
    if (permit === undefined) return
    this.#permit = undefined
    this.#breaker!.settle(permit, outcome, now, latencyMs)
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
    this.#cut(reason, 'aborted', now)
    this.#story?.driver?.tell({ type: 'caller.aborted', at: now })
    this.finish('aborted', now)
    this.reject(reason)
  }

  /** This call cannot go on, and no other is concerned: something of ours broke, or what it asks for cannot be. */
  fail(error: unknown): void {
    if (this.ended) return
    this.ended = true
    const now = this.gear.clock.now()
    this.#cut(error, 'aborted', now)
    this.finish(this.attempts === 0 ? 'rejected' : 'failed', now)
    this.reject(error)
  }

  #outOfTime(): void {
    if (this.ended) return
    this.ended = true
    const now = this.gear.clock.now()
    const ms = this.deadlineMs ?? 0
    const error = new DeadlineExceededError(ms, { target: this.target?.name, model: this.model })
    const attempt = this.#attempt
    if (attempt !== undefined && this.#isToBlame(attempt, ms, now)) {
      const { target, model } = attempt
      this.#failed(new AttemptTimeoutError('timeout', ms, { target, model }), verdictOf('timeout'), now)
      attempt.cut(error)
      this.endVisit(now)
    } else this.#cut(error, 'deadline', now)
    this.#story?.driver?.tell({ type: 'deadline.passed', at: now })
    this.finish('outOfTime', now)
    this.reject(error)
  }

  /** A caller's own hurry says nothing about the target; the switchgear's deadline does, had the attempt half of it. */
  #isToBlame({ startedAt }: Attempt<Request, Result, Part, Out>, ms: number, now: number): boolean {
    return this.options.deadlineMs === undefined && !this.#committed && now - startedAt >= ms / 2
  }

  /** Ends the present visit from outside; nothing is held against the target. */
  #cut(reason: unknown, why: 'aborted' | 'deadline', now: number): void {
    const attempt = this.#attempt
    const story = this.#story
    if (attempt !== undefined) {
      this.#measure('neutral', now)
      story?.attemptEnded({ outcome: 'neutral', failure: why, answer: undefined })
      attempt.cut(reason)
    }
    story?.visitEnded(NEUTRAL, now)
    this.#settle(NEUTRAL, now, 0)
  }

  /** The usual case of {@link finish}: nothing could still fire, and nobody looks on. */
  #answered(now: number): void {
    const { gear, report } = this
    this.#attempt = undefined
    gear.calls.answered++
    gear.ended()
    if (report !== undefined) gear.notifier.tell('report', report, this.#report(true, now))
  }

  /** Lets go of everything that could still fire, and reports. */
  finish(end: CallEnd, now: number): void {
    this.ended = true
    this.#attempt = undefined
    this.#unbound()
    const story = this.#story
    story?.driver?.end()
    this.gear.calls[end]++
    this.gear.ended()
    const { report } = this
    const watched = story?.watch !== undefined
    if (report === undefined && !watched) return
    const told = this.#report(end === 'answered', now)
    if (watched) story.callEnded(end, told)
    if (report !== undefined) this.gear.notifier.tell('report', report, told)
  }

  #unbound(): void {
    const { gear, options } = this
    this.#deadline?.stop(gear)
    if (options.signal !== undefined) unlisten(options.signal, this, gear.notifier)
  }

  #report(ok: boolean, now: number): CallReport {
    const { target, model, attempts, startedAt } = this
    const fallbackIndex = ok && target !== undefined ? this.#placeOf(target) : -1
    return { target: target?.name, model, attempts, fallbackIndex, durationMs: now - startedAt, ok }
  }

  #placeOf(target: Target<Request, Result, Part>): number {
    const own = this.ownTargets
    if (own === undefined) return target.index
    const place = own.indexOf(target)
    // one from a list for such requests stands behind the chain
    return place < 0 ? own.length : place
  }
}
