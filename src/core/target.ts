import type { PlannedTarget } from '../../machines/chain-events.ts'
import type { ResolvedBreaker } from './breaker-options.ts'
import { resolveBreaker } from './breaker-options.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { ConfigError } from './errors.ts'
import type { LimitQueue, Limits } from './limits.ts'
import { TargetStats } from './stats.ts'
import type { TargetCircuit } from './target-circuit.ts'
import { TARGET_KEYS } from './target-options.ts'
import type { TargetOptions } from './target-options.ts'
import {
  checkFunction,
  checkKeys,
  checkList,
  checkName,
  checkNumber,
  checkWord,
  given,
  show,
} from './validate.ts'

const LIMIT = { min: 0, above: true, infinite: true }

/** A target, checked and complete. */
export class Target<Request, Result, Part> {
  readonly name: string
  readonly index: number
  readonly options: TargetOptions<Request, Result, Part>
  readonly planned: PlannedTarget
  stats = new TargetStats()
  readonly timeout: LimitQueue | undefined
  readonly firstContent: LimitQueue | undefined
  readonly idle: LimitQueue | undefined
  readonly timeoutMs: number
  /** The largest of the three limits; a probe's lease outlasts it. */
  readonly longestLimitMs: number
  readonly rules: ResolvedBreaker | undefined
  readonly bucket: string
  readonly isolates: boolean
  /** Where its circuit is found; undefined = it has none. */
  circuit: TargetCircuit | undefined

  constructor(options: TargetOptions<Request, Result, Part>, index: number, limits: Limits) {
    const path = `targets[${index}]`
    checkTarget(path, options)
    this.index = index
    this.name = options.name ?? (index === 0 ? 'primary' : `fallback[${index - 1}]`)
    this.options = options
    const number = (key: 'timeoutMs' | 'firstContentTimeoutMs' | 'idleTimeoutMs', standard: number) =>
      checkNumber(`${path}.${key}`, given(options[key], standard), LIMIT)
    this.timeoutMs = number('timeoutMs', 60_000)
    const firstContentMs = number('firstContentTimeoutMs', 30_000)
    const idleMs = number('idleTimeoutMs', 30_000)
    this.timeout = limits.of(this.timeoutMs)
    this.firstContent = limits.of(firstContentMs)
    this.idle = limits.of(idleMs)
    this.longestLimitMs = Math.max(...[this.timeoutMs, firstContentMs, idleMs].filter(Number.isFinite), 0)
    this.planned = { name: this.name, ...checkRetry(path, options) }
    const breaker = options.circuitBreaker
    const rules = breaker === true ? {} : breaker === false ? undefined : breaker
    if (rules !== undefined && (typeof rules !== 'object' || rules === null)) {
      const at = `${path}.circuitBreaker`
      throw new ConfigError(`${at} is ${show(rules)}.`, { path: at, hint: 'Give true, false or options.' })
    }
    this.rules = rules && resolveBreaker(rules, `${path}.circuitBreaker`)
    this.bucket = options.bucket ?? this.name
    this.isolates = this.rules?.isolateByModel === true
  }

  /** The model that this target is asked for when the caller asks for `wanted`. */
  modelFor(wanted: string | undefined): string | undefined {
    const own = this.options.model
    return wanted !== undefined && (own === undefined || this.isolates) ? wanted : own
  }

  /** The breaker for a resolved model; undefined where the target has none. */
  breakerFor(model: string | undefined): CircuitBreaker | undefined {
    return this.circuit?.breakerFor(model)
  }

  /** The same, without making one. */
  peekBreaker(model: string | undefined): CircuitBreaker | undefined {
    return this.circuit?.peek(model)
  }
}

type Unchecked = { readonly [Key in keyof TargetOptions]?: unknown }

function checkTarget(path: string, options: Unchecked): void {
  checkKeys(path, options, TARGET_KEYS)
  for (const key of ['invoke', 'stream', 'classifyPart', 'isEmpty', 'classify'] as const) {
    checkFunction(`${path}.${key}`, options[key])
  }
  if (options.invoke === undefined && options.stream === undefined) {
    throw new ConfigError(`${path} has neither invoke nor stream.`, {
      path,
      hint: 'Give one of them at least.',
    })
  }
  if (options.bucket !== undefined && (options.circuitBreaker ?? false) === false) {
    throw new ConfigError(`${path}.bucket is given without circuitBreaker.`, {
      path: `${path}.bucket`,
      hint: 'A bucket is a breaker that targets share: give circuitBreaker, the same for all of them.',
    })
  }
  for (const key of ['name', 'bucket', 'model'] as const) {
    if (options[key] !== undefined) checkName(`${path}.${key}`, options[key])
  }
  if (options.nonRetryableStatus !== undefined)
    checkList(`${path}.nonRetryableStatus`, options.nonRetryableStatus)
  if (options.surface !== undefined) checkWord(`${path}.surface`, options.surface, ['model', 'tool'])
}

function checkRetry(path: string, options: Unchecked): Omit<PlannedTarget, 'name'> {
  const retry = checkKeys(`${path}.retry`, given(options.retry, {}), ['baseMs', 'multiplier', 'maxMs'])
  return {
    maxRetries: checkNumber(`${path}.maxRetries`, given(options.maxRetries, 2), { min: 0, integer: true }),
    retry: {
      baseMs: checkNumber(`${path}.retry.baseMs`, given(retry['baseMs'], 500), { min: 0 }),
      multiplier: checkNumber(`${path}.retry.multiplier`, given(retry['multiplier'], 2), { min: 1 }),
      maxMs: checkNumber(`${path}.retry.maxMs`, given(retry['maxMs'], 10_000), { min: 0 }),
    },
  }
}
