import type { ChainPlan } from '../../machines/chain-events.ts'
import type { Verdict } from '../classify/verdict.ts'
import { RetryBudget } from './budget.ts'
import type { CallObserver } from './call-observer.ts'
import type { ResolvedBreaker } from './breaker-options.ts'
import type { Clock, Random } from './clock.ts'
import { takeRuntime } from './create-breaker.ts'
import type { RuntimeOptions } from './create-breaker.ts'
import { ConfigError, SwitchgearError } from './errors.ts'
import type { SupervisorRef } from './host.ts'
import { Limits } from './limits.ts'
import { Notifier } from './notifier.ts'
import type { Outcome } from './permit.ts'
import { Buckets } from './registry.ts'
import {
  checkFixed,
  checkLists,
  checkSwitchgear,
  resolveBudget,
  resolveWhenAllOpen,
} from './switchgear-options.ts'
import type { CallOptions, FailedAttempt, SwitchgearOptions } from './switchgear-options.ts'
import { sharedRules } from './shared-rules.ts'
import { CallStats } from './stats.ts'
import type { GearStats } from './stats.ts'
import { Target } from './target.ts'
import { tellTransition } from './tell-transition.ts'
import type { HeldCircuit, Transition } from './transition.ts'
import { didYouMean } from './validate.ts'
import type { VisitOutcome } from './visit-outcome.ts'

/** What can be listened to. */
export interface Heard {
  /** One real change of a circuit's state. */
  readonly transition: Transition
  /** An operator holds a circuit, whether that changed its state or not. */
  readonly hold: HeldCircuit
  /** An attempt without an answer. */
  readonly failure: FailedAttempt
  /** What a visit came to, and every refusal: for recordings. */
  readonly outcome: VisitOutcome
}

type Listeners = { readonly [E in keyof Heard]: Set<(told: Heard[E]) => void> }

/** The inside of a switchgear: targets, breakers, limits and listeners, shared by all of its calls. */
export class Gear<Request, Result, Part> {
  readonly clock: Clock
  readonly random: Random
  readonly journal: RuntimeOptions['journal']
  readonly notifier: Notifier
  readonly limits: Limits
  readonly budget: RetryBudget | undefined
  readonly buckets: Buckets
  readonly targets: readonly Target<Request, Result, Part>[]
  readonly byName: ReadonlyMap<string, Target<Request, Result, Part>>
  readonly plan: Omit<ChainPlan, 'startedAt' | 'deadlineAt'>
  readonly deadlineMs: number | undefined
  readonly options: SwitchgearOptions<Request, Result, Part>
  readonly waiters: Set<{ wake(): void }>
  readonly listeners: Listeners
  readonly calls: CallStats
  /** Looks on at every call, for traces. */
  observer: CallObserver | undefined
  /** False = the chain decides from the first step on; for the proof that both ways are the same. */
  inline = true
  readonly #ids: { last: number }
  #running = 0
  #closing: PromiseWithResolvers<void> | undefined
  #before: Gear<Request, Result, Part> | undefined
  /** Shared by all that ever were: a chain from one to the next would keep every one of them. */
  readonly #inCharge: { gear: Gear<Request, Result, Part> }
  closed = false

  /** `before` = the one whose place it takes, with its circuits, counters and listeners. */
  constructor(options: SwitchgearOptions<Request, Result, Part>, before?: Gear<Request, Result, Part>) {
    checkSwitchgear(options)
    if (before !== undefined) checkFixed(options)
    const { clock, random, logger, journal } = before ?? takeRuntime(options)
    this.options = options
    this.clock = clock
    this.random = random
    this.journal = journal
    this.notifier = before?.notifier ?? new Notifier(logger)
    this.limits = before?.limits ?? new Limits(clock)
    this.waiters = before?.waiters ?? new Set()
    this.listeners = before?.listeners ?? {
      transition: new Set(),
      hold: new Set(),
      failure: new Set(),
      outcome: new Set(),
    }
    this.calls = before?.calls ?? new CallStats()
    this.observer = before?.observer
    this.#ids = before === undefined ? { last: 0 } : before.#ids
    this.#inCharge = before === undefined ? { gear: this } : before.#inCharge
    this.deadlineMs = options.deadlineMs
    const budget = resolveBudget(options.retryBudget)
    this.budget = budget === null ? undefined : new RetryBudget(...budget)
    this.targets = options.targets.map((target, i) => new Target(target, i, this.limits))
    this.byName = byName(this.targets)
    checkBuckets(this.targets)
    this.plan = this.#plan()
    const rules = sharedRules(this.targets)
    const changed = (transition: Transition, breaker: ResolvedBreaker) => this.#changed(transition, breaker)
    this.buckets = before?.buckets ?? new Buckets(surroundings(this), options, changed, options.snapshots)
    if (before !== undefined) this.#takeOver(before, rules, changed)
    for (const target of this.targets) {
      const own = rules.get(target)
      if (own !== undefined) target.join(this.buckets, own)
    }
    this.#warn()
  }

