import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { largestShare, reaches } from '../../machines/tripping.ts'
import type { Reading } from '../../machines/tripping.ts'
import { createCounter } from './counters.ts'
import type { Counter } from './counters.ts'
import { countKind } from './stats.ts'
import type { TrippingPolicy } from './tripping-options.ts'

/** The counters at a glance. */
export interface Counted {
  readonly failures: number
  readonly consecutiveFailures: number
  readonly lastFailureKind: string | undefined
  readonly reading: Reading
  readonly breakdown: Record<string, number>
}

/** The counters of a bucket: cheap and mutable. The meter measures, the machine decides. */
export class Meter {
  /** Failures in a row; stays after a trip until the recovery. */
  consecutiveFailures = 0
  /** Counted failures since the counters were last empty. */
  failures = 0
  lastFailureKind: string | undefined
  /** When the last outcome was counted; only kept where {@link timed}. */
  lastOutcomeAt: number | undefined
  /** The clock must be read for every outcome, and a success can move the machine. */
  readonly timed: boolean
  /** The clock must be read at every admission. */
  readonly measuresLatency: boolean
  /** A success with nothing counted before it changes nothing. */
  readonly #forgetful: boolean
  readonly #rules: BreakerPolicy['rules']
  readonly #kindPolicies: BreakerPolicy['kinds']
  readonly #counters: readonly Counter[]
  readonly #noteworthy: number
  #kinds: Record<string, number> = {}
  #breakdown: Map<string, number> | undefined

  constructor(
    policy: BreakerPolicy,
    custom: readonly (TrippingPolicy | null)[],
    key: string,
    report: (error: unknown) => void,
  ) {
    this.#rules = policy.rules
    this.#kindPolicies = policy.kinds
    this.#counters = policy.rules.map((rule, i) => createCounter(rule, custom[i] ?? null, key, report))
    const windowed = policy.rules.some((rule) => 'windowMs' in rule)
    this.#noteworthy = policy.degradedAt ?? 1
    this.timed = windowed || policy.degradedAt !== null
    this.measuresLatency = policy.rules.some(({ kind }) => kind === 'latency')
    this.#forgetful = !this.timed && policy.rules.every(({ kind }) => kind !== 'custom')
  }

  /** A success would change nothing here. */
  get isUnmoved(): boolean {
    return this.#forgetful && this.failures === 0
  }

  /** Counts a success; true = the machine might move. */
  success(latencyMs: number, now: number): boolean {
    this.consecutiveFailures = 0
    this.lastOutcomeAt = now
    const counters = this.#counters
    for (let i = 0; i < counters.length; i++) counters[i]!.add(false, latencyMs, now)
    if (this.failures > 0) this.#forgive()
    return this.timed && reaches(largestShare(this.#rules, counters), this.#noteworthy)
  }

  /** Counts a failure of the kind `failure`. */
  failure(failure: string, latencyMs: number, now: number): void {
    this.consecutiveFailures++
    this.lastOutcomeAt = now
    for (const counter of this.#counters) counter.add(true, latencyMs, now)
    if (Object.hasOwn(this.#kindPolicies, failure)) this.#kinds[failure] = (this.#kinds[failure] ?? 0) + 1
    this.note(failure)
  }

  /** Counts a failure for the breakdown only: a probe's, which no rule judges. */
  note(failure: string): void {
    this.failures++
    this.lastFailureKind = failure
    countKind((this.#breakdown ??= new Map()), failure)
  }

  #forgive(): void {
    this.#kinds = {}
    if (this.#counters.some(({ count }) => count > 0)) return
    this.failures = 0
    this.#breakdown = undefined
  }

  /** What the rules judge, as of `now`. */
  reading(now: number): Reading {
    const rules = this.#counters.map((counter) => {
      counter.expire(now)
      return { count: counter.count, calls: counter.calls }
    })
    return { rules, kinds: { ...this.#kinds }, consecutiveFailures: this.consecutiveFailures }
  }

  /** Counted failures by kind; `{}` where there is none. */
  breakdown(): Record<string, number> {
    return Object.fromEntries(this.#breakdown ?? [])
  }

  /** What has been counted, as of `now`, for people. */
  counted(now: number): Counted {
    const { failures, consecutiveFailures, lastFailureKind } = this
    return {
      failures,
      consecutiveFailures,
      lastFailureKind,
      reading: this.reading(now),
      breakdown: this.breakdown(),
    }
  }

  /** What an empty meter has counted. */
  get nothing(): Counted {
    const rules = this.#rules.map(() => ({ count: 0, calls: 0 }))
    const reading = { rules, kinds: {}, consecutiveFailures: 0 }
    return { failures: 0, consecutiveFailures: 0, lastFailureKind: undefined, reading, breakdown: {} }
  }

  /** Empties everything. */
  reset(): void {
    this.consecutiveFailures = 0
    this.failures = 0
    this.lastFailureKind = undefined
    this.lastOutcomeAt = undefined
    this.#kinds = {}
    this.#breakdown = undefined
    for (const counter of this.#counters) counter.reset()
  }
}
