import { ConfigError } from '../../core/errors.ts'
import { parseInstant } from '../../stores/instant.ts'
import { cellFault, readCsv } from './csv.ts'
import type { CsvRow } from './csv.ts'
import { IMPACTS } from './incident-model.ts'
import type { Incident } from './incident-model.ts'

const TOO_LATE = Date.UTC(2200, 0, 2)
const COLUMNS = ['incident', 'started_at', 'resolved_at', 'impact']

/**
 * Reads incidents of a status page: `incident`, `started_at`, `mitigated_at`, `resolved_at`, `impact`, in any order of
 * columns. One that was never marked as mitigated ends when it was resolved.
 *
 * @throws ConfigError that names line, column and what would be right
 */
export function readIncidents(text: string, file: string): Incident[] {
  const rows = readCsv(text, file, COLUMNS)
  if (rows.length === 0) throw new ConfigError(`${file}: There is no incident in this file.`)
  return rows.map((row) => toIncident(row, file)).sort((a, b) => a.startAt - b.startAt)
}

function toIncident(row: CsvRow, file: string): Incident {
  const { cells } = row
  const instant = (column: string) => {
    const at = parseInstant(cells[column] ?? '')
    if (Number.isNaN(at)) throw cellFault(file, row, column, 'a date and time, such as 2024-05-06T18:44:00Z')
    if (at < 0 || at >= TOO_LATE) throw cellFault(file, row, column, 'a date and time from 1970 to 2200')
    return at
  }
  const ends = (cells['mitigated_at'] ?? '') === '' ? 'resolved_at' : 'mitigated_at'
  const [startAt, endAt] = [instant('started_at'), instant(ends)]
  if (endAt <= startAt) throw cellFault(file, row, ends, `later than started_at, ${cells['started_at']}`)
  return { name: cells['incident']!, startAt, endAt, impact: toImpact(row, file) }
}

function toImpact(row: CsvRow, file: string): number {
  const text = row.cells['impact']!.toLowerCase()
  const word = IMPACTS.findIndex((impact) => impact === text)
  if (word >= 0) return word
  const number = Number(text)
  if (text !== '' && Number.isInteger(number) && IMPACTS[number] !== undefined) return number
  throw cellFault(file, row, 'impact', `one of: ${IMPACTS.map((word, i) => `${i} (${word})`).join(', ')}`)
}
