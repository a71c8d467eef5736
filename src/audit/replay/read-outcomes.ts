import { ConfigError } from '../../core/errors.ts'
import { isHeader, isOutcome, isRules, isTransition, rowFault } from '../../stores/outcome-row.ts'
import type { OutcomeRow, RecordedRow, RulesRow, TransitionRow } from '../../stores/outcome-row.ts'

/** A recording, by circuit. */
export interface Recording {
  readonly circuits: ReadonlyMap<string, RecordedCircuit>
  /** Smallest share of the uneventful successes that was written. */
  readonly sample: number
  /** Lines that could not be read. */
  readonly unreadable: number
  /** Where the first of them stands, and what is wrong with it. */
  readonly firstUnreadable?: string
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
 * Reads recordings of outcomes, one JSON object a line. Lines that are none of ours, or were cut off when a
 * process ended, are left out.
 *
 * @throws ConfigError where there is no outcome at all, or a file is of another version
 */
export function readOutcomes(texts: Iterable<readonly [file: string, text: string]>): Recording {
  const circuits = new Map<string, Growing>()
  const of = (name: string) => {
    const known = circuits.get(name) ?? { rows: [], transitions: [], rules: [] }
    circuits.set(name, known)
    return known
  }
  let [sample, unreadable] = [1, 0]
  let firstUnreadable: string | undefined
  const files: string[] = []
  for (const [file, text] of texts) {
    files.push(file)
    for (const [i, line] of text
      .replace(/^\uFEFF/, '')
      .split('\n')
      .entries()) {
      if (line.trim() === '') continue
      const row = parsed(line)
      // of another version nothing else is known
      if (row !== undefined && isHeader(row)) checkVersion(row, file, i + 1)
      const fault = row === undefined ? 'This is no JSON object.' : rowFault(row)
      if (row === undefined || fault !== undefined) {
        unreadable++
        firstUnreadable ??= `${file}:${i + 1} ${fault}`
      } else if (isHeader(row)) {
        sample = Math.min(sample, row.sample)
      } else if (isTransition(row)) of(row.circuit).transitions.push(row)
      else if (isRules(row)) of(row.circuit).rules.push(row)
      else if (isOutcome(row)) of(row.circuit ?? row.target).rows.push(row)
    }
  }
  const found = [...circuits].filter(([, { rows }]) => rows.length > 0)
  if (found.length === 0) {
    throw new ConfigError(`${files.join(', ')}: There is no outcome in this recording.`, {
      ...(firstUnreadable !== undefined && { hint: `The first line that is none: ${firstUnreadable}` }),
    })
  }
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
    ...(firstUnreadable !== undefined && { firstUnreadable }),
  }
}

function parsed(line: string): RecordedRow | undefined {
  try {
    const row: unknown = JSON.parse(line)
    return typeof row === 'object' && row !== null && !Array.isArray(row) ? (row as RecordedRow) : undefined
  } catch {
    return undefined
  }
}

function checkVersion({ outcomes }: { readonly outcomes: number }, file: string, line: number): void {
  if (outcomes === 1 || typeof outcomes !== 'number') return
  throw new ConfigError(`${file}:${line} This recording is of version ${outcomes}.`, {
    line,
    hint: 'Only version 1 can be read.',
  })
}
