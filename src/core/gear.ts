import type { ChainPlan } from '../../machines/chain-events.ts'
import type { Verdict } from '../classify/verdict.ts'
import { RetryBudget } from './budget.ts'
import type { ResolvedBreaker } from './breaker-options.ts'
import type { Clock, Random } from './clock.ts'
import { takeRuntime } from './create-breaker.ts'
import { ConfigError, SwitchgearError } from './errors.ts'
import type { SupervisorRef } from './host.ts'
import { Limits } from './limits.ts'
import { Notifier } from './notifier.ts'
import { Buckets } from './registry.ts'
import { checkLists, checkSwitchgear, resolveBudget, resolveWhenAllOpen } from './switchgear-options.ts'
import type { CallOptions, SwitchgearEvent, SwitchgearOptions } from './switchgear-options.ts'
import { sharedRules } from './shared-rules.ts'
import { Target } from './target.ts'
import { tellTransition } from './tell-transition.ts'
import type { Transition } from './transition.ts'

export type TransitionListener = (transition: Transition) => void

/** The inside of a switchgear: targets, breakers, limits and listeners, shared by all of its calls. */
export class Gear<Request, Result, Part> {
  readonly clock: Clock
  readonly random: Random
  readonly notifier: Notifier
  readonly limits: Limits
  readonly budget: RetryBudget | undefined
  readonly buckets: Buckets
  readonly targets: readonly Target<Request, Result, Part>[]
  readonly byName: ReadonlyMap<string, Target<Request, Result, Part>>
  readonly plan: Omit<ChainPlan, 'startedAt' | 'deadlineAt'>
  readonly deadlineMs: number | undefined
  readonly options: SwitchgearOptions<Request, Result, Part>
  readonly waiters = new Set<{ wake(): void }>()
  readonly listeners = new Set<TransitionListener>()
  /** False = the chain decides from the first step on; for the proof that both ways are the same. */
  inline = true
  #calls = 0
  #running = 0
  #closing: PromiseWithResolvers<void> | undefined
  closed = false

  constructor(options: SwitchgearOptions<Request, Result, Part>) {
    checkSwitchgear(options)
    const { clock, random, logger, journal } = takeRuntime(options)
    this.options = options
    this.clock = clock
    this.random = random
    this.notifier = new Notifier(logger)
    this.limits = new Limits(clock)
    this.deadlineMs = options.deadlineMs
    const budget = resolveBudget(options.retryBudget)
    this.budget = budget === null ? undefined : new RetryBudget(...budget)
    this.targets = options.targets.map((target, i) => new Target(target, i, this.limits))
    this.byName = byName(this.targets)
    checkBuckets(this.targets)
    this.plan = this.#plan()
    const rules = sharedRules(this.targets)
    const around = { clock, random, notifier: this.notifier, journal, onChange: () => this.#wake() }
    const changed = (transition: Transition, breaker: ResolvedBreaker) => this.#changed(transition, breaker)
    this.buckets = new Buckets(around, options, changed, options.snapshots)
    for (const target of this.targets) {
      const own = rules.get(target)
      if (own !== undefined) target.join(this.buckets, own)
    }
    this.#warn()
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
    return `call-${++this.#calls}`
  }

  /** Why a call cannot even begin; it is reported all the same. */
  obstacleTo({ signal, report }: CallOptions): { readonly error: unknown } | undefined {
    if (!this.closed && signal?.aborted !== true) return undefined
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
  tell(event: () => SwitchgearEvent): void {
    const { onEvent } = this.options
    if (onEvent === undefined) return
    this.notifier.add(() => onEvent(event()))
    this.notifier.flush()
  }

  #changed(transition: Transition, breaker: ResolvedBreaker): void {
    const { onStateChange, onEvent } = this.options
    tellTransition(breaker.onStateChange, this.notifier)(transition)
    const { from, to, consecutiveFailures, model } = transition
    const guard = (what: string, run: () => unknown) => this.notifier.guard(what, run)
    if (onStateChange !== undefined) {
      guard('onStateChange', () => onStateChange(from, to, consecutiveFailures, model, transition))
    }
    const targets = this.targets.filter(
      (target) => target.rules !== undefined && target.bucketFor(transition.model) === transition.bucket,
    )
    if (onEvent !== undefined) {
      guard('onEvent', () =>
        onEvent({ type: 'circuit_state', targets: targets.map(({ name }) => name), ...transition }),
      )
    }
    for (const listener of this.listeners) guard('a listener', () => listener(transition))
  }

  #wake(): void {
    // whoever waits again is not asked twice
    for (const waiter of Array.from(this.waiters)) waiter.wake()
  }

  /** Refuses new calls, waits for the running ones, then lets go of every timer and actor. */
  async close(): Promise<void> {
    this.closed = true
    if (this.#running > 0) await (this.#closing ??= Promise.withResolvers<void>()).promise
    this.limits.close()
    this.buckets.close()
  }
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
