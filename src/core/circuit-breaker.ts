import type { Verdict } from '../classify/verdict.ts'
import type { BreakerEvent, SavedCircuit } from '../../machines/breaker-events.ts'
import { callsFlow, circuitState, savedCircuit, shiftSaved } from '../../machines/circuit-state.ts'
import type { BreakerSnapshot, CircuitState } from '../../machines/circuit-state.ts'
import { BreakerActor } from './breaker-actor.ts'
import type { ActorSurroundings } from './breaker-actor.ts'
import { refusalOf, statusOf } from './breaker-status.ts'
import type { BreakerStatus } from './breaker-status.ts'
import type { ResolvedBreaker } from './breaker-options.ts'
import { circuitOpenError } from './errors.ts'
import { SUCCESS, execute, outcomeOf } from './execute.ts'
import type { ExecuteOptions, Work } from './execute.ts'
import { explain } from './explain.ts'
import type { Explanation } from './explain.ts'
import type { Journal, JournalEvent } from './journal.ts'
import { Meter } from './meter.ts'
import type { Counted } from './meter.ts'
import { checkCommand } from './operator.ts'
import type { CommandOptions } from './operator.ts'
import { Permit } from './permit.ts'
import type { CallOfPermit, Outcome, Refusal } from './permit.ts'
import { BreakerStats } from './stats.ts'
import type { HeldCircuit, Transition } from './transition.ts'

/** What a breaker needs around it. */
export interface Surroundings extends ActorSurroundings {
  readonly journal?: Journal | undefined
  /** Hears every transition, after the commit. */
  readonly onTransition: (transition: Transition) => void
  /** Hears that an operator holds the circuit, after the commit. */
  readonly onHold?: (held: HeldCircuit) => void
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
  readonly #actor: BreakerActor
  #ids = 0
  #call: CallOfPermit | undefined
  #tripError: unknown
  #warned = false

