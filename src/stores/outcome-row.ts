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

type Test = readonly [fits: (value: unknown) => boolean, right: string]

// half of what a date can tell: sums of two are still times
const LATEST = 8.64e15 / 2
const LONGEST_MS = 1e12
const MOST_CALLS = 1e6
const OUTCOMES: readonly unknown[] = ['success', 'failure', 'neutral', 'refused']
const STATES: readonly unknown[] = ['closed', 'degraded', 'open', 'half-open']

const isBetween = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && value >= least && value <= most

const time: Test = [(value) => isBetween(value, -LATEST, LATEST), 'ms since 1970']
const text: Test = [(value) => typeof value === 'string', 'a text']
const length: Test = [
  (value) => isBetween(value, 0, LONGEST_MS),
  `a number of at least 0 and at most ${LONGEST_MS}`,
]
const state: Test = [(value) => STATES.includes(value), `one of: ${STATES.join(', ')}`]
const optional = ([fits, right]: Test): Test => [(value) => value === undefined || fits(value), right]

const HEADER: Readonly<Record<string, Test>> = {
  outcomes: [(value) => value === 1, '1'],
  sample: [(value) => isBetween(value, Number.MIN_VALUE, 1), 'a number above 0 and at most 1'],
}
const TRANSITION: Readonly<Record<string, Test>> = {
  at: time,
  circuit: text,
  from: state,
  to: state,
  why: text,
}
const RULES: Readonly<Record<string, Test>> = {
  at: time,
  circuit: text,
  rules: [(value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'a map'],
}
const OUTCOME: Readonly<Record<string, Test>> = {
  at: time,
  target: text,
  model: optional(text),
  circuit: optional(text),
  outcome: [(value) => OUTCOMES.includes(value), `one of: ${OUTCOMES.join(', ')}`],
  kind: optional(text),
  ms: optional(length),
  retryAfterMs: optional(length),
  n: optional([
    (value) => Number.isInteger(value) && isBetween(value, 1, MOST_CALLS),
    `a whole number from 1 to ${MOST_CALLS}`,
  ]),
}

/** What is wrong with a row that was read, in sentences; undefined = it is one of ours. */
export function rowFault(row: RecordedRow): string | undefined {
  const shape = shapeOf(row)
  if (shape === undefined) return 'This is no row of a recording.'
  for (const [key, [fits, right]] of Object.entries(shape)) {
    const value = (row as unknown as Readonly<Record<string, unknown>>)[key]
    if (!fits(value)) return `${key} is ${show(key, value)}. It must be ${right}.`
  }
  return undefined
}

function shapeOf(row: RecordedRow): Readonly<Record<string, Test>> | undefined {
  if (isHeader(row)) return HEADER
  if (isTransition(row)) return TRANSITION
  if (isRules(row)) return RULES
  return isOutcome(row) ? OUTCOME : undefined
}

function show(key: string, value: unknown): string {
  if (typeof value === 'string') return key === 'outcome' && value.length < 20 ? `'${value}'` : 'a text'
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'a map' : String(value)
}
