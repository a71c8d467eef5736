import type { ResolvedBreaker } from './breaker-options.ts'
import { Buckets } from './buckets.ts'
import type { RegistryLimits, WantedBucket } from './buckets.ts'
import type { CallObserver } from './call-observer.ts'
import type { Clock, Random } from './clock.ts'
import { takeRuntime } from './create-breaker.ts'
import type { RuntimeOptions } from './create-breaker.ts'
import { hear, noListeners } from './heard.ts'
import type { Listeners } from './heard.ts'
import { Limits } from './limits.ts'
import { Notifier } from './notifier.ts'
import { CallStats } from './stats.ts'
import type { SwitchgearOptions } from './switchgear-options.ts'
import type { HeldCircuit, Transition } from './transition.ts'

/** Targets and rules, as far as their succession is concerned. */
interface Ruling<G> {
  /** Its calls under way. */
  readonly running: number
  /** The circuits that it wants to be in force. */
  readonly wanted: readonly WantedBucket[]
  /** The circuits that its calls under way may ask. */
  readonly asked: readonly WantedBucket[]
  /** What it wants is in force. */
  join(before: G | undefined): void
  /** What another one wants is. */
  yieldTo(next: G): void
  changed(transition: Transition, rules: ResolvedBreaker): void
}

/**
 * What stays of a switchgear when its targets and rules change: what is around it, circuits, counters and listeners; and
 * the gears themselves, one in charge, and those before it whose calls are still under way.
 */
export class Frame<G extends Ruling<G>> {
  readonly clock: Clock
  readonly random: Random
  readonly notifier: Notifier
  readonly limits: Limits
  readonly buckets: Buckets
  readonly waiters = new Set<{ wake(): void }>()
  readonly listeners: Listeners = noListeners()
  readonly calls = new CallStats()
  /** Looks on at every call, for traces. */
  observer: CallObserver | undefined
  closed = false
  /** The one in charge. */
  gear!: G
  readonly #leaving = new Set<G>()
  #lastId = 0
  #drained: PromiseWithResolvers<void> | undefined

  constructor(options: RuntimeOptions & RegistryLimits & Pick<SwitchgearOptions, 'snapshots'>) {
    const { clock, random, logger, journal } = takeRuntime(options)
    const { listeners } = this
    const notifier = new Notifier(logger)
    this.clock = clock
    this.random = random
    this.notifier = notifier
    this.limits = new Limits(clock)
    const around = {
      clock,
      random,
      notifier,
      journal,
      onHold: (held: HeldCircuit) => hear(listeners.hold, held, notifier),
      onChange: () => this.#wake(),
    }
    const onTransition = (transition: Transition, rules: ResolvedBreaker) =>
      this.gear.changed(transition, rules)
    this.buckets = new Buckets(around, options, onTransition, options.snapshots)
  }

  /** Calls under way, whichever rules they began under. */
  get running(): number {
    let running = this.gear.running
    for (const gear of this.#leaving) running += gear.running
    return running
  }

  nextId(): string {
    return `call-${++this.#lastId}`
  }

  /**
   * Puts `gear` in charge.
   *
   * @throws SwitchgearError when there is no room for its circuits; then everything stays as it was
   */
  replace(gear: G): void {
    const before: G | undefined = this.gear
    const leaving = before !== undefined && before.running > 0 ? [...this.#leaving, before] : this.#leaving
    this.buckets.declare(gear.wanted, askedBy(leaving))
    this.gear = gear
    gear.join(before)
    for (const one of leaving) {
      this.#leaving.add(one)
      one.yieldTo(gear)
    }
    this.buckets.release(askedBy(leaving))
    // a target may have another circuit now, or none
    this.notifier.add(() => this.#wake())
  }

  /** Calls that wait for a circuit ask again. */
  #wake(): void {
    // whoever waits again is not asked twice
    for (const waiter of Array.from(this.waiters)) waiter.wake()
  }

  /** The last call of a gear has ended; none begins where another one is in charge. */
  emptied(gear: G): void {
    if (this.#leaving.delete(gear)) this.buckets.release(askedBy(this.#leaving))
    if (this.running === 0) this.#drained?.resolve()
  }

  /** Refuses new calls, waits for the running ones, then lets go of every timer and actor. */
  async close(): Promise<void> {
    this.closed = true
    if (this.running > 0) await (this.#drained ??= Promise.withResolvers<void>()).promise
    this.limits.close()
    this.buckets.close()
  }
}

const askedBy = (gears: Iterable<Pick<Ruling<never>, 'asked'>>) => [...gears].flatMap(({ asked }) => asked)