  constructor(name: string, options: ResolvedBreaker, around: Surroundings, model?: string) {
    this.name = name
    this.model = model
    this.options = options
    this.#around = around
    const report = (error: unknown) =>
      around.notifier.guard(`the tripping policy of '${name}'`, () => {
        throw error
      })
    this.#meter = new Meter(options.policy, options.custom, model ?? ONE_KEY, report)
    this.#actor = new BreakerActor(name, options.policy, around, this.#meter, {
      entered: (flows) => this.#entered(flows),
      lost: () => this.#meter.note('probe_lost'),
      replaced: (saved) => this.#started(saved),
      moved: (event, from, to) => this.#moved(event, from, to),
    })
    const { clock } = around
    const saved = options.snapshot && shiftSaved(options.snapshot, clock.now() - clock.wall())
    this.#started(saved)
    if (saved !== undefined) this.#actor.resume(saved)
  }

  /** Asks for admission. Never throws, never waits. */
  tryAcquire(call?: CallOfPermit): Permit | Refusal {
    this.#call = call
    const answer = this.#acquire()
    this.#call = undefined
    if (answer.admitted) answer.call = call
    return answer
  }

  #acquire(): Permit | Refusal {
    const { clock } = this.#around
    if (this.#actor.due !== Infinity) this.#actor.catchUp(clock.now())
    if (this.#actor.flows)
      return new Permit(
        ++this.#ids,
        this.#actor.generation,
        false,
        this.#meter.measuresLatency ? clock.now() : 0,
      )
    return this.#tryProbe(clock.now())
  }

  #tryProbe(now: number): Permit | Refusal {
    if (this.#actor.gone) return this.#afterTheEnd()
    const permit = new Permit(++this.#ids, this.#actor.generation, true, now)
    permit.leaseUntil = now + Math.ceil(this.options.probeLeaseMs)
    if (this.#actor.requestProbe(permit, now)) return permit
    const refusal = refusalOf(this.#actor.snapshot, this.#actor.leases, now)
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
      this.#around.notifier.guard('the logger', () =>
        this.#around.notifier.logger.warn({ bucket: this.name }, text),
      )
    }
    return this.admitAnyway()
  }

  /** A permit against the breaker's word: counted, never deciding. */
  admitAnyway(): Permit {
    return new Permit(++this.#ids, -1, false, this.#now)
  }

  /** Says what a visit came to. Idempotent; never throws. */
  settle(permit: Permit, outcome: Outcome, now = this.#now, latencyMs = now - permit.startedAt): void {
    if (permit.settled) return
    permit.settled = true
    const stats = this.stats
    if (outcome.outcome === 'success') {
      stats.success++
      if (
        this.#actor.due === Infinity &&
        this.#meter.isUnmoved &&
        permit.generation === this.#actor.generation &&
        !permit.probe
      )
        return
    } else stats[outcome.outcome]++
    if (this.#actor.gone) return
    this.#actor.catchUp(now)
    this.#actor.endLease(permit.id)
    if (permit.generation === -1) return
    this.#call = permit.call
    if (!this.isCurrent(permit, now)) this.#late(permit, outcome, now)
    else if (permit.probe) this.#settleProbe(permit, outcome, now)
    else if (outcome.outcome !== 'neutral') this.#count(outcome, outcome.latencyMs ?? latencyMs, now)
    this.#call = undefined
  }

  #late({ generation }: Permit, outcome: Outcome, at: number): void {
    this.stats.late++
    if (outcome.outcome !== 'failure' || outcome.retryAfterMs === undefined) return
    const { failure = 'unknown', retryAfterMs } = outcome
    const reading = this.#meter.reading(at)
    this.#actor.send({
      type: 'call.failed',
      at,
      generation,
      reading,
      failure,
      retryAfterMs,
      roll: this.#actor.roll,
    })
  }

  #settleProbe({ generation, id: permit }: Permit, outcome: Outcome, at: number): void {
    const roll = this.#actor.roll
    if (outcome.outcome === 'neutral')
      return this.#actor.send({ type: 'probe.released', at, generation, permit })
    if (outcome.outcome === 'success')
      return this.#actor.send({ type: 'probe.succeeded', at, generation, permit, roll })
    const { failure = 'unknown', retryAfterMs, error } = outcome
    this.#tripError = error
    this.#meter.note(failure)
    this.#actor.send({ type: 'probe.failed', at, generation, permit, failure, retryAfterMs, roll })
  }

  #count(outcome: Outcome, latencyMs: number, at: number): void {
    const generation = this.#actor.generation
    if (outcome.outcome === 'success') {
      const noteworthy = this.#meter.success(latencyMs, at)
      if (this.#meter.failures === 0) this.#tripError = undefined
      if (!noteworthy && !this.#actor.degraded) return
      const reading = this.#meter.reading(at)
      this.#actor.send({ type: 'call.succeeded', at, generation, reading, roll: this.#actor.roll })
    } else if (outcome.outcome === 'failure') {
      const { failure = 'unknown', retryAfterMs, error } = outcome
      this.#tripError = error
      this.#meter.failure(failure, latencyMs, at)
      const reading = this.#meter.reading(at)
      this.#actor.send({
        type: 'call.failed',
        at,
        generation,
        reading,
        failure,
        retryAfterMs,
        roll: this.#actor.roll,
      })
    }
  }

  /** True while the permit's generation lasts and, for a probe, its trial still waits for it. */
  isCurrent(permit: Permit, now = this.#now): boolean {
    this.#actor.catchUp(now)
    if (permit.generation !== this.#actor.generation) return false
    return !permit.probe || this.#actor.snapshot.context.trial?.permits.includes(permit.id) === true
  }

  /**
   * The gate without a ticket: the generation where the circuit is closed and nothing is pending or timed, else 0.
   * What it admits is settled by {@link succeeded} or, with a ticket made afterwards, by {@link settle}.
   */
  get openGate(): number {
    return this.#actor.flows && this.#actor.due === Infinity && !this.#meter.measuresLatency
      ? this.#actor.generation
      : 0
  }

  /** A ticket for what {@link openGate} admitted. */
  ticket(generation: number): Permit {
    return new Permit(++this.#ids, generation, false, 0)
  }

  /** A success of what {@link openGate} admitted. */
  succeeded(generation: number, now?: number): void {
    if (this.#actor.due === Infinity && generation === this.#actor.generation && this.#meter.isUnmoved)
      this.stats.success++
    else this.settle(this.ticket(generation), SUCCESS, now)
  }

  /** A sign of life: a probe's lease begins anew. */
  renew(permit: Permit, now = this.#now): void {
    if (!permit.probe || permit.settled) return
    this.#actor.catchUp(now)
    permit.leaseUntil = now + Math.ceil(this.options.probeLeaseMs)
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

  /** What a verdict means for this breaker, after its own `shouldCount`. */
  outcomeOf(error: unknown, verdict: Verdict): Outcome {
    return outcomeOf(this.options.shouldCount, this.#around.notifier, error, verdict)
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
    if (this.#actor.gone) return undefined
    const now = this.#now
    return refusalOf(this.#actor.view(now), this.#actor.leases, now)
  }

  /** The state as people see it, as of now. */
  get state(): CircuitState {
    return circuitState(this.#view)
  }

  getStatus(): BreakerStatus {
    return statusOf(this.#view, this.#counted, this.refusal())
  }

  /** Counted failures by kind; `{}` where nothing has failed. */
  getFailureBreakdown(): Record<string, number> {
    return this.#counted.breakdown
  }

  /** A circuit that has closed, though nobody has noticed yet, has forgotten what was counted before. */
  get #counted(): Counted {
    const view = this.#view
    const anew = view.context.generation !== this.#actor.generation && callsFlow(view)
    return anew ? this.#meter.nothing : this.#meter.counted(this.#now)
  }

  /** Why the circuit is as it is. */
  explain(): Explanation {
    const hold = this.#view.context.hold
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
    const at = this.#now
    this.#actor.catchUp(at)
    const until = order.ttlMs === undefined ? undefined : at + Math.ceil(order.ttlMs)
    const { by, reason, hold } = order
    this.#actor.send({ type, at, by, reason, hold, until, roll: this.#actor.roll })
  }

  /** What survives a restart; give it back as the option `snapshot`. */
  snapshot(): SavedCircuit {
    const { clock } = this.#around
    return shiftSaved(savedCircuit(this.#view), clock.wall() - clock.now())
  }

  /** Closed, nothing counted against it, nobody inside as far as it knows: it can be forgotten without loss. */
  get isIdle(): boolean {
    return (
      this.#actor.flows &&
      !this.#actor.degraded &&
      this.#actor.snapshot.context.hold === null &&
      this.#meter.failures === 0
    )
  }

  /** Ends the breaker for good: nothing of it is to survive a restart. */
  evict(): void {
    const state = circuitState(this.#actor.snapshot)
    if (!this.#actor.gone) this.#write({ type: 'breaker.evicted', at: this.#now }, state, state)
    this.dispose()
    this.#around.notifier.flush()
  }

  /** Ends the breaker: no timer, no actor. */
  dispose(): void {
    if (this.#actor.gone) return
    this.#actor.dispose()
    for (const policy of this.options.custom) {
      if (policy !== null) this.#around.notifier.guard('forget', () => policy.forget?.(this.model ?? ONE_KEY))
    }
  }

  [Symbol.dispose](): void {
    this.dispose()
  }

  #entered(flows: boolean): void {
    if (!flows) return
    this.#meter.reset()
    this.#tripError = undefined
  }

  #moved(event: BreakerEvent | undefined, from: CircuitState, to: CircuitState): void {
    const { notifier, onTransition, onHold, onChange } = this.#around
    const call = this.#call
    this.#write(event ?? { type: 'circuit.saved', at: this.#now }, from, to)
    const { cause, hold } = this.#actor.snapshot.context
    if (event !== undefined && 'hold' in event && event.hold === true && hold !== null) {
      const held = { bucket: this.name, model: this.model, state: to, at: event.at, hold }
      notifier.add(() => onHold?.(held))
    }
    if (from !== to && event?.type !== 'resumed') {
      this.stats.moved(from, to, cause.why)
      const change = this.#transition(from, to, call)
      notifier.add(() => onTransition(change))
      const hear = call?.onTransition
      if (hear !== undefined) notifier.add(() => hear(change))
    }
    if (onChange !== undefined) notifier.add(onChange)
  }

  #started(saved: SavedCircuit | undefined): void {
    const at = this.#actor.snapshot.context.since
    this.#write({ type: 'breaker.started', at, policy: this.options.policy }, 'closed', 'closed', saved)
    this.#around.notifier.flush()
  }

  #write(event: JournalEvent, from: CircuitState, to: CircuitState, saved?: SavedCircuit): void {
    const { journal, notifier, clock } = this.#around
    if (journal === undefined) return
    const shift = clock.wall() - clock.now()
    const entry = {
      bucket: this.name,
      // an actor that took the place of another knows no time yet
      at: event.type === 'breaker.started' ? clock.wall() : event.at + shift,
      event,
      from,
      to,
      saved: shiftSaved(saved ?? savedCircuit(this.#actor.snapshot), shift),
      call: this.#call?.id,
    }
    notifier.add(() => journal.append(entry))
  }

  #transition(from: CircuitState, to: CircuitState, call: CallOfPermit | undefined): Transition {
    const { cause, generation, since: at, openUntil } = this.#actor.snapshot.context
    const { consecutiveFailures } = this.#meter
    const model = this.model ?? call?.model
    return {
      bucket: this.name,
      model,
      from,
      to,
      at,
      cause,
      generation,
      consecutiveFailures,
      openUntil,
      call: call?.id,
    }
  }

  get #now(): number {
    return this.#around.clock.now()
  }

  get #view(): BreakerSnapshot {
    return this.#actor.view(this.#now)
  }
}
