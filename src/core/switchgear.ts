import type { SavedCircuit } from '../../machines/breaker-events.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'
import { Attempt } from './attempt.ts'
import type { BreakerStatus } from './breaker-status.ts'
import type { CallObserver } from './call-observer.ts'
import { CallStream } from './call-stream.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { ConfigError, SwitchgearError } from './errors.ts'
import type { Explanation } from './explain.ts'
import { Gear } from './gear.ts'
import type { Heard } from './gear.ts'
import type { SupervisorRef } from './host.ts'
import type { CommandOptions } from './operator.ts'
import { Run } from './run.ts'
import type { GearStats } from './stats.ts'
import type { CallOptions, SwitchgearOptions, SwitchgearRules } from './switchgear-options.ts'
import type { Target } from './target.ts'
import { checkKeys, didYouMean } from './validate.ts'

/** Which circuit: by place or name, and by model where the target isolates. Default: the primary. */
export interface TargetSelector {
  readonly index?: number
  readonly name?: string
  readonly model?: string
}

/** One line of {@link Switchgear.getCircuitStates}. */
export interface TargetState {
  readonly provider: string
  readonly index: number
  readonly isFallback: boolean
  readonly isolateByModel: boolean
  /** undefined = the target has no breaker. */
  readonly state: CircuitState | undefined
}

const NO_OPTIONS: CallOptions = Object.freeze({})

/** Targets in breakers, and the chain over them. Made by {@link createSwitchgear}. */
export class Switchgear<Request, Result, Part> {
  #gear: Gear<Request, Result, Part>

  constructor(gear: Gear<Request, Result, Part>) {
    this.#gear = gear
  }

  /**
   * Sends a request along the chain.
   *
   * @throws the target's own error, or CircuitOpenError, where only one target was asked or refused
   * @throws FallbackExhaustedError once two targets were
   * @throws DeadlineExceededError when the time for the whole call is over
   * @throws the caller's own reason when `signal` aborts
   */
  call(request: Request, options: CallOptions = NO_OPTIONS): Promise<Result> {
    const gear = this.#gear
    const obstacle = gear.obstacleTo(options)
    if (obstacle !== undefined) return Promise.reject(obstacle.error)
    return new Promise((resolve, reject) => {
      const run = new Run<Request, Result, Part, Result>(gear, request, options, beginCall)
      run.resolve = resolve
      run.reject = reject
      run.start()
    })
  }

