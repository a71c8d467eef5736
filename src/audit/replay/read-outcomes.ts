import { ConfigError } from '../../core/errors.ts'
import { isHeader, isOutcome, isRules, isTransition } from '../../stores/outcome-row.ts'
import type { OutcomeRow, RecordedRow, RulesRow, TransitionRow } from '../../stores/outcome-row.ts'

/** A recording, by circuit. */
export interface Recording {
  readonly circuits: ReadonlyMap<string, RecordedCircuit>
  /** Smallest share of the uneventful successes that was written. */
  readonly sample: number
  /** Lines that could not be read. */
  readonly unreadable: number
}

export interface RecordedCircuit {
  readonly name: string
  /** In order of their admission. */
  readonly rows: readonly OutcomeRow[]
  readonly transitions: readonly TransitionRow[]
  readonly rules: readonly RulesRow[]
}

interface Growing {
  readonly rows: OutcomeRow[]
  readonly transitions: TransitionRow[]
  readonly rules: RulesRow[]
}

/**
 * Reads recordings of outcomes, one JSON object a line. A line that was cut off when a process ended is left out.
 *
 * @throws ConfigError where there is no outcome at all, or a line is none of ours
 */
export function readOutcomes(texts: Iterable<readonly [file: string, text: string]>): Recording {
  const circuits = new Map<string, Growing>()
  const of = (name: string) => {
    const known = circuits.get(name) ?? { rows: [], transitions: [], rules: [] }
    circuits.set(name, known)
    return known
  }
  let [sample, unreadable] = [1, 0]
  for (const [file, text] of texts) {
    for (const [i, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue
      const row = parsed(line)
      if (row === undefined) unreadable++
      else if (isHeader(row)) sample = Math.min(sample, row.sample)
      else if (isTransition(row)) of(row.circuit).transitions.push(row)
      else if (isRules(row)) of(row.circuit).rules.push(row)
      else if (isOutcome(row)) of(row.circuit ?? row.target).rows.push(checked(row, file, i + 1))
      else throw fault(file, i + 1, 'This is no row of a recording.')
    }
  }
  const found = [...circuits].filter(([, { rows }]) => rows.length > 0)
  if (found.length === 0) throw new ConfigError('There is no outcome in the recording.')
  const inTime = <T extends { readonly at: number }>(rows: readonly T[]) =>
    rows.toSorted((a, b) => a.at - b.at)
  return {
    circuits: new Map(
      found.map(([name, { rows, transitions, rules }]) => [
        name,
        { name, rows: inTime(rows), transitions: inTime(transitions), rules: inTime(rules) },
      ]),
    ),
    sample,
    unreadable,
  }
}

function parsed(line: string): RecordedRow | undefined {
  try {
    const row: unknown = JSON.parse(line)
    return typeof row === 'object' && row !== null ? (row as RecordedRow) : undefined
  } catch {
    return undefined
  }
}

const OUTCOMES = ['success', 'failure', 'neutral', 'refused']
const NUMBERS = ['ms', 'retryAfterMs', 'n'] as const

function checked(row: OutcomeRow, file: string, line: number): OutcomeRow {
  if (!Number.isFinite(row.at))
    throw fault(file, line, `at is ${String(row.at)}.`, 'It must be ms since 1970.')
  if (!OUTCOMES.includes(row.outcome))
    throw fault(
      file,
      line,
      `outcome is '${String(row.outcome)}'.`,
      `It must be one of: ${OUTCOMES.join(', ')}.`,
    )
  for (const key of NUMBERS) {
    const value = row[key]
    if (value !== undefined && !(Number.isFinite(value) && value >= 0))
      throw fault(file, line, `${key} is ${String(value)}.`, 'It must be a number of at least 0.')
  }
  return row
}

function fault(file: string, line: number, what: string, hint?: string): ConfigError {
  return new ConfigError(`${file}:${line} ${what}`, { line, ...(hint !== undefined && { hint }) })
}
