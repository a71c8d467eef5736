import { isDeepStrictEqual } from 'node:util'
import type { Verdict } from '../classify/verdict.ts'
import type { BreakerEvent, SavedCircuit } from '../../machines/breaker-events.ts'
import { callsFlow, circuitState, savedCircuit, shiftHold, shiftSaved } from '../../machines/circuit-state.ts'
import type { BreakerSnapshot, CircuitState } from '../../machines/circuit-state.ts'
import { BreakerActor } from './breaker-actor.ts'
import { refusalOf, statusOf } from './breaker-status.ts'
import type { BreakerStatus } from './breaker-status.ts'
import type { ResolvedBreaker } from './breaker-options.ts'
import { Chronicle } from './chronicle.ts'
import type { Surroundings } from './chronicle.ts'
import { circuitOpenError } from './errors.ts'
import { SUCCESS, execute, outcomeOf } from './execute.ts'
import type { ExecuteOptions, Work } from './execute.ts'
import { explain } from './explain.ts'
import type { Explanation } from './explain.ts'
import { Meter } from './meter.ts'
import type { Counted } from './meter.ts'
import { checkCommand } from './operator.ts'
import type { CommandOptions } from './operator.ts'
import { understood } from './outcome.ts'
import { Permit, isPermit } from './permit.ts'
import type { CallOfPermit, Outcome, Refusal } from './permit.ts'
import { BreakerStats } from './stats.ts'
import { toWall } from './to-wall.ts'

/** What a breaker begins with. */
export interface Beginning {
  /** The model it is isolated to. */
  readonly model?: string | undefined
  /** The circuit it goes on from, with the times of our own clock. Default: that of its options. */
  readonly saved?: SavedCircuit | undefined
  /** Nobody is to hear of it but the calls under way. */
  readonly retired?: boolean
}

const ONE_KEY = 'all'

const NEVER_USED = {
  state: 'closed',
  hold: null,
  reopens: 0,
  openedAt: null,
  cooldownMs: null,
  openUntil: null,
} as const

/**
 * The breaker of one bucket: a gate that reads a flag, a meter that counts, and the actor that decides.
 * Admission is synchronous and never waits.
 */
export class CircuitBreaker {
  readonly name: string
  readonly #around: Surroundings
  readonly #chronicle: Chronicle
  #options: ResolvedBreaker
  #stats = new BreakerStats()
  #meter!: Meter
  #actor!: BreakerActor
  /** Permits of this generation and the later ones are current: other rules end no visit while calls flow. */
  #currentFrom = 1
  #ids = 0
  #call: CallOfPermit | undefined
  #tripError: unknown
  #warned = false

  constructor(name: string, options: ResolvedBreaker, around: Surroundings, beginning: Beginning = {}) {
    const { clock } = around
    this.name = name
    this.#options = options
    this.#around = around
    this.#chronicle = new Chronicle(name, around, beginning.model, beginning.retired === true, this.#stats)
    const given = options.snapshot && shiftSaved(options.snapshot, clock.now() - clock.wall())
    this.#begin(beginning.saved ?? given)
  }

  /** The model it is isolated to; undefined where it is not. */
  get model(): string | undefined {
    return this.#chronicle.model
  }

  /** The rules in force. */
  get options(): ResolvedBreaker {
    return this.#options
  }

  get stats(): BreakerStats {
    return this.#stats
  }

