import { transition } from 'xstate'
import type { Subscription } from 'xstate'
import { breakerMachine } from '../../machines/breaker.machine.ts'
import type { BreakerEvent, SavedCircuit } from '../../machines/breaker-events.ts'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { callsFlow, circuitState, savedCircuit } from '../../machines/circuit-state.ts'
import type { BreakerSnapshot, CircuitState } from '../../machines/circuit-state.ts'
import type { Clock, Random } from './clock.ts'
import { nextDue } from './dues.ts'
import type { Due } from './dues.ts'
import type { BreakerRef, Host } from './host.ts'
import type { Meter } from './meter.ts'
import type { Notifier } from './notifier.ts'
import type { Permit } from './permit.ts'

// then it stays closed: something in the policy itself is broken
const MOST_REPLACEMENTS = 3

/** What an actor needs around it. */
export interface ActorSurroundings {
  readonly clock: Clock
  readonly random: Random
  readonly host: Host
  readonly notifier: Notifier
}

/** Who is told what the actor does, before anybody outside is. */
export interface ActorOwner {
  /** Another generation has begun. */
  entered(flows: boolean): void
  /** A probe was silent for longer than its lease. */
  lost(): void
  /** A new actor is there, closed, and about to go on from `saved`. */
  replaced(saved: SavedCircuit | undefined): void
  /** The actor has moved; `event` is undefined where somebody else has sent it. */
  moved(event: BreakerEvent | undefined, from: CircuitState, to: CircuitState): void
}

/**
 * The actor of one breaker as its bucket sees it: what it decided, as plain flags; its deadlines, whether timers fire or
 * not; and its replacement, should it fail.
 */
export class BreakerActor {
  snapshot: BreakerSnapshot
  /** Every call is admitted. */
  flows = true
  degraded = false
  generation = 1
  /** No deadline is earlier. */
  due = Infinity
  gone = false
  readonly #name: string
  readonly #policy: BreakerPolicy
  readonly #around: ActorSurroundings
  readonly #meter: Meter
  readonly #owner: ActorOwner
  #ref: BreakerRef
  #subscription: Subscription | undefined
  #leases: Map<number, Permit> | undefined
  #roll: number | undefined
  #timer: unknown
  #timerAt = Infinity
  #event: BreakerEvent | undefined
  #resuming: SavedCircuit | undefined
  #failures = 0

  constructor(
    name: string,
    policy: BreakerPolicy,
    around: ActorSurroundings,
    meter: Meter,
    owner: ActorOwner,
  ) {
    this.#name = name
    this.#policy = policy
    this.#around = around
    this.#meter = meter
    this.#owner = owner
    this.#ref = around.host.spawn(name, policy, around.clock.now())
    this.snapshot = this.#ref.getSnapshot()
    this.#subscribe()
  }

