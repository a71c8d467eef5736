import type { CircuitState } from '../../../machines/circuit-state.ts'

/** What the admin API answers, as dashboard and command line read it. Times are ms of the wall clock. */

/** An operator's hold. */
export interface HoldView {
  readonly by: string
  readonly reason: string
  /** null = until somebody ends it. */
  readonly until: number | null
}

/** What only the targets of a circuit have counted, since the start; null where several circuits share a target. */
export interface Traffic {
  /** 95 of 100 attempts took no longer, by a histogram. */
  readonly p95Ms: number | null
  /** Calls that went on from here to another target, whatever became of them there. */
  readonly fallbacks: number | null
}

/** A circuit as dashboard and command line see it. */
export interface CircuitView extends Traffic {
  readonly circuit: string
  readonly targets: readonly string[]
  readonly model?: string
  readonly state: CircuitState
  /** It only watches, and refuses nobody whatever its state is; absent where it enforces. */
  readonly observed?: true
  readonly held: boolean
  readonly hold?: HoldView
  readonly since: number
  readonly openUntil: number | null
  /** 0 = the next call is admitted; where it is only observed, would be; null = only an operator knows. */
  readonly retryAfterMs: number | null
  readonly generation: number
  readonly reopenCount: number
  readonly probes: { readonly inFlight: number; readonly succeeded: number; readonly failed: number }
  /** By kind, since the counters were last empty. */
  readonly failures: Readonly<Record<string, number>>
  readonly consecutiveFailures: number
  /** Of a rolling window; null where there is none, or nothing in it. */
  readonly failureRatio: number | null
  readonly lastFailureKind?: string
  /** Calls that were refused, hence saved, since the start. */
  readonly refused: number
  /** Visits by what they came to, since the start. */
  readonly calls: { readonly success: number; readonly failure: number; readonly neutral: number }
  /** Outcomes that came too late to decide anything, since the start. */
  readonly late: number
  /** What opens and closes it, in a sentence. */
  readonly rules: string
  /** Why it is in its state, in half a sentence. */
  readonly why: string
  /** All of it in a sentence. */
  readonly explain: string
}

/** A model group. */
export interface GroupView {
  readonly name: string
  readonly targets: readonly string[]
  readonly strategy: string
  readonly fallbacks: readonly string[]
}

/** `GET /admin/circuits`, and the live event `circuits`. */
export interface CircuitsReport {
  /** States differ from one replica to the other. */
  readonly replica: string
  readonly now: number
  readonly groups?: readonly GroupView[]
  readonly circuits: readonly CircuitView[]
}

/** What the body of `open` and `close` may say. */
export interface Order {
  readonly reason?: string
  readonly hold?: boolean
  /** How long a hold lasts; absent = until somebody ends it. */
  readonly ttlMs?: number
}

/** What a command came to. */
export interface CommandResult extends CircuitView {
  readonly replica: string
  readonly now: number
}

/** The live event `transition`. */
export interface TransitionView {
  readonly circuit: string
  readonly from: CircuitState
  readonly to: CircuitState
  readonly at: number
  readonly why: string
  /** `why`, and when the next try is: as the journal tells it. */
  readonly told: string
  /** The circuit only watches; absent where it enforces. */
  readonly observed?: true
  readonly by?: string
  readonly reason?: string
  readonly openUntil: number | null
}

/** An event that changed a breaker. */
export interface JournalRowView {
  readonly seq: number
  readonly at: number
  /** null = the journal itself speaks. */
  readonly circuit: string | null
  readonly type: string
  readonly from: CircuitState | null
  readonly to: CircuitState | null
  /** As it was journalled, its times on the clock of the breaker. */
  readonly event: {
    readonly at?: number
    readonly hold?: boolean | undefined
    readonly until?: number | undefined
  }
  readonly why: string
  readonly by?: string
  readonly reason?: string
  readonly call?: string
  readonly hash: string
}
