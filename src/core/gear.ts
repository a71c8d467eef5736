import type { ChainPlan } from '../../machines/chain-events.ts'
import type { Verdict } from '../classify/verdict.ts'
import type { ResolvedBreaker } from './breaker-options.ts'
import type { WantedBucket } from './buckets.ts'
import { RetryBudget } from './budget.ts'
import type { CallObserver } from './call-observer.ts'
import { hasAborted, reasonOf } from './caller-signal.ts'
import type { Clock, Random } from './clock.ts'
import { ConfigError, SwitchgearError } from './errors.ts'
import { Frame } from './frame.ts'
import { hear } from './heard.ts'
import type { Listeners } from './heard.ts'
import type { SupervisorRef } from './host.ts'
import type { Limits } from './limits.ts'
import type { Notifier } from './notifier.ts'
import type { Outcome } from './permit.ts'
import { sharedRules } from './shared-rules.ts'
import type { CallStats, GearStats } from './stats.ts'
import {
  checkFixed,
  checkLists,
  checkSwitchgear,
  resolveBudget,
  resolveWhenAllOpen,
} from './switchgear-options.ts'
import type { CallOptions, FailedAttempt, SwitchgearOptions } from './switchgear-options.ts'
import { TargetCircuit } from './target-circuit.ts'
import { Target } from './target.ts'
import { tellTransition } from './tell-transition.ts'
import type { Transition } from './transition.ts'
import { checkList, cut, didYouMean } from './validate.ts'
import type { VisitOutcome } from './visit-outcome.ts'

/** Targets and rules of a switchgear, from the moment they are put in force until the last of their calls has ended. */
export class Gear<Request, Result, Part> {
  readonly frame: Frame<Gear<Request, Result, Part>>
  readonly clock: Clock
  readonly random: Random
  readonly notifier: Notifier
  readonly limits: Limits
  readonly waiters: Set<{ wake(): void }>
  readonly listeners: Listeners
  readonly calls: CallStats
  readonly targets: readonly Target<Request, Result, Part>[]
  readonly byName: ReadonlyMap<string, Target<Request, Result, Part>>
  readonly plan: Omit<ChainPlan, 'startedAt' | 'deadlineAt'>
  readonly deadlineMs: number | undefined
  readonly options: SwitchgearOptions<Request, Result, Part>
  budget: RetryBudget | undefined
  /** False = the chain decides from the first step on; for the proof that both ways are the same. */
  inline = true
  /** Why no call, and why no stream, can come of it; undefined = it can. */
  readonly faults: { readonly call: ConfigError | undefined; readonly stream: ConfigError | undefined }
  readonly #rules: ReadonlyMap<Target<Request, Result, Part>, ResolvedBreaker>
  readonly #budget: ReturnType<typeof resolveBudget>
  #running = 0

  /** Checks everything and changes nothing; without a frame it makes one of its own, and takes charge. */
  constructor(options: SwitchgearOptions<Request, Result, Part>, frame?: Frame<Gear<Request, Result, Part>>) {
    checkSwitchgear(options)
    if (frame !== undefined) checkFixed(options)
    this.frame = frame ?? new Frame(options)
    const { clock, random, notifier, limits, waiters, listeners, calls } = this.frame
    this.options = options
    this.clock = clock
    this.random = random
    this.notifier = notifier
    this.limits = limits
    this.waiters = waiters
    this.listeners = listeners
    this.calls = calls
    this.deadlineMs = options.deadlineMs
    this.#budget = resolveBudget(options.retryBudget)
    this.targets = options.targets.map((target, i) => new Target(target, i, limits))
    this.byName = byName(this.targets)
    this.faults = faultsOf(this.targets)
    this.#rules = sharedRules(this.targets)
    this.plan = this.#plan()
    if (frame === undefined) this.takeCharge()
  }

  /**
   * Puts its targets and rules in force. Circuits and counters go on; calls under way end on the targets they began with.
   *
   * @throws SwitchgearError when there is no room for its circuits, or after close(); then everything stays as it was
   */
  takeCharge(): void {
    const { frame } = this
    if (frame.closed) throw new SwitchgearError('ERR_CLOSED', 'The switchgear is closed.')
    // whoever hears of it finds all of it in force
    frame.notifier.commit(() => frame.replace(this))
    this.#warn()
  }

