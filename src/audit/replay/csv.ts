import { ConfigError } from '../../core/errors.ts'

/** One line of a CSV file, by column. */
export interface CsvRow {
  readonly line: number
  readonly cells: Readonly<Record<string, string>>
}

/**
 * Reads a CSV file with a header. Quotes hold commas and doubled quotes, not line breaks.
 *
 * @param file how the file is called in faults
 * @throws ConfigError where a column is missing or a line is short
 */
export function readCsv(text: string, file: string, columns: readonly string[]): CsvRow[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const header = cellsOf(lines[0] ?? '')
  for (const column of columns) {
    if (header.includes(column)) continue
    throw new ConfigError(`${file}:1 The column '${column}' is missing.`, {
      path: column,
      line: 1,
      hint: `The first line must name the columns: ${columns.join(', ')}.`,
    })
  }
  return lines.slice(1).flatMap((text, i) => {
    if (text.trim() === '') return []
    const cells = cellsOf(text)
    const line = i + 2
    if (cells.length >= header.length)
      return [{ line, cells: Object.fromEntries(header.map((name, at) => [name, cells[at]!])) }]
    throw new ConfigError(`${file}:${line} This line has ${cells.length} of ${header.length} columns.`, {
      line,
    })
  })
}

function cellsOf(line: string): string[] {
  if (!line.includes('"')) return line.split(',').map((cell) => cell.trim())
  const cells = line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"|([^,]*))/g)
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!.trim())
}

/** A fault in one cell. */
export function cellFault(file: string, { line, cells }: CsvRow, column: string, right: string): ConfigError {
  return new ConfigError(`${file}:${line} ${column}: This is '${cells[column] ?? ''}'.`, {
    path: column,
    line,
    hint: `It must be ${right}.`,
  })
}
