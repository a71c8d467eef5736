import type { CircuitBreakerOptions } from '../../core/breaker-options.ts'
import type { CommandOptions } from '../../core/operator.ts'

/** Every {@link Offer}. */
export const OFFERS = [
  'threshold',
  'cooldownMs',
  'cooldownBackoff',
  'rolling',
  'latency',
  'leaky',
  'halfOpenProbes',
  'halfOpenSuccessRatio',
  'halfOpenConcurrency',
  'halfOpenVerdict',
  'probeLeaseMs',
  'degradation',
  'kinds',
  'maxRetryAfterMs',
  'mode',
  'neutral',
  'retryAfter',
  'open',
  'close',
  'holdOpen',
  'holdClosed',
  'holdFor',
  'restart',
] as const

/**
 * What a breaker may have beside the bare minimum.
 *
 * - Options of `createBreaker` that it has an equal of: `threshold`, `cooldownMs`, `cooldownBackoff`, `halfOpenProbes`,
 *   `halfOpenSuccessRatio`, `halfOpenConcurrency`, `halfOpenVerdict`, `probeLeaseMs`, `degradation`, `kinds`,
 *   `maxRetryAfterMs`, `mode`; and `rolling`, `latency`, `leaky`, the kinds of `tripping`.
 * - `neutral`: outcomes that say nothing about the target; `work` ends with a {@link ScriptedFailure} whose `outcome` is
 *   `neutral`, and where the caller hangs up `signal` aborts, too.
 * - `retryAfter`: a failure that names a wait, in `retryAfterMs` of the {@link ScriptedFailure}.
 * - `open`, `close`: by hand, through the methods of these names.
 * - `holdOpen`, `holdClosed`: the same methods, with `hold: true`; it stays so until somebody closes it (an `open` without
 *   `hold` leaves a held-open one as it is). `holdFor`: with `ttlMs`, after which the hold ends by itself.
 * - `restart`: what it knows survives the end of its process, through the method of this name.
 */
export type Offer = (typeof OFFERS)[number]

/** What a call of the kit ends with when it does not succeed. */
export class ScriptedFailure extends Error {
  override readonly name = 'ScriptedFailure'
  /** `neutral` = the call says nothing about the target: the caller's own error, or the caller hung up. */
  readonly outcome: 'failure' | 'neutral'
  /** Failure kind. */
  readonly failure: string
  /** The wait that the provider named, in ms. */
  readonly retryAfterMs: number | undefined

  constructor(outcome: 'failure' | 'neutral', failure: string, retryAfterMs?: number) {
    super(outcome === 'neutral' ? `nothing against the target (${failure})` : failure)
    this.outcome = outcome
    this.failure = failure
    this.retryAfterMs = retryAfterMs
  }
}

/** Thrown by an adapter: its breaker has no equal of this. No fault of it; the message says why. */
export class NotOffered extends Error {
  override readonly name = 'NotOffered'
}

/** A breaker that is being asked. */
export interface BreakerUnderTest {
  /**
   * Runs `work` behind the breaker, or refuses without calling it. How it refuses does not matter.
   *
   * @param work ends with a {@link ScriptedFailure} where it fails
   * @param signal aborts when the caller hangs up
   */
  execute(work: () => Promise<unknown>, signal: AbortSignal): Promise<unknown>
  /** Lets `ms` pass, on the breaker's clock and for its timers; 0 = whatever is due now happens. */
  advance(ms: number): void | Promise<void>
  /** Opens it by hand; with `hold: true` it stays open, with `ttlMs` for so long. Needed where `open` or `holdOpen` is offered. */
  open?(command: CommandOptions): void | Promise<void>
  /** Closes it by hand, and ends a hold. Needed where `close`, `holdOpen` or `holdClosed` is offered. */
  close?(command: CommandOptions): void | Promise<void>
  /**
   * The process ends and comes back `downMs` later; only what was saved is left. Below 0 the wall clock has gone back.
   * Needed where `restart` is offered.
   */
  restart?(downMs: number): void | Promise<void>
  /** It will not be asked any more. */
  dispose?(): void | Promise<void>
}

/** How the kit gets at a breaker. */
export interface BreakerAdapter {
  readonly name: string
  readonly version?: string
  /** What it has: see {@link Offer}. A question that needs anything else is not asked. */
  readonly offers: readonly Offer[]
  /**
   * A new breaker of these rules; there is only one at a time. What the rules do not name is as `createBreaker` has it.
   *
   * @param random what jitter must draw from: 0 ≤ value < 1
   * @throws NotOffered where it has no equal of a value
   * @throws anything else where the breaker itself refuses the rules; under rules that are right that is a failure
   */
  create(rules: CircuitBreakerOptions, random: () => number): BreakerUnderTest | Promise<BreakerUnderTest>
  /** Questions that would be unfair, each with the reason: a scenario's file name, the name of rules, or a sort of step. */
  readonly declines?: Readonly<Record<string, string>>
}