  get logger(): Notifier['logger'] {
    return this.notifier.logger
  }

  /** The one in charge now. */
  get latest(): Gear<Request, Result, Part> {
    return this.#inCharge.gear
  }

  /** Circuits whose rules are the same go on; calls under way end where they began. */
  #takeOver(
    before: Gear<Request, Result, Part>,
    rules: ReadonlyMap<Target<Request, Result, Part>, ResolvedBreaker>,
    changed: (transition: Transition, breaker: ResolvedBreaker) => void,
  ): void {
    const wanted = [...rules].map(([{ bucket, isolates }, own]) => ({ bucket, isolates, rules: own }))
    this.buckets.redeclare(wanted, changed)
    for (const target of this.targets) {
      const old = before.byName.get(target.name)
      if (old !== undefined) target.stats = old.stats
    }
    // the retries of calls under way ask the circuits that are in force
    for (const old of before.targets) {
      const same = wanted.find(({ bucket, isolates }) => bucket === old.bucket && isolates === old.isolates)
      if (same !== undefined && old.rules !== undefined) old.join(this.buckets, same.rules)
    }
    this.#before = before
    this.#inCharge.gear = this
    void before.#drained().then(() => {
      this.#before = undefined
    })
  }

  get supervisor(): SupervisorRef {
    return this.buckets.supervisor
  }

  #plan(): Gear<Request, Result, Part>['plan'] {
    const { options, targets, byName } = this
    const names = new Set(byName.keys())
    return {
      targets: targets.map(({ name }) => name),
      known: Object.fromEntries(targets.map(({ name, planned }) => [name, planned])),
      lists: {
        'context-window': checkLists('contextWindowFallbacks', options.contextWindowFallbacks, names),
        'content-policy': checkLists('contentPolicyFallbacks', options.contentPolicyFallbacks, names),
      },
      whenAllOpen: resolveWhenAllOpen(options.whenAllOpen),
    }
  }

  #warn(): void {
    const { deadlineMs } = this
    for (const { name, timeoutMs } of this.targets) {
      if (deadlineMs === undefined || deadlineMs > timeoutMs) continue
      const text = `deadlineMs (${deadlineMs}) is not longer than timeoutMs of '${name}' (${timeoutMs}): a hanging target leaves no time for the next one`
      this.notifier.guard('the logger', () => this.notifier.logger.warn({ target: name }, text))
    }
  }

  nextId(): string {
    return `call-${++this.#ids.last}`
  }

  /** @throws RangeError for a name that is no target, a name twice, or no name at all */
  chainOf(names: readonly string[]): Target<Request, Result, Part>[] {
    if (names.length === 0) throw new RangeError('targets is empty; give the name of one target at least.')
    const chain = names.map((name) => {
      const target = this.byName.get(name)
      if (target !== undefined) return target
      throw new RangeError(`There is no target '${name}'. ${didYouMean(name, [...this.byName.keys()])}`)
    })
    if (new Set(chain).size === chain.length) return chain
    throw new RangeError(`targets names a target twice: ${names.join(', ')}.`)
  }

  /** Every breaker that exists, and every target, in plain numbers. */
  stats(): GearStats {
    return {
      calls: this.calls,
      running: this.running,
      breakers: this.buckets.all().map((breaker) => ({
        bucket: breaker.name,
        model: breaker.model,
        targets: this.#targetsOf(breaker.name, breaker.model),
        stats: breaker.stats,
        status: breaker.getStatus(),
        policy: breaker.options.policy,
      })),
      targets: this.targets.map(({ name, options, stats }) => ({ name, model: options.model, stats })),
    }
  }

  #targetsOf(bucket: string, model: string | undefined): string[] {
    return this.targets
      .filter((target) => target.rules !== undefined && target.bucketFor(model) === bucket)
      .map(({ name }) => name)
  }

  /** Why a call cannot even begin; it is reported all the same. */
  obstacleTo({ signal, report }: CallOptions): { readonly error: unknown } | undefined {
    if (!this.closed && signal?.aborted !== true) return undefined
    if (!this.closed) this.calls.aborted++
    const nothing = {
      target: undefined,
      model: undefined,
      attempts: 0,
      fallbackIndex: -1,
      durationMs: 0,
      ok: false,
    }
    if (report !== undefined) this.notifier.guard('report', () => report(nothing))
    return {
      error: this.closed ? new SwitchgearError('ERR_CLOSED', 'The switchgear is closed.') : signal?.reason,
    }
  }

  /** Calls under way, those of its predecessors included. */
  get running(): number {
    return this.#running + (this.#before?.running ?? 0)
  }

  begun(): void {
    this.#running++
    this.clock.hold?.()
    this.budget?.deposit()
  }

  ended(): void {
    this.#running--
    this.clock.release?.()
    if (this.#running === 0) this.#closing?.resolve()
  }

  /** What the user's `fallbackOn` says; undefined = nothing. */
  routeOf(error: unknown, verdict: Verdict, isLastTarget: boolean): 'next' | 'stop' | undefined {
    const { fallbackOn } = this.options
    const route =
      fallbackOn && this.notifier.ask('fallbackOn', () => fallbackOn(error, { isLastTarget, verdict }))
    return route === 'next' || route === 'stop' ? route : undefined
  }

  /** Tells whoever listens, after the commit. */
  tell(failed: () => FailedAttempt): void {
    const { onEvent } = this.options
    const listeners = this.listeners.failure
    if (onEvent === undefined && listeners.size === 0) return
    this.notifier.add(() => {
      const told = failed()
      if (onEvent !== undefined) this.notifier.guard('onEvent', () => onEvent(told))
      hear(listeners, told, this.notifier)
    })
    this.notifier.flush()
  }

  /** Tells whoever records it what a visit came to, or that there was none. `since` and `now` are of our own clock. */
  record(
    target: Target<Request, Result, Part>,
    model: string | undefined,
    outcome: Outcome | undefined,
    since: number,
    now: number,
  ): void {
    const { clock, listeners, notifier } = this
    const found = outcome?.outcome === 'failure' ? outcome : undefined
    const told: VisitOutcome = {
      at: clock.wall() - (now - since),
      target: target.name,
      model,
      bucket: target.bucketFor(model),
      outcome: outcome === undefined ? 'refused' : outcome.outcome,
      failure: found && (found.failure ?? 'unknown'),
      latencyMs: outcome === undefined ? undefined : now - since,
      retryAfterMs: found?.retryAfterMs,
    }
    notifier.add(() => hear(listeners.outcome, told, notifier))
    notifier.flush()
  }

  #changed(transition: Transition, breaker: ResolvedBreaker): void {
    const { onStateChange, onEvent } = this.options
    tellTransition(breaker.onStateChange, this.notifier)(transition)
    const { from, to, consecutiveFailures, model } = transition
    const guard = (what: string, run: () => unknown) => this.notifier.guard(what, run)
    if (onStateChange !== undefined) {
      guard('onStateChange', () => onStateChange(from, to, consecutiveFailures, model, transition))
    }
    if (onEvent !== undefined) {
      const targets = this.#targetsOf(transition.bucket, model)
      guard('onEvent', () => onEvent({ type: 'circuit_state', targets, ...transition }))
    }
    hear(this.listeners.transition, transition, this.notifier)
  }

  /** Refuses new calls, waits for the running ones, then lets go of every timer and actor. */
  async close(): Promise<void> {
    this.closed = true
    await this.#drained()
    this.limits.close()
    this.buckets.close()
  }

  /** No call is under way any more, those of its predecessors included. */
  async #drained(): Promise<void> {
    if (this.#before !== undefined) await this.#before.#drained()
    if (this.#running > 0) await (this.#closing ??= Promise.withResolvers<void>()).promise
  }
}

