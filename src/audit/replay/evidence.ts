import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { reaches, shareOf } from '../../../machines/tripping.ts'
import type { TrippingRule } from '../../../machines/tripping.ts'
import type { Fates } from './fates.ts'
import { countBelow, countUpTo } from './sorted.ts'

const SLICES = 10

/** Where a closed circuit could move next. */
export interface Suspicion {
  /** Nothing before this instant can move it; Infinity = nothing ever does. */
  readonly at: number
  /** From here on outcomes must be counted for the counters to be right at `at`. */
  readonly countFrom: number
}

const NEVER: Suspicion = { at: Infinity, countFrom: Infinity }

/**
 * Looks ahead for evidence that could move a closed circuit whose calls are all admitted. It never says later than the
 * machine would move; where it says earlier, nothing happens and it is asked again. It decides nothing.
 */
export class Evidence {
  /** How far back the counters remember, in ms. */
  readonly memoryMs: number
  readonly #fates: Fates
  readonly #noteworthy: number
  /** Failures in a row that could matter; Infinity = no rule counts them. */
  readonly #runs: number
  readonly #levels: number
  readonly #windows: readonly WindowWatch[]

  private constructor(policy: BreakerPolicy, fates: Fates) {
    this.#fates = fates
    this.#noteworthy = policy.degradedAt ?? 1
    const thresholds = (kind: 'consecutive' | 'leaky') =>
      policy.rules.flatMap((rule) => (rule.kind === kind ? [rule.threshold * this.#noteworthy] : []))
    const kind = policy.kinds[fates.model.failure]
    const ofKind = kind?.immediateOpen === true ? 1 : (kind?.threshold ?? Infinity)
    this.#runs = Math.min(ofKind, ...thresholds('consecutive'))
    this.#levels = Math.min(Infinity, ...thresholds('leaky'))
    this.#windows = policy.rules.flatMap((rule) => {
      if (rule.kind === 'latency' && fates.model.failureMs <= rule.slowMs) return []
      return 'windowMs' in rule ? [new WindowWatch(rule, fates, this.#noteworthy)] : []
    })
    // also of windows that can never be bad enough: what they have counted is told where another rule trips
    this.memoryMs = Math.max(0, ...policy.rules.map((rule) => ('windowMs' in rule ? memoryOf(rule) : 0)))
  }

  /** undefined = what would have to be looked for is not only failures: every call must be stepped through. */
  static of(policy: BreakerPolicy, fates: Fates): Evidence | undefined {
    const slow = policy.rules.some((rule) => rule.kind === 'latency' && fates.traffic.longestMs > rule.slowMs)
    const custom = policy.rules.some(({ kind }) => kind === 'custom')
    return slow || custom ? undefined : new Evidence(policy, fates)
  }

  /**
   * Where could the circuit move next?
   *
   * @param from what is known up to here has been counted, no rule without a window has counted anything
   */
  after(from: number): Suspicion {
    const { failedAt, between } = this.#fates
    const first = countUpTo(failedAt, from)
    // failures that are in a window already may weigh more as time goes by
    const early = this.#badAt(from, first, failedAt[first] ?? Infinity)
    if (early < Infinity) return { at: early, countFrom: Math.max(from, early - this.memoryMs) }
    let [run, level] = [0, 0]
    let [runFrom, levelFrom] = [first, first]
    for (let i = first; i < failedAt.length; i++) {
      const at = failedAt[i]!
      const successes = i === first ? Infinity : between[i]!
      if (successes > 0) {
        run = 0
        runFrom = i
      }
      level = Math.max(0, level - successes)
      if (level === 0 || this.#levels === Infinity) levelFrom = i
      run++
      level++
      // whatever trips tells what all counters have counted
      const firstCounted = Math.min(runFrom, levelFrom)
      if (reaches(run, this.#runs) || reaches(level, this.#levels))
        return this.#suspicion(at, firstCounted, from)
      const newest = failedAt[i + 1] === at ? countUpTo(failedAt, at) : i + 1
      const badAt = this.#badAt(at, newest, failedAt[i + 1] ?? Infinity)
      if (badAt < Infinity) return this.#suspicion(badAt, firstCounted, from)
    }
    return NEVER
  }

  #badAt(at: number, newest: number, until: number): number {
    let earliest = Infinity
    for (const watch of this.#windows) earliest = Math.min(earliest, watch.badAt(at, newest, until))
    return earliest
  }

  #suspicion(at: number, firstFailure: number, from: number): Suspicion {
    const start = this.#fates.failedAt[firstFailure]! - 1
    return { at, countFrom: Math.max(from, Math.min(start, at - this.memoryMs)) }
  }
}

type WindowRule = Extract<TrippingRule, { readonly windowMs: number }>

/** A window, and what of a slice may stand out of it. */
const memoryOf = ({ windowMs }: WindowRule) => Math.ceil(windowMs + (2 * windowMs) / SLICES)

/** How bad the reading of one window could be. */
class WindowWatch {
  readonly #rule: WindowRule
  readonly #fates: Fates
  readonly #noteworthy: number
  readonly #sliceMs: number
  readonly #minCalls: number
  #oldest = 0
  /** Successes known before the window, for the last start asked about. */
  #startAsked = NaN
  #before = 0

  constructor(rule: WindowRule, fates: Fates, noteworthy: number) {
    this.#rule = rule
    this.#fates = fates
    this.#noteworthy = noteworthy
    this.#sliceMs = rule.windowMs / SLICES
    this.#minCalls = Math.max(1, rule.minCalls)
  }

  /** When it could be bad enough with the failures before `newest`, from `at` to `until`; Infinity = not at all. */
  badAt(at: number, newest: number, until: number): number {
    let slice = Math.floor(at / this.#sliceMs)
    this.#expire(slice)
    if (!this.#isEnough(newest - this.#oldest)) return Infinity
    if (this.#isBad(slice, newest, at)) return at
    // time alone makes it worse: successes leave the window before the failures do
    for (slice++; slice * this.#sliceMs <= until; slice++) {
      this.#expire(slice)
      if (!this.#isEnough(newest - this.#oldest)) return Infinity
      const start = Math.floor(slice * this.#sliceMs)
      if (this.#isBad(slice, newest, start)) return start
    }
    return Infinity
  }

  /** Even were there no other call than the least a window needs. */
  #isEnough(failures: number): boolean {
    return this.#reaches(failures, 0)
  }

  #isBad(slice: number, newest: number, at: number): boolean {
    // a millisecond more of failures and less of successes: rounding must not hide anything
    const start = Math.ceil((slice - SLICES + 1) * this.#sliceMs) + 1
    if (start !== this.#startAsked) {
      this.#startAsked = start
      this.#before = this.#fates.succeededBy(start)
    }
    const successes = Math.max(0, this.#fates.succeededBy(at - 1) - this.#before)
    return this.#reaches(newest - this.#oldest, successes)
  }

  #reaches(failures: number, successes: number): boolean {
    const calls = Math.max(this.#minCalls, failures + successes)
    return reaches(shareOf(this.#rule, { count: failures, calls }), this.#noteworthy)
  }

  #expire(slice: number): void {
    const { failedAt } = this.#fates
    const start = Math.floor((slice - SLICES + 1) * this.#sliceMs) - 1
    while (this.#oldest < failedAt.length && failedAt[this.#oldest]! < start) this.#oldest++
    if (this.#oldest > 0 && failedAt[this.#oldest - 1]! >= start) this.#oldest = countBelow(failedAt, start)
  }
}
