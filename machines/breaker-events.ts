import type { Reading, TrippingRule } from './tripping.ts'

/** Why a circuit is in its present state. */
export interface Cause {
  readonly why:
    | 'started'
    | 'tripped'
    | 'kind_tripped'
    | 'degraded'
    | 'eased'
    | 'went_quiet'
    | 'cooldown_over'
    | 'trial_met'
    | 'trial_missed'
    | 'operator'
    | 'hold_ended'
    | 'restored'
  /** The operator, where one acted. */
  readonly by?: string
  /** The operator's own words. */
  readonly reason?: string
  /** Failure kind of the outcome that decided. */
  readonly failure?: string
  /** What had been counted when the policy decided. */
  readonly reading?: Reading
  /** The rule that decided: its place among the policy's rules, and its kind. */
  readonly rule?: { readonly at: number; readonly kind: TrippingRule['kind'] }
  /** What the trial had found when it decided. */
  readonly trial?: { readonly succeeded: number; readonly failed: number }
}

/** An operator's open or closed that no outcome ends. */
export interface Hold {
  /** Deadline in ms; null = until somebody ends it. */
  readonly until: number | null
  readonly by: string
  readonly reason: string
}

/** What survives a restart. Times are ms of the clock in force. */
export interface SavedCircuit {
  readonly version: 1
  readonly state: 'closed' | 'open' | 'half-open'
  readonly hold: Hold | null
  readonly generation: number
  readonly reopens: number
  readonly cause: Cause
  readonly since: number
  readonly openedAt: number | null
  readonly cooldownMs: number | null
  readonly openUntil: number | null
}

interface At {
  /** When it happened, in whole ms. */
  readonly at: number
}
interface Roll {
  /** The random share for a cooldown that this event may draw: 0 ≤ roll < 1. */
  readonly roll: number
}
interface OfPermit {
  readonly generation: number
  readonly permit: number
}
interface Found {
  readonly failure: string
  /** What the provider asked for, in ms. */
  readonly retryAfterMs?: number | undefined
}
interface ByOperator {
  readonly by: string
  readonly reason: string
  readonly hold?: boolean
  /** End of the hold. */
  readonly until?: number | undefined
}

/** Everything that can change a breaker. Dotted, past tense. */
export type BreakerEvent =
  | ({ readonly type: 'call.failed'; readonly generation: number; readonly reading: Reading } & At &
      Roll &
      Found)
  | ({ readonly type: 'call.succeeded'; readonly generation: number; readonly reading: Reading } & At & Roll)
  | ({ readonly type: 'reading.aged'; readonly reading: Reading; readonly quietMs: number } & At)
  | ({ readonly type: 'cooldown.elapsed' } & At)
  | ({ readonly type: 'probe.requested'; readonly permit: number } & At)
  | ({ readonly type: 'probe.succeeded' } & At & Roll & OfPermit)
  | ({ readonly type: 'probe.failed' } & At & Roll & OfPermit & Found)
  | ({ readonly type: 'probe.released' } & At & OfPermit)
  | ({ readonly type: 'probe.expired' } & At & Roll & OfPermit)
  | ({ readonly type: 'operator.opened' } & At & Roll & ByOperator)
  | ({ readonly type: 'operator.closed' } & At & ByOperator)
  | ({ readonly type: 'hold.ended' } & At)
  | ({ readonly type: 'resumed'; readonly saved: SavedCircuit } & At)