  /** The circuits that it wants to be in force. */
  get wanted(): WantedBucket[] {
    return [...this.#rules].map(([{ bucket, isolates }, rules]) => ({ bucket, isolates, rules }))
  }

  /** The circuits that its calls under way may ask. */
  get asked(): WantedBucket[] {
    return this.targets.flatMap(({ circuit }) => circuit?.wanted ?? [])
  }

  /** What it wants is in force: takes up circuits, counters and what is left of the retry budget. */
  join(before: Gear<Request, Result, Part> | undefined): void {
    const { buckets } = this.frame
    if (this.#budget !== null)
      this.budget = before?.budget?.follow(...this.#budget) ?? new RetryBudget(...this.#budget)
    for (const target of this.targets) {
      target.stats = before?.byName.get(target.name)?.stats ?? target.stats
      const { bucket, isolates } = target
      const rules = this.#rules.get(target)
      if (rules !== undefined) target.circuit = new TargetCircuit(buckets, { bucket, isolates, rules })
    }
  }

  /** Others are in charge: its targets ask the circuits of those that have their names now. */
  yieldTo(next: Gear<Request, Result, Part>): void {
    for (const target of this.targets) {
      const namesake = next.byName.get(target.name)
      if (namesake !== undefined) target.circuit = namesake.circuit
    }
  }

  /** The one in charge now. */
  get latest(): Gear<Request, Result, Part> {
    return this.frame.gear
  }

  get observer(): CallObserver | undefined {
    return this.frame.observer
  }

  get logger(): Notifier['logger'] {
    return this.notifier.logger
  }

  get supervisor(): SupervisorRef {
    return this.frame.buckets.supervisor
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
    return this.frame.nextId()
  }

  /** @throws RangeError for a name that is no target, a name twice, or no name at all */
  chainOf(names: readonly string[]): Target<Request, Result, Part>[] {
    checkList('targets', names)
    if (names.length === 0) throw new RangeError('targets is empty; give the name of one target at least.')
    const chain = names.map((name) => {
      const target = this.byName.get(name)
      if (target !== undefined) return target
      throw new RangeError(`There is no target '${cut(name)}'. ${didYouMean(name, [...this.byName.keys()])}`)
    })
    if (new Set(chain).size === chain.length) return chain
    throw new RangeError(`targets names a target twice: ${names.join(', ')}.`)
  }

  /** Every circuit that was used or would refuse, and every target, in plain numbers. */
  stats(): GearStats {
    return {
      calls: this.calls,
      running: this.frame.running,
      breakers: this.frame.buckets.survey((breaker) => ({
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
    return this.targets.filter(({ circuit }) => circuit?.bucketFor(model) === bucket).map(({ name }) => name)
  }

  /** Why a call cannot even begin; it is reported all the same. */
  obstacleTo(options: CallOptions): { readonly error: unknown } | undefined {
    if (typeof options !== 'object' || options === null) {
      const text = `The options of a call are ${String(options)}; give an object or nothing.`
      return { error: new ConfigError(text) }
    }
    const { signal } = options
    if (!this.frame.closed && (signal === undefined || !hasAborted(signal))) return undefined
    return { error: this.#turnAway(options) }
  }

  #turnAway({ signal, report }: CallOptions): unknown {
    const { closed } = this.frame
    if (!closed) this.calls.aborted++
    const nothing = {
      target: undefined,
      model: undefined,
      attempts: 0,
      fallbackIndex: -1,
      durationMs: 0,
      ok: false,
    }
    if (report !== undefined) this.notifier.guard('report', () => report(nothing))
    return closed ? new SwitchgearError('ERR_CLOSED', 'The switchgear is closed.') : reasonOf(signal)
  }

  /** Its calls under way. */
  get running(): number {
    return this.#running
  }

  begun(): void {
    this.#running++
    this.clock.hold?.()
    this.budget?.deposit()
  }

  ended(): void {
    this.#running--
    this.clock.release?.()
    const { frame } = this
    if (this.#running === 0 && (frame.gear !== this || frame.closed)) frame.emptied(this)
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
      bucket: target.circuit?.bucketFor(model) ?? target.bucket,
      outcome: outcome === undefined ? 'refused' : outcome.outcome,
      failure: found && (found.failure ?? 'unknown'),
      latencyMs: outcome === undefined ? undefined : now - since,
      retryAfterMs: found?.retryAfterMs,
    }
    notifier.add(() => hear(listeners.outcome, told, notifier))
    notifier.flush()
  }

  /** A circuit has changed its state under these rules. */
  changed(transition: Transition, rules: ResolvedBreaker): void {
    const { onStateChange, onEvent } = this.options
    tellTransition(rules.onStateChange, this.notifier)(transition)
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
}

function faultsOf<Request, Result, Part>(
  targets: readonly Target<Request, Result, Part>[],
): Gear<Request, Result, Part>['faults'] {
  const lacking = (key: 'invoke' | 'stream', what: string, other: string) =>
    targets.some(({ options }) => options[key] !== undefined)
      ? undefined
      : new ConfigError(`No target can ${what}.`, {
          path: 'targets',
          hint: `Give ${key} to the targets, or use ${other}.`,
        })
  return {
    call: lacking('invoke', 'answer in one piece', 'stream()'),
    stream: lacking('stream', 'stream', 'call()'),
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
