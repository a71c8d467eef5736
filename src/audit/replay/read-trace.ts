import { ConfigError } from '../../core/errors.ts'
import { parseInstant } from '../../stores/instant.ts'
import { cellFault, readCsv } from './csv.ts'
import type { CsvRow } from './csv.ts'
import type { IncidentModel } from './incident-model.ts'
import type { TracedCall } from './traffic.ts'

/** Calls as they arrived, and how long the trace lasts. */
export interface Trace {
  readonly calls: readonly TracedCall[]
  /** From the first call to when the next round may begin, in ms. */
  readonly periodMs: number
}

/**
 * Reads a trace of requests: `TIMESTAMP`, and where they are known `ContextTokens` and `GeneratedTokens`. An answer takes
 * as long as the model says.
 *
 * @throws ConfigError that names line, column and what would be right
 */
export function readTrace(text: string, file: string, model: IncidentModel): Trace {
  const rows = readCsv(text, file, ['TIMESTAMP'])
  if (rows.length === 0) throw new ConfigError(`${file}: There is no call in this file.`)
  const timed = rows.map((row) => ({ row, at: instantOf(row, file) })).sort((a, b) => a.at - b.at)
  const firstAt = timed[0]!.at
  const calls = timed.map(({ row, at }) => {
    const outputTokens = tokensOf(row, 'GeneratedTokens', file)
    const latencyMs = Math.min(model.longestMs, model.answerMs + model.tokenMs * outputTokens)
    const atMs = at - firstAt
    return { atMs, latencyMs, inputTokens: tokensOf(row, 'ContextTokens', file), outputTokens }
  })
  const lastMs = calls.at(-1)!.atMs
  // the next round begins one ordinary gap after the last call
  const gapMs = calls.length === 1 ? 1000 : Math.round(lastMs / (calls.length - 1))
  // calls that all came at once would otherwise come a thousand times a second
  return { calls, periodMs: Math.max(1000, lastMs + gapMs) }
}

function instantOf(row: CsvRow, file: string): number {
  const at = parseInstant(row.cells['TIMESTAMP']!)
  if (Number.isNaN(at))
    throw cellFault(file, row, 'TIMESTAMP', 'a date and time, such as 2023-11-16 18:17:03.979')
  return at
}

function tokensOf(row: CsvRow, column: string, file: string): number {
  const text = row.cells[column] ?? '0'
  const tokens = Number(text)
  if (text !== '' && Number.isInteger(tokens) && tokens >= 0) return tokens
  throw cellFault(file, row, column, 'a whole number of at least 0')
}
