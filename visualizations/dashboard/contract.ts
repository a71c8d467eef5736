/** What the admin API answers, as far as the page reads it. Times are ms of the wall clock of the gateway. */

export type CircuitState = 'closed' | 'degraded' | 'open' | 'half-open'

export interface Hold {
  readonly by: string
  readonly reason: string
  /** null = until somebody ends it. */
  readonly until: number | null
}

export interface CircuitView {
  readonly circuit: string
  readonly targets: readonly string[]
  readonly model?: string
  readonly state: CircuitState
  readonly held: boolean
  readonly hold?: Hold
  readonly since: number
  readonly openUntil: number | null
  /** 0 = the next call is admitted; null = only an operator knows. */
  readonly retryAfterMs: number | null
  readonly generation: number
  readonly reopenCount: number
  readonly probes: { readonly inFlight: number; readonly succeeded: number; readonly failed: number }
  readonly failures: Readonly<Record<string, number>>
  readonly consecutiveFailures: number
  readonly failureRatio: number | null
  readonly lastFailureKind?: string
  /** Calls that were refused, hence saved. */
  readonly refused: number
  readonly calls: { readonly success: number; readonly failure: number; readonly neutral: number }
  readonly late: number
  readonly p95Ms: number | null
  /** Calls that went on from here to another target. */
  readonly fallbacks: number
  readonly rules: string
  readonly explain: string
}

/** `GET /admin/circuits`, and the event `circuits`. */
export interface CircuitsReport {
  readonly replica: string
  readonly now: number
  readonly circuits: readonly CircuitView[]
}

/** The event `transition`. */
export interface TransitionView {
  readonly circuit: string
  readonly from: CircuitState
  readonly to: CircuitState
  readonly at: number
  readonly why: string
  readonly by?: string
  readonly reason?: string
  readonly openUntil: number | null
}

export interface JournalRow {
  readonly seq: number
  readonly at: number
  /** null = the journal itself speaks. */
  readonly circuit: string | null
  readonly type: string
  readonly from: CircuitState | null
  readonly to: CircuitState | null
  readonly event: { readonly at?: number; readonly hold?: boolean; readonly until?: number }
  readonly why?: string
  readonly by?: string
  readonly reason?: string
}

export interface Command {
  readonly reason: string
  readonly hold?: boolean
  readonly ttlMs?: number
}
