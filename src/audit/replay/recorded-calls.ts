import type { Outcome } from '../../core/permit.ts'
import type { OutcomeRow } from '../../stores/outcome-row.ts'
import type { Calls } from './calls.ts'
import { countBelow } from './sorted.ts'

/** What calls are taken to have met that were refused when they were recorded. */
export type Assumption = 'best' | 'worst'

/** How a call was recorded. */
export type Known = OutcomeRow['outcome']

const SUCCESS: Outcome = Object.freeze({ outcome: 'success' })
const NEUTRAL: Outcome = Object.freeze({ outcome: 'neutral' })

/**
 * The recorded calls of one circuit. What a refused call would have met is unknown: `best` takes it for answered, `worst`
 * for failed in the way the last failure before it did; either takes as long as is usual.
 */
export class RecordedCalls implements Calls {
  readonly fromAt: number
  readonly toAt: number
  seed = 1
  readonly end: number
  readonly longestMs: number
  readonly #at: Float64Array
  readonly #latencies: Float64Array
  readonly #outcomes: readonly Outcome[]
  readonly #known: readonly Known[]

  constructor(rows: readonly OutcomeRow[], assumption: Assumption) {
    const calls = wholeCalls(rows)
    this.end = calls.length
    this.#at = Float64Array.from(calls, ({ at }) => at)
    this.#known = calls.map(({ outcome }) => outcome)
    const usual = { success: usualMs(calls, 'success'), failure: usualMs(calls, 'failure') }
    this.#latencies = Float64Array.from(calls, (call) => {
      const usually = call.outcome === 'failure' || (call.outcome === 'refused' && assumption === 'worst')
      return Math.round(call.ms ?? (usually ? usual.failure : usual.success))
    })
    this.#outcomes = outcomesOf(calls, assumption)
    this.longestMs = this.#latencies.reduce((longest, ms) => Math.max(longest, ms), 0)
    this.fromAt = this.#at[0] ?? 0
    this.toAt = (this.#at.at(-1) ?? 0) + this.longestMs
  }

  arrivalAt(call: number): number {
    return this.#at[call]!
  }

  firstAt(at: number): number {
    return countBelow(this.#at, at)
  }

  knownAt(call: number): number {
    return this.#at[call]! + this.#latencies[call]!
  }

  outcomeOf(call: number): Outcome {
    return this.#outcomes[call]!
  }

  /** How it was recorded. */
  known(call: number): Known {
    return this.#known[call]!
  }
}

/** Every call for itself, also those of which only the last one of several was written. */
export function wholeCalls(rows: readonly OutcomeRow[]): OutcomeRow[] {
  const calls: OutcomeRow[] = []
  let before = rows[0]?.at ?? 0
  for (const row of rows) {
    const { n = 1, ...call } = row
    // those that were left out are spread evenly over the time since the row before
    for (let i = 1; i <= n; i++) calls.push({ ...call, at: Math.round(before + ((row.at - before) * i) / n) })
    before = row.at
  }
  return calls
}

function usualMs(calls: readonly OutcomeRow[], outcome: Known): number {
  const all = calls.flatMap((call) => (call.outcome === outcome && call.ms !== undefined ? [call.ms] : []))
  return all.sort((a, b) => a - b)[all.length >> 1] ?? 0
}

function outcomesOf(calls: readonly OutcomeRow[], assumption: Assumption): Outcome[] {
  let failed: Outcome = Object.freeze({ outcome: 'failure', failure: 'server_error' })
  return calls.map(({ outcome, kind, retryAfterMs }) => {
    if (outcome === 'neutral') return NEUTRAL
    if (outcome === 'success' || (outcome === 'refused' && assumption === 'best')) return SUCCESS
    if (outcome === 'refused') return failed
    failed = Object.freeze({ outcome: 'failure', failure: kind ?? 'unknown' })
    return retryAfterMs === undefined ? failed : Object.freeze({ ...failed, retryAfterMs })
  })
}
