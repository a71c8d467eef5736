import { transition } from 'xstate'
import type { Subscription } from 'xstate'
import { breakerMachine } from '../../machines/breaker.machine.ts'
import type { BreakerEvent, SavedCircuit } from '../../machines/breaker-events.ts'
import { callsFlow, circuitState, savedCircuit, shiftSaved } from '../../machines/circuit-state.ts'
import type { BreakerSnapshot, CircuitState } from '../../machines/circuit-state.ts'
import { refusalOf, statusOf } from './breaker-status.ts'
import type { BreakerStatus } from './breaker-status.ts'
import type { ResolvedBreaker } from './breaker-options.ts'
import type { Clock, Random } from './clock.ts'
import { nextDue } from './dues.ts'
import type { Due } from './dues.ts'
import { circuitOpenError } from './errors.ts'
import { SUCCESS, execute } from './execute.ts'
import type { ExecuteOptions, Work } from './execute.ts'
import { explain } from './explain.ts'
import type { Explanation } from './explain.ts'
import type { BreakerRef, Host } from './host.ts'
import type { Journal } from './journal.ts'
import { Meter } from './meter.ts'
import type { Notifier } from './notifier.ts'
import { checkCommand } from './operator.ts'
import type { CommandOptions } from './operator.ts'
import { Permit } from './permit.ts'
import type { Outcome, Refusal } from './permit.ts'
import { BreakerStats } from './stats.ts'
import type { Transition } from './transition.ts'

/** What a breaker needs around it. */
export interface Surroundings {
  readonly clock: Clock
  readonly random: Random
  readonly host: Host
  readonly notifier: Notifier
  readonly journal?: Journal | undefined
  /** Hears every transition, after the commit. */
  readonly onTransition: (transition: Transition) => void
  /** Hears that something has moved, slots included, after the commit. */
  readonly onChange?: () => void
}

const ONE_KEY = 'all'

/**
 * The breaker of one bucket: a gate that reads a flag, a meter that counts, and the actor that decides.
 * Admission is synchronous and never waits.
 */
export class CircuitBreaker {
  readonly name: string
  /** The model it is isolated to; undefined where it is not. */
  readonly model: string | undefined
  readonly options: ResolvedBreaker
  readonly stats = new BreakerStats()
  readonly #around: Surroundings
  readonly #meter: Meter
  #ref: BreakerRef
  #subscription: Subscription | undefined
  #snapshot: BreakerSnapshot
  #flows = true
  #degraded = false
  #generation = 1
  #due = Infinity
  #ids = 0
  #leases: Map<number, Permit> | undefined
  #roll: number | undefined
  #timer: unknown
  #timerAt = Infinity
  #event: BreakerEvent | undefined
  #permit: Permit | undefined
  #tripError: unknown
  #lastModel: string | undefined
  #gone = false
  #warned = false

  constructor(name: string, options: ResolvedBreaker, around: Surroundings, model?: string) {
    this.name = name
    this.model = model
    this.options = options
    this.#around = around
    const report = (error: unknown) => around.notifier.guard(`the tripping policy of '${name}'`, () => { throw error })
    this.#meter = new Meter(options.policy, options.custom, model ?? ONE_KEY, report)
    const now = around.clock.now()
    this.#ref = around.host.spawn(name, options.policy, now)
    this.#snapshot = this.#ref.getSnapshot()
    this.#subscribe()
    if (options.snapshot !== undefined) this.#resume(shiftSaved(options.snapshot, now - around.clock.wall()))
  }