  /**
   * The same, in parts. Nothing is sent before the first read; it falls back until the first content, never after.
   *
   * @throws StreamInterruptedError, into the reader, when the stream breaks after its first content
   */
  stream(request: Request, options: CallOptions = NO_OPTIONS): AsyncIterableIterator<Part, undefined> {
    return new CallStream(this.#gear, request, options)
  }

  /** undefined = the target has no breaker. @throws RangeError for an unknown target */
  getCircuitState(target?: TargetSelector): CircuitState | undefined {
    return this.#read(target, (breaker) => breaker?.state ?? 'closed')
  }

  /** Every target in order of declaration. */
  getCircuitStates(model?: string): TargetState[] {
    return this.#gear.targets.map((target) => ({
      provider: target.name,
      index: target.index,
      isFallback: target.index > 0,
      isolateByModel: target.isolates,
      state: this.getCircuitState({
        index: target.index,
        ...(model !== undefined && target.isolates && { model }),
      }),
    }))
  }

  /** undefined = the target has no breaker, or its bucket was never used. */
  getStatus(target?: TargetSelector): BreakerStatus | undefined {
    return this.#read(target, (breaker) => breaker?.getStatus())
  }

  /** What the next admission would say; a target without a breaker says yes. */
  canExecute(target?: TargetSelector): boolean {
    return this.#read(target, (breaker) => breaker?.canExecute() ?? true) ?? true
  }

  /** Failures by kind, `{}` where nothing has failed; undefined = the target has no breaker. */
  getFailureBreakdown(target?: TargetSelector): Record<string, number> | undefined {
    return this.#read(target, (breaker) => breaker?.getFailureBreakdown() ?? {})
  }

  /** Why a circuit is as it is; undefined = the target has no breaker, or its bucket was never used. */
  explain(target?: TargetSelector): Explanation | undefined {
    return this.#read(target, (breaker) => breaker?.explain())
  }

  /** Opens by hand. Nothing happens where the target has no breaker. */
  openCircuit(target?: TargetSelector, options?: CommandOptions): void {
    this.#breaker(target)?.open(options)
  }

  /** Closes by hand. Nothing happens where the target has no breaker. */
  closeCircuit(target?: TargetSelector, options?: CommandOptions): void {
    this.#breaker(target)?.close(options)
  }

  /** Hears what happens, after the commit; what a listener throws is logged. Returns the way to stop. */
  on<E extends keyof Heard>(event: E, listener: (told: Heard[E]) => void): () => void {
    const { listeners } = this.#gear
    if (!Object.hasOwn(listeners, event)) {
      const hint = didYouMean(event, Object.keys(listeners))
      throw new ConfigError(`Unknown event '${event}'.`, { hint })
    }
    listeners[event].add(listener)
    return () => listeners[event].delete(listener)
  }

  /**
   * Looks on at every call from now on, for traces. Returns the way to stop.
   *
   * @throws ConfigError when somebody does already
   */
  observe(observer: CallObserver): () => void {
    const gear = this.#gear
    if (gear.observer !== undefined) {
      throw new ConfigError('The calls are observed already.', { hint: 'Stop the other observer first.' })
    }
    gear.observer = observer
    return () => {
      if (gear.latest.observer === observer) gear.latest.observer = undefined
    }
  }

  /** The XState root actor, for inspection. */
  get supervisor(): SupervisorRef {
    return this.#gear.supervisor
  }

  /**
   * Puts other targets and rules in force. Calls under way end as they began; circuits whose options did not change go
   * on with all they have counted, those with other options go on in their state under the new ones.
   *
   * @throws RangeError, ConfigError for options that are refused; then everything stays as it was
   */
  reconfigure(options: SwitchgearRules<Request, Result, Part>): void {
    if (this.#gear.closed) throw new SwitchgearError('ERR_CLOSED', 'The switchgear is closed.')
    this.#gear = new Gear(options, this.#gear)
  }

  /** Plain numbers of every breaker and target, for metrics; only ever added to. */
  stats(): GearStats {
    return this.#gear.stats()
  }

  /** Every circuit as it would survive a restart; give it back as the option `snapshots`. */
  snapshots(): Record<string, SavedCircuit> {
    return this.#gear.buckets.snapshots()
  }

  /** Refuses new calls, waits for the running ones, then lets go of every timer and actor. */
  close(): Promise<void> {
    return this.#gear.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #read<T>(
    selector: TargetSelector | undefined,
    read: (breaker: CircuitBreaker | undefined) => T,
  ): T | undefined {
    const [target, model] = this.#select(selector)
    return target.rules === undefined ? undefined : read(target.peekBreaker(model))
  }

  #breaker(selector: TargetSelector | undefined): CircuitBreaker | undefined {
    const [target, model] = this.#select(selector)
    return this.#gear.closed ? target.peekBreaker(model) : target.breakerFor(model)
  }

  #select(selector: TargetSelector = {}): [Target<Request, Result, Part>, string | undefined] {
    checkKeys('target', selector, ['index', 'name', 'model'])
    const { index, name, model } = selector
    const target = this.#find(index, name)
    if (model !== undefined && !target.isolates) {
      const text = `model '${model}' has no effect: '${target.name}' does not isolate by model`
      this.#gear.notifier.guard('the logger', () =>
        this.#gear.notifier.logger.warn({ target: target.name, model }, text),
      )
    }
    return [target, target.modelFor(model)]
  }

  #find(index: number | undefined, name: string | undefined): Target<Request, Result, Part> {
    const { targets, byName } = this.#gear
    if (name !== undefined) {
      const target = byName.get(name)
      if (target === undefined) {
        throw new RangeError(`There is no target '${name}'. ${didYouMean(name, [...byName.keys()])}`)
      }
      if (index !== undefined && target.index !== index) {
        throw new RangeError(`'${name}' has the index ${target.index}, not ${index}; give one of the two.`)
      }
      return target
    }
    const target = targets[index ?? 0]
    if (target === undefined) {
      throw new RangeError(
        `There is no target with index ${index}; it must be an integer from 0 to ${targets.length - 1}.`,
      )
    }
    return target
  }
}

function beginCall<Request, Result, Part>(
  run: Run<Request, Result, Part, Result>,
  target: Target<Request, Result, Part>,
  attempt: number,
  now: number,
): Attempt<Request, Result, Part, Result> {
  return new Attempt(run, target, run.model, attempt, now)
}

/**
 * Wraps targets in circuit breakers and runs calls along them.
 *
 * @throws RangeError for a number out of its range, naming option, value and range
 * @throws ConfigError for an unknown option or word, or a conflict
 * @example
 * ```ts
 * const gear = createSwitchgear({
 *   targets: [
 *     { name: 'openai', model: 'gpt-5', invoke: askOpenAI, circuitBreaker: true },
 *     { name: 'anthropic', model: 'claude-sonnet', invoke: askAnthropic, circuitBreaker: true },
 *   ],
 * })
 * const answer = await gear.call({ prompt: 'Hello' })
 * ```
 */
export function createSwitchgear<Request, Result, Part = Result>(
  options: SwitchgearOptions<Request, Result, Part>,
): Switchgear<Request, Result, Part> {
  return new Switchgear(new Gear(options))
}