  /** The value for the next opening: drawn once, kept until an opening has used it. */
  get roll(): number {
    return (this.#roll ??= this.#around.random())
  }

  get leases(): Iterable<Permit> {
    return this.#leases?.values() ?? []
  }

  /** Asks for a probe; false = no slot is free. */
  requestProbe(permit: Permit, at: number): boolean {
    if (this.snapshot.context.trial === null) return false
    const before = this.snapshot
    ;(this.#leases ??= new Map()).set(permit.id, permit)
    this.send({ type: 'probe.requested', at, permit: permit.id })
    if (this.snapshot !== before) return true
    this.#leases.delete(permit.id)
    return false
  }

  endLease(permit: number): void {
    this.#leases?.delete(permit)
  }

  send(event: BreakerEvent): void {
    if (this.gone) return
    const { host, notifier } = this.#around
    this.#event = event
    if (event.type === 'operator.opened' || event.type === 'operator.closed') {
      host.command(this.#name, this.#ref, event)
    } else this.#ref.send(event)
    this.#event = undefined
    this.#schedule()
    notifier.flush()
  }

  /** Sends what is overdue, in order of its deadline, until nothing is. */
  catchUp(now: number): void {
    if (this.due > now) return
    for (let due = this.#nextDue(); due !== undefined && due.at <= now; due = this.#nextDue()) {
      const before = this.snapshot
      const event = due.event(this.roll, this.#meter)
      if (event.type === 'probe.expired') {
        this.endLease(event.permit)
        this.#owner.lost()
      }
      this.send(event)
      if (this.snapshot === before) break
    }
    this.#schedule()
  }

  /** The snapshot as of `now`, with everything overdue thought through but nothing sent. */
  view(now: number): BreakerSnapshot {
    let snapshot = this.snapshot
    if (this.due > now) return snapshot
    for (
      let due = this.#nextDue(snapshot);
      due !== undefined && due.at <= now;
      due = this.#nextDue(snapshot)
    ) {
      const [next] = transition(breakerMachine, snapshot, due.event(this.roll, this.#meter))
      if (next === snapshot) break
      snapshot = next
    }
    return snapshot
  }

  /** Goes on from a saved circuit. */
  resume(saved: SavedCircuit): void {
    const now = this.#around.clock.now()
    this.send({ type: 'resumed', at: now, saved })
    this.catchUp(now)
  }

  /** Ends the actor, and every timer. */
  dispose(): void {
    this.gone = true
    this.flows = false
    this.due = Infinity
    this.#subscription?.unsubscribe()
    this.#around.clock.clearTimeout(this.#timer)
    this.#around.host.stop(this.#name, this.#ref, this.#around.clock.now())
  }

  #nextDue(snapshot = this.snapshot): Due | undefined {
    return nextDue(snapshot.context, this.leases, circuitState(snapshot) === 'degraded', this.#meter)
  }

  #subscribe(): void {
    this.#subscription = this.#ref.subscribe({
      next: (snapshot) => this.#moved(snapshot),
      error: (error) => this.#replace(error),
    })
  }

  #moved(after: BreakerSnapshot): void {
    const before = this.snapshot
    if (after === before || after.status !== 'active') return
    this.snapshot = after
    this.flows = callsFlow(after)
    const [from, to] = [circuitState(before), circuitState(after)]
    this.degraded = to === 'degraded'
    const { generation, openUntil, cause } = after.context
    const entered = generation !== this.generation
    // every opening has a cause of its own; a period that is only lengthened keeps the old one
    if (openUntil !== null && cause !== before.context.cause) this.#roll = undefined
    if (entered) {
      this.generation = generation
      this.#leases?.clear()
      this.#owner.entered(this.flows)
    }
    // the machine's own delay brings no event of ours
    const at = before.context.openUntil
    const elapsed =
      at !== null && cause.why === 'cooldown_over' ? ({ type: 'cooldown.elapsed', at } as const) : undefined
    this.#owner.moved(this.#event ?? elapsed, from, to)
    if (this.#event === undefined) this.#afterForeignMove()
  }

  /** A delay, or somebody who talks to the actor directly: nobody but us looks after deadlines and listeners. */
  #afterForeignMove(): void {
    queueMicrotask(() => {
      this.#schedule()
      this.#around.notifier.flush()
    })
  }

  /** An actor that failed is replaced; the new one goes on from the last good snapshot. */
  #replace(error: unknown): void {
    const { host, notifier, clock } = this.#around
    // a replacement that fails while it resumes has nothing worth keeping
    const last = this.#resuming ?? savedCircuit(this.snapshot)
    notifier.report(`the breaker of '${this.#name}'`, error)
    notifier.add(() => {
      if (this.gone) return
      this.#ref = host.replacement(this.#name, this.#policy, clock.now())
      this.snapshot = this.#ref.getSnapshot()
      this.#subscribe()
      const resumes = ++this.#failures <= MOST_REPLACEMENTS
      this.#owner.replaced(resumes ? last : undefined)
      if (!resumes) return
      this.#resuming = last
      this.resume(last)
      if (this.#ref.getSnapshot().status !== 'active') return
      this.#resuming = undefined
      this.#failures = 0
    })
  }

  /** One lazily armed timer for leases, holds and ageing; the cooldown has the machine's own. */
  #schedule(): void {
    // a listener may have ended it meanwhile
    if (this.gone) return
    const { clock } = this.#around
    this.due = this.#nextDue()?.at ?? Infinity
    const at = this.snapshot.context.openUntil === null ? this.due : Infinity
    // a timer that is armed already and not too late stays: it looks again when it fires
    if (at >= this.#timerAt && at !== Infinity) return
    if (this.#timerAt !== Infinity) clock.clearTimeout(this.#timer)
    this.#timerAt = at
    if (at === Infinity) return
    const fire = () => {
      this.#timerAt = Infinity
      this.catchUp(clock.now())
      this.#schedule()
    }
    this.#timer = clock.setTimeout(fire, Math.max(0, at - clock.now()))
  }
}