/** What circuits need and tell. They outlive the gear that opened them, so nothing in here may lead to it. */
function surroundings<Request, Result, Part>(gear: Gear<Request, Result, Part>) {
  const { clock, random, notifier, journal, listeners, waiters } = gear
  return {
    clock,
    random,
    notifier,
    journal,
    onHold: (held: HeldCircuit) => hear(listeners.hold, held, notifier),
    // whoever waits again is not asked twice
    onChange: () => Array.from(waiters).forEach((waiter) => waiter.wake()),
  }
}

function hear<T>(listeners: ReadonlySet<(told: T) => void>, told: T, notifier: Notifier): void {
  for (const listener of listeners) notifier.guard('a listener', () => listener(told))
}

/** A model may be called anything, so nobody else's bucket may begin like those of a target that isolates. */
function checkBuckets(
  targets: readonly { readonly name: string; readonly bucket: string; readonly isolates: boolean }[],
): void {
  for (const { name, bucket, isolates } of targets) {
    const other = isolates ? targets.find((target) => target.bucket.startsWith(`${bucket}/`)) : undefined
    if (other === undefined) continue
    throw new ConfigError(
      `'${name}' isolates by model, and '${other.name}' has a bucket that looks like one of its models.`,
      {
        path: 'targets',
        hint: `Give '${name}' another bucket.`,
      },
    )
  }
}

function byName<T extends { readonly name: string }>(targets: readonly T[]): Map<string, T> {
  const map = new Map<string, T>()
  for (const target of targets) {
    if (map.has(target.name)) {
      throw new ConfigError(`Two targets are called '${target.name}'.`, {
        path: 'targets',
        hint: 'Give each a name of its own.',
      })
    }
    map.set(target.name, target)
  }
  return map
}
