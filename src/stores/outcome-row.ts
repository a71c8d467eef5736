import type { CircuitState } from '../../machines/circuit-state.ts'

/** What a visit came to, or that there was none. Names, kinds and numbers only. */
export interface OutcomeRow {
  /** When admission was asked for, in ms of the wall clock. */
  readonly at: number
  readonly target: string
  readonly model?: string
  /** The circuit, where it is not called as its target. */
  readonly circuit?: string
  readonly outcome: 'success' | 'failure' | 'neutral' | 'refused'
  /** Failure kind. */
  readonly kind?: string
  /** From admission until the outcome was known, its retries included. */
  readonly ms?: number
  /** The wait that the provider named. */
  readonly retryAfterMs?: number
  /** So many successes, of which this is the last: the others were left out. Default 1. */
  readonly n?: number
}

/** A circuit that changed its state. */
export interface TransitionRow {
  readonly at: number
  readonly circuit: string
  readonly from: CircuitState
  readonly to: CircuitState
  readonly why: string
}

/** The rules of a circuit from here on, as options. */
export interface RulesRow {
  readonly at: number
  readonly circuit: string
  readonly rules: Readonly<Record<string, unknown>>
}

/** The first line of every file. */
export interface HeaderRow {
  readonly outcomes: 1
  readonly at: number
  /** Share of the uneventful successes that have a row of their own. */
  readonly sample: number
}

export type RecordedRow = OutcomeRow | TransitionRow | RulesRow | HeaderRow

export const isOutcome = (row: RecordedRow): row is OutcomeRow => 'outcome' in row && 'target' in row
export const isTransition = (row: RecordedRow): row is TransitionRow => 'from' in row && 'to' in row
export const isRules = (row: RecordedRow): row is RulesRow => 'rules' in row
export const isHeader = (row: RecordedRow): row is HeaderRow => 'outcomes' in row
