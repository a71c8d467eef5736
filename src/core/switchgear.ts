import type { SavedCircuit } from '../../machines/breaker-events.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'
import { Attempt } from './attempt.ts'
import type { BreakerStatus } from './breaker-status.ts'
import type { CallObserver } from './call-observer.ts'
import { CallStream } from './call-stream.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { ConfigError } from './errors.ts'
import type { Explanation } from './explain.ts'
import type { Frame } from './frame.ts'
import { Gear } from './gear.ts'
import type { Heard } from './heard.ts'
import type { SupervisorRef } from './host.ts'
import type { CommandOptions } from './operator.ts'
import { Run } from './run.ts'
import type { GearStats } from './stats.ts'
import type { CallOptions, SwitchgearOptions, SwitchgearRules } from './switchgear-options.ts'
import type { Target } from './target.ts'
import { checkFunction, checkKeys, checkMethods, checkWord, cut, didYouMean } from './validate.ts'

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
  readonly #frame: Frame<Gear<Request, Result, Part>>

  constructor({ frame }: Gear<Request, Result, Part>) {
    this.#frame = frame
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
    const gear = this.#frame.gear
    const obstacle = gear.obstacleTo(options)
    if (obstacle !== undefined) return Promise.reject(obstacle.error)
    return new Promise((resolve, reject) => {
      const run = new Run<Request, Result, Part, Result>(gear, request, options, beginCall)
      run.resolve = resolve
      run.reject = reject
      run.start(gear.faults.call)
    })
  }

  /**
   * The same, in parts. Nothing is sent before the first read; it falls back until the first content, never after.
   *
   * @throws StreamInterruptedError, into the reader, when the stream breaks after its first content
   */
  stream(request: Request, options: CallOptions = NO_OPTIONS): AsyncIterableIterator<Part, undefined> {
    return new CallStream(this.#frame.gear, request, options)
  }

  /** undefined = the target has no breaker. @throws RangeError for an unknown target */
  getCircuitState(target?: TargetSelector): CircuitState | undefined {
    return this.#read(target, (breaker) => breaker?.state ?? 'closed')
  }

  /** Every target in order of declaration. */
  getCircuitStates(model?: string): TargetState[] {
    return this.#frame.gear.targets.map((target) => ({
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

  /**
   * Hears what happens, after the commit; what a listener throws is logged. Returns the way to stop.
   *
   * @throws ConfigError for an unknown event, or what is no function
   */
  on<E extends keyof Heard>(event: E, listener: (told: Heard[E]) => void): () => void {
    const { listeners } = this.#frame
    checkWord('event', event, Object.keys(listeners))
    checkFunction('listener', listener ?? null)
    // the same function may listen twice, and stop once
    const own = (told: Heard[E]) => listener(told)
    listeners[event].add(own)
    return () => listeners[event].delete(own)
  }

  /**
   * Looks on at every call from now on, for traces. Returns the way to stop.
   *
   * @throws ConfigError when somebody does already, or for what has no `begin`
   */
  observe(observer: CallObserver): () => void {
    const frame = this.#frame
    checkMethods('observer', observer ?? null, ['begin'])
    if (frame.observer !== undefined) {
      throw new ConfigError('The calls are observed already.', { hint: 'Stop the other observer first.' })
    }
    frame.observer = observer
    return () => {
      if (frame.observer === observer) frame.observer = undefined
    }
  }

  /** The XState root actor, for inspection. */
  get supervisor(): SupervisorRef {
    return this.#frame.buckets.supervisor
  }

  /**
   * Puts other targets and rules in force, all of them or none. Circuits go on in their state: with all they have counted
   * where their rules decide as before, counting from zero where they do not. Calls under way end on the targets that
   * they began with, and ask the circuits that are in force for them; those of a target that is gone go with its last call.
   *
   * @throws RangeError, ConfigError for options that are refused; then everything stays as it was
   * @throws SwitchgearError when there is no room for their circuits, or after close(); the same
   */
  reconfigure(options: SwitchgearRules<Request, Result, Part>): void {
    new Gear(options, this.#frame).takeCharge()
  }

  /** Plain numbers of every breaker and target, for metrics; only ever added to. */
  stats(): GearStats {
    return this.#frame.gear.stats()
  }

  /** Every circuit as it would survive a restart; give it back as the option `snapshots`. */
  snapshots(): Record<string, SavedCircuit> {
    return this.#frame.buckets.snapshots()
  }

  /** Refuses new calls, waits for the running ones, then lets go of every timer and actor. */
  close(): Promise<void> {
    return this.#frame.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #read<T>(
    selector: TargetSelector | undefined,
    read: (breaker: CircuitBreaker | undefined) => T,
  ): T | undefined {
    const [target, model] = this.#select(selector)
    return target.circuit?.look(model, read)
  }

  #breaker(selector: TargetSelector | undefined): CircuitBreaker | undefined {
    const [target, model] = this.#select(selector)
    return this.#frame.closed ? target.peekBreaker(model) : target.breakerFor(model)
  }

  #select(selector: TargetSelector = {}): [Target<Request, Result, Part>, string | undefined] {
    checkKeys('target', selector, ['index', 'name', 'model'])
    const { index, name, model } = selector
    const target = this.#find(index, name)
    if (model !== undefined && !target.isolates) {
      const text = `model '${model}' has no effect: '${target.name}' does not isolate by model`
      this.#frame.notifier.guard('the logger', () =>
        this.#frame.notifier.logger.warn({ target: target.name, model }, text),
      )
    }
    return [target, target.modelFor(model)]
  }

  #find(index: number | undefined, name: string | undefined): Target<Request, Result, Part> {
    const { targets, byName } = this.#frame.gear
    if (name !== undefined) {
      const target = byName.get(name)
      if (target === undefined) {
        throw new RangeError(`There is no target '${cut(name)}'. ${didYouMean(name, [...byName.keys()])}`)
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