  #begin(saved: SavedCircuit | undefined): void {
    const { name } = this
    const { policy, custom } = this.#options
    const report = (error: unknown) =>
      this.#around.notifier.guard(`the tripping policy of '${name}'`, () => {
        throw error
      })
    this.#meter = new Meter(policy, custom, this.model ?? ONE_KEY, report)
    this.#actor = new BreakerActor(name, policy, this.#around, this.#meter, {
      entered: (flows) => this.#entered(flows),
      lost: () => this.#meter.note('probe_lost'),
      replaced: (from) => this.#started(from),
      moved: (event, from, to) => this.#moved(event, from, to),
    })
    this.#started(saved)
    if (saved !== undefined) this.#actor.resume(saved)
  }

  /** Other rules are in force: goes on in its state, counting from zero where they decide otherwise. */
  follow(options: ResolvedBreaker): void {
    if (!this.#chronicle.retired && sameLaw(this.#options, options)) {
      this.#options = options
      return
    }
    this.#actor.catchUp(this.#now)
    const { flows } = this.#actor
    const currentFrom = this.#currentFrom
    this.#restart(options, savedCircuit(this.#actor.snapshot), this.model)
    if (flows && this.#actor.flows) this.#currentFrom = currentFrom
  }

  /** Its name belongs to another failure domain from now on: like a new one, but that old permits stay fenced off. */
  startOver(options: ResolvedBreaker, model: string | undefined): void {
    this.retire()
    this.#stats = this.#chronicle.stats = new BreakerStats()
    this.#restart(options, { ...savedCircuit(this.#actor.snapshot), ...NEVER_USED }, model)
  }

  #restart(options: ResolvedBreaker, saved: SavedCircuit, model: string | undefined): void {
    this.dispose()
    this.#options = options
    this.#chronicle.retired = false
    this.#chronicle.model = model
    this.#begin(saved)
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
    permit.leaseUntil = now + Math.ceil(this.#options.probeLeaseMs)
    if (this.#actor.requestProbe(permit, now)) return permit
    const refusal = refusalOf(this.#actor.snapshot, this.#actor.leases, now)
    const reason = refusal?.reason ?? 'open'
    if (this.#options.observe) {
      this.#stats.wouldRefuse[reason]++
      return this.admitAnyway()
    }
    this.#stats.refused[reason]++
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
  settle(permit: Permit, found: Outcome, now = this.#now, latencyMs?: number): void {
    if (!isPermit(permit) || permit.settled) return
    permit.settled = true
    const outcome = understood(found)
    const stats = this.#stats
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
    else if (outcome.outcome !== 'neutral')
      this.#count(outcome, outcome.latencyMs ?? latencyMs ?? now - permit.startedAt, now)
    this.#call = undefined
  }

  #late({ generation }: Permit, outcome: Outcome, at: number): void {
    this.#stats.late++
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
    if (permit.generation < this.#currentFrom) return false
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
    return new Permit(++this.#ids, generation, false, this.#now)
  }

  /** A success of what {@link openGate} admitted. */
  succeeded(generation: number, now?: number, latencyMs?: number): void {
    const actor = this.#actor
    if (actor.due !== Infinity || generation !== actor.generation || actor.gone)
      return this.settle(this.ticket(generation), SUCCESS, now, latencyMs)
    this.#stats.success++
    // the gate lets nobody in where a latency would count
    if (!this.#meter.isUnmoved) this.#count(SUCCESS, 0, now ?? this.#now)
  }

  /** A sign of life: a probe's lease begins anew. */
  renew(permit: Permit, now = this.#now): void {
    if (!permit.probe || permit.settled) return
    this.#actor.catchUp(now)
    permit.leaseUntil = now + Math.ceil(this.#options.probeLeaseMs)
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
    return outcomeOf(this.#options.shouldCount, this.#around.notifier, error, verdict)
  }

  /** The error of a refusal, for whoever has to throw. */
  refusalError(refusal: Refusal, target = this.name, model = this.model): Error {
    const { retryAfterMs } = refusal
    const ms = retryAfterMs ?? undefined
    const retryAfter = ms === undefined ? undefined : this.#around.clock.wall() + ms
    const state = refusal.reason === 'half-open' ? 'half-open' : 'open'
    const details = { target, model, state, retryAfterMs: ms, retryAfter, cause: this.#tripError } as const
    return circuitOpenError(target, details, this.#options.stackTraces)
  }

  /** Every call is admitted, as of now: nobody needs a slot. */
  get flows(): boolean {
    return this.#options.observe || callsFlow(this.#view)
  }

  /** What the next admission would say; changes nothing. */
  canExecute(): boolean {
    return this.#options.observe || this.refusal() === undefined
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
    const asked = { toWall: toWall(this.#around.clock), observed: this.#options.observe }
    return statusOf(this.#view, this.#counted, this.refusal(), asked)
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
    const hold = shiftHold(this.#view.context.hold, toWall(this.#around.clock))
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
    return shiftSaved(savedCircuit(this.#view), toWall(this.#around.clock))
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

  /** Its target is gone: calls under way still ask it, but nothing of it is to survive a restart or is heard of. */
  retire(): void {
    this.#chronicle.retire(this.#actor.snapshot)
  }

  /** Ends the breaker for good: nothing of it is to survive a restart. */
  evict(): void {
    if (!this.#actor.gone) this.retire()
    this.dispose()
    this.#around.notifier.flush()
  }

  /** Ends the breaker: no timer, no actor. */
  dispose(): void {
    if (this.#actor.gone) return
    this.#actor.dispose()
    for (const policy of this.#options.custom) {
      if (policy !== null) this.#around.notifier.guard('forget', () => policy.forget?.(this.model ?? ONE_KEY))
    }
  }

  [Symbol.dispose](): void {
    this.dispose()
  }

  #entered(flows: boolean): void {
    this.#currentFrom = this.#actor.generation
    if (!flows) return
    this.#meter.reset()
    this.#tripError = undefined
  }

  #moved(event: BreakerEvent | undefined, from: CircuitState, to: CircuitState): void {
    const after = this.#actor.snapshot
    const { consecutiveFailures } = this.#meter
    if (from !== to && event?.type !== 'resumed') this.#stats.moved(from, to, after.context.cause.why)
    const { observe: observed } = this.#options
    this.#chronicle.moved({ event, from, to, after, consecutiveFailures, observed, call: this.#call })
  }

  #started(saved: SavedCircuit | undefined): void {
    this.#chronicle.began(this.#options.policy, this.#actor.snapshot, saved)
  }

  get #now(): number {
    return this.#around.clock.now()
  }

  get #view(): BreakerSnapshot {
    return this.#actor.view(this.#now)
  }
}

/** The same counting, the same decisions: what else the options say is read each time anew. */
function sameLaw(a: ResolvedBreaker, b: ResolvedBreaker): boolean {
  return isDeepStrictEqual(a.policy, b.policy) && a.custom.every((policy, i) => policy === b.custom[i])
}
