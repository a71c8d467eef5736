import type { ErrorCode } from 'yaml'
import type { Token } from './tokens.ts'

/** Where the parser could not go on. Lines and columns begin with 1. */
export interface Stumble {
  readonly code: ErrorCode
  readonly message: string
  readonly line: number
  readonly column: number
  /** How many errors there are in all. */
  readonly errors: number
  readonly lines: readonly string[]
  readonly tokens: readonly Token[]
}

/** A usual cause: where it is, what is wrong and what would be right, and the lines without it. */
export interface Mend {
  readonly line: number
  readonly column: number
  readonly text: string
  readonly lines: readonly string[]
}

/** Puts one line in the place of another. */
export const withLine = (lines: readonly string[], line: number, text: string): readonly string[] =>
  lines.with(line - 1, text)

/** Puts something before a column. */
export function inserted({ lines }: Stumble, line: number, column: number, text: string): readonly string[] {
  const whole = lines[line - 1] ?? ''
  return withLine(lines, line, `${whole.slice(0, column - 1)}${text}${whole.slice(column - 1)}`)
}