  /** Asks for admission. Never throws, never waits. */
  tryAcquire(): Permit | Refusal {
    const { clock } = this.#around
    if (this.#due !== Infinity) this.catchUp(clock.now())
    if (this.#flows) return new Permit(++this.#ids, this.#generation, false, this.#meter.measuresLatency ? clock.now() : 0)
    return this.#tryProbe(clock.now())
  }

  #tryProbe(now: number): Permit | Refusal {
    if (this.#gone) return this.#afterTheEnd()
    if (this.#snapshot.context.trial !== null) {
      const permit = new Permit(++this.#ids, this.#generation, true, now)
      permit.leaseUntil = now + this.options.probeLeaseMs
      const before = this.#snapshot
      ;(this.#leases ??= new Map()).set(permit.id, permit)
      this.#send({ type: 'probe.requested', at: now, permit: permit.id })
      if (this.#snapshot !== before) return permit
      this.#leases.delete(permit.id)
    }
    const refusal = refusalOf(this.#snapshot, this.#leases?.values() ?? [], now)
    const reason = refusal?.reason ?? 'open'
    if (this.options.observe) {
      this.stats.wouldRefuse[reason]++
      return this.admitAnyway()
    }
    this.stats.refused[reason]++
    return refusal ?? { admitted: false, reason, retryAfterMs: 0 }
  }

  /** An evicted breaker cannot decide any more; refusing would be for ever. */
  #afterTheEnd(): Permit {
    if (!this.#warned) {
      this.#warned = true
      const text = `the breaker '${this.name}' was evicted or closed and protects nothing; get it from its registry again`
      this.#around.notifier.guard('the logger', () => this.#around.notifier.logger.warn({ bucket: this.name }, text))
    }
    return this.admitAnyway()
  }

  /** A permit against the breaker's word: counted, never deciding. */
  admitAnyway(): Permit {
    return new Permit(++this.#ids, -1, false, this.#around.clock.now())
  }

  /** Says what a visit came to. Idempotent; never throws. */
  settle(permit: Permit, outcome: Outcome, now = this.#around.clock.now(), latencyMs = now - permit.startedAt): void {
    if (permit.settled) return
    permit.settled = true
    const stats = this.stats
    if (outcome.outcome === 'success') {
      stats.success++
      if (this.#due === Infinity && this.#meter.isUnmoved && permit.generation === this.#generation && !permit.probe) return
    } else stats[outcome.outcome]++
    this.catchUp(now)
    this.#leases?.delete(permit.id)
    if (permit.generation === -1) return
    this.#permit = permit
    if (!this.isCurrent(permit, now)) this.#late(permit, outcome, now)
    else if (permit.probe) this.#settleProbe(permit, outcome, now)
    else if (outcome.outcome !== 'neutral') this.#count(outcome, outcome.latencyMs ?? latencyMs, now)
    this.#permit = undefined
  }

  #late({ generation }: Permit, outcome: Outcome, at: number): void {
    this.stats.late++
    if (outcome.outcome !== 'failure' || outcome.retryAfterMs === undefined) return
    const { failure = 'unknown', retryAfterMs } = outcome
    const reading = this.#meter.reading(at)
    this.#send({ type: 'call.failed', at, generation, reading, failure, retryAfterMs, roll: this.#drawn })
  }

  #settleProbe({ generation, id: permit }: Permit, outcome: Outcome, at: number): void {
    const roll = this.#drawn
    if (outcome.outcome === 'neutral') return this.#send({ type: 'probe.released', at, generation, permit })
    if (outcome.outcome === 'success') return this.#send({ type: 'probe.succeeded', at, generation, permit, roll })
    const { failure = 'unknown', retryAfterMs, error } = outcome
    this.#tripError = error
    this.#meter.note(failure)
    this.#send({ type: 'probe.failed', at, generation, permit, failure, retryAfterMs, roll })
  }

  #count(outcome: Outcome, latencyMs: number, at: number): void {
    const generation = this.#generation
    if (outcome.outcome === 'success') {
      if (!this.#meter.success(latencyMs, at) && !this.#degraded) return
      const reading = this.#meter.reading(at)
      this.#send({ type: 'call.succeeded', at, generation, reading, roll: this.#drawn })
    } else if (outcome.outcome === 'failure') {
      const { failure = 'unknown', retryAfterMs, error } = outcome
      this.#tripError = error
      this.#meter.failure(failure, latencyMs, at)
      const reading = this.#meter.reading(at)
      this.#send({ type: 'call.failed', at, generation, reading, failure, retryAfterMs, roll: this.#drawn })
    }
  }

  /** True while the permit's generation lasts and, for a probe, its trial still waits for it. */
  isCurrent(permit: Permit, now = this.#around.clock.now()): boolean {
    this.catchUp(now)
    if (permit.generation !== this.#generation) return false
    return !permit.probe || this.#snapshot.context.trial?.permits.includes(permit.id) === true
  }

  /**
   * The gate without a ticket: the generation where the circuit is closed and nothing is pending or timed, else 0.
   * What it admits is settled by {@link succeeded} or, with a ticket made afterwards, by {@link settle}.
   */
  get openGate(): number {
    return this.#flows && this.#due === Infinity && !this.#meter.measuresLatency ? this.#generation : 0
  }

  /** A ticket for what {@link openGate} admitted. */
  ticket(generation: number): Permit {
    return new Permit(++this.#ids, generation, false, 0)
  }

  /** A success of what {@link openGate} admitted. */
  succeeded(generation: number, now?: number): void {
    if (this.#due === Infinity && generation === this.#generation && this.#meter.isUnmoved) this.stats.success++
    else this.settle(this.ticket(generation), SUCCESS, now)
  }

  /** A sign of life: a probe's lease begins anew. */
  renew(permit: Permit, now = this.#around.clock.now()): void {
    if (!permit.probe || permit.settled) return
    this.catchUp(now)
    permit.leaseUntil = now + this.options.probeLeaseMs
  }

  /**
   * Runs `work` behind the breaker.
   *
   * @throws CircuitOpenError when the breaker refuses
   * @throws the caller's own reason when `signal` aborts
   * @example
   * ```ts
   * const answer = await breaker.execute(({ signal }) => fetch(url, { signal }), { signal })
   * ```
   */
  execute<T>(work: Work<T>, options?: ExecuteOptions): Promise<T> {
    return execute(this, work, options)
  }

  /** The error of a refusal, for whoever has to throw. */
  refusalError(refusal: Refusal, target = this.name, model = this.model): Error {
    const { retryAfterMs } = refusal
    const ms = retryAfterMs ?? undefined
    const retryAfter = ms === undefined ? undefined : this.#around.clock.wall() + ms
    const state = refusal.reason === 'half-open' ? 'half-open' : 'open'
    const details = { target, model, state, retryAfterMs: ms, retryAfter, cause: this.#tripError } as const
    return circuitOpenError(target, details, this.options.stackTraces)
  }

  /** What the next admission would say; changes nothing. */
  canExecute(): boolean {
    return this.options.observe || this.refusal() === undefined
  }

  /** The refusal that the next admission would get; undefined = it says yes. Changes nothing. */
  refusal(): Refusal | undefined {
    const now = this.#around.clock.now()
    return refusalOf(this.#view(now), this.#leases?.values() ?? [], now)
  }

  /** The state as people see it, as of now. */
  get state(): CircuitState {
    return circuitState(this.#view(this.#around.clock.now()))
  }

  getStatus(): BreakerStatus {
    const now = this.#around.clock.now()
    return statusOf(this.#view(now), this.#meter, this.refusal(), now)
  }

  /** Counted failures by kind; `{}` where nothing has failed. */
  getFailureBreakdown(): Record<string, number> {
    return this.#meter.breakdown()
  }

  /** Why the circuit is as it is. */
  explain(): Explanation {
    const hold = this.#view(this.#around.clock.now()).context.hold
    return explain(this.name, this.getStatus(), this.getFailureBreakdown(), hold)
  }

  /** Opens by hand: for one cooldown, or with `hold` until it is closed or `ttlMs` is over. */
  open(options: CommandOptions = {}): void {
    this.#command('operator.opened', options)
  }

  /** Closes by hand and clears every counter; with `hold` it stays closed whatever happens. */
  close(options: CommandOptions = {}): void {
    this.#command('operator.closed', options)
  }

  #command(type: 'operator.opened' | 'operator.closed', options: CommandOptions): void {
    const order = checkCommand(options)
    const at = this.#around.clock.now()
    this.catchUp(at)
    const until = order.ttlMs === undefined ? undefined : at + Math.ceil(order.ttlMs)
    const { by, reason, hold } = order
    this.#send({ type, at, by, reason, hold, until, roll: this.#drawn })
  }

  /** What survives a restart; give it back as the option `snapshot`. */
  snapshot(): SavedCircuit {
    const { clock } = this.#around
    return shiftSaved(savedCircuit(this.#view(clock.now())), clock.wall() - clock.now())
  }

  /** Sends what is overdue, in order of its deadline, until nothing is. */
  catchUp(now: number): void {
    if (this.#due > now) return
    for (let due = this.#nextDue(); due !== undefined && due.at <= now; due = this.#nextDue()) {
      const before = this.#snapshot
      const event = due.event(this.#drawn, this.#meter)
      if (event.type === 'probe.expired') this.#lose(event.permit)
      this.#send(event)
      if (this.#snapshot === before) break
    }
    this.#schedule()
  }

  #lose(permit: number): void {
    this.#leases?.delete(permit)
    this.#meter.note('probe_lost')
  }

  /** Closed, nothing counted against it, nobody inside as far as it knows: it can be forgotten without loss. */
  get isIdle(): boolean {
    return this.#flows && !this.#degraded && this.#snapshot.context.hold === null && this.#meter.failures === 0
  }

  /** Ends the breaker: no timer, no actor. */
  dispose(): void {
    if (this.#gone) return
    this.#gone = true
    this.#flows = false
    this.#due = Infinity
    this.#subscription?.unsubscribe()
    this.#around.clock.clearTimeout(this.#timer)
    this.#around.host.stop(this.name, this.#ref, this.#around.clock.now())
    for (const policy of this.options.custom) {
      if (policy !== null) this.#around.notifier.guard('forget', () => policy.forget?.(this.model ?? ONE_KEY))
    }
  }

  [Symbol.dispose](): void {
    this.dispose()
  }

  get #drawn(): number {
    return (this.#roll ??= this.#around.random())
  }

  /** The snapshot as of `now`, with everything overdue thought through but nothing sent. */
  #view(now: number): BreakerSnapshot {
    let snapshot = this.#snapshot
    if (this.#due > now) return snapshot
    for (let due = this.#nextDue(snapshot); due !== undefined && due.at <= now; due = this.#nextDue(snapshot)) {
      const [next] = transition(breakerMachine, snapshot, due.event(this.#drawn, this.#meter))
      if (next === snapshot) break
      snapshot = next
    }
    return snapshot
  }

  #nextDue(snapshot = this.#snapshot): Due | undefined {
    const degraded = circuitState(snapshot) === 'degraded'
    return nextDue(snapshot.context, this.#leases?.values() ?? [], degraded, this.#meter)
  }

  #send(event: BreakerEvent): void {
    if (this.#gone) return
    const { host, notifier } = this.#around
    this.#event = event
    if (event.type === 'operator.opened' || event.type === 'operator.closed') host.command(this.name, this.#ref, event)
    else this.#ref.send(event)
    this.#event = undefined
    this.#schedule()
    notifier.flush()
  }

  #subscribe(): void {
    this.#subscription = this.#ref.subscribe({
      next: (snapshot) => this.#moved(snapshot),
      error: (error) => this.#replace(error),
    })
  }

  #moved(after: BreakerSnapshot): void {
    const before = this.#snapshot
    if (after === before || after.status !== 'active') return
    this.#snapshot = after
    this.#flows = callsFlow(after)
    const [from, to] = [circuitState(before), circuitState(after)]
    this.#degraded = to === 'degraded'
    const { generation, openUntil, openedAt } = after.context
    const entered = generation !== this.#generation
    if (openUntil !== null && (entered || openedAt !== before.context.openedAt)) this.#roll = undefined
    if (entered) this.#enter(generation)
    // the delay of the machine itself brings no event of ours
    const event = this.#event ?? { type: 'cooldown.elapsed', at: before.context.openUntil ?? after.context.since }
    this.#tell(event, from, to)
  }

  #enter(generation: number): void {
    this.#generation = generation
    this.#leases?.clear()
    if (!this.#flows) return
    this.#meter.reset()
    this.#tripError = undefined
  }

  #tell(event: BreakerEvent, from: CircuitState, to: CircuitState): void {
    const { journal, notifier, onTransition, onChange } = this.#around
    const call = this.#permit?.call?.id
    if (journal !== undefined) {
      notifier.add(() => journal.append({ bucket: this.name, event, from, to, call }))
    }
    if (from !== to && event.type !== 'resumed') {
      const change = this.#transition(from, to, call)
      notifier.add(() => onTransition(change))
    }
    if (onChange !== undefined) notifier.add(onChange)
  }

  #transition(from: CircuitState, to: CircuitState, call: string | undefined): Transition {
    const { cause, generation, since: at, openUntil } = this.#snapshot.context
    const model = this.model ?? this.#lastModel
    const { consecutiveFailures } = this.#meter
    return { bucket: this.name, model, from, to, at, cause, generation, consecutiveFailures, openUntil, call }
  }

  /** An actor that failed is replaced; the new one goes on from the last good snapshot. */
  #replace(error: unknown): void {
    const { host, notifier, clock } = this.#around
    const last = savedCircuit(this.#snapshot)
    notifier.logger.error({ bucket: this.name, err: { message: String(error) } }, `the breaker '${this.name}' failed`)
    notifier.add(() => {
      if (this.#gone) return
      this.#ref = host.replacement(this.name, this.options.policy, clock.now())
      this.#snapshot = this.#ref.getSnapshot()
      this.#subscribe()
      this.#resume(last)
    })
  }

  #resume(saved: SavedCircuit): void {
    this.#send({ type: 'resumed', at: this.#around.clock.now(), saved })
    this.catchUp(this.#around.clock.now())
  }

  /** One lazily armed timer for leases, holds and ageing; the cooldown has the machine's own. */
  #schedule(): void {
    const { clock } = this.#around
    this.#due = this.#nextDue()?.at ?? Infinity
    const at = this.#snapshot.context.openUntil === null ? this.#due : Infinity
    // a timer that is armed already and not too late stays: it looks again when it fires
    if (at >= this.#timerAt && at !== Infinity) return
    if (this.#timerAt !== Infinity) clock.clearTimeout(this.#timer)
    this.#timerAt = at
    if (at === Infinity) return
    this.#timer = clock.setTimeout(() => {
      this.#timerAt = Infinity
      this.catchUp(clock.now())
      if (!this.#gone) this.#schedule()
    }, Math.max(0, at - clock.now()))
  }
}
