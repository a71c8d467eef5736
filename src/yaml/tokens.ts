/** Something on a line that has a beginning of its own. Lines and columns begin with 1. */
export interface Token {
  readonly kind: 'open' | 'close' | 'quoted' | 'plain'
  readonly line: number
  readonly column: number
  /** As it stands in the file; of a text over several lines, what stands on the first one. */
  readonly text: string
  /** The line on which it ends; behind the last one where nothing closes it. */
  readonly endLine: number
}

const BLOCK_TEXT = /^[|>][-+\d]*[ \t]*(?:#.*)?$/
const SPACE = new Set([' ', '\t'])

/** The tokens of a YAML text that may be broken: nothing is refused, and a guess costs no more than a worse hint. */
export function tokensOf(lines: readonly string[]): Token[] {
  const tokens: Token[] = []
  let depth = 0
  for (let row = 0; row < lines.length; row++) {
    let at = 0
    let line = lines[row]!
    const add = (kind: Token['kind'], text: string, from: number, on: number) =>
      tokens.push({ kind, line: on + 1, column: from + 1, text, endLine: row + 1 })
    while (at < line.length) {
      const char = line[at]!
      if (char === '#' && (at === 0 || SPACE.has(line[at - 1]!))) break
      if (SPACE.has(char) || char === ',' || isMark(line, at)) at++
      else if (char === '{' || char === '[') {
        depth++
        add('open', char, at++, row)
      } else if (char === '}' || char === ']') {
        depth = Math.max(0, depth - 1)
        add('close', char, at++, row)
      } else if (char === '"' || char === "'") {
        const [from, on] = [at, row]
        const first = line.slice(from)
        at = closing(line, at + 1, char)
        while (at === -1 && row + 1 < lines.length) {
          line = lines[++row]!
          at = closing(line, 0, char)
        }
        if (at === -1) {
          row++
          add('quoted', first, from, on)
          return tokens
        }
        add('quoted', on === row ? line.slice(from, at) : first, from, on)
      } else if (depth === 0 && BLOCK_TEXT.test(line.slice(at))) {
        const least = indentOf(line)
        while (row + 1 < lines.length && (isBlank(lines[row + 1]!) || indentOf(lines[row + 1]!) > least))
          row++
        break
      } else {
        const text = plainAt(line, at, depth > 0)
        add('plain', text, at, row)
        at += text.length
      }
    }
  }
  return tokens
}

/** How many spaces and tabs a line begins with. */
export const indentOf = (line: string): number => /^[ \t]*/.exec(line)![0].length

/** True for a line that says nothing. */
export const isBlank = (line: string): boolean => /^[ \t]*(?:#.*)?$/.test(line)

/** A `:`, `-` or `?` that is no part of a text. */
const isMark = (line: string, at: number) =>
  /^(?:[-?]\s|[-?]$)/.test(line.slice(at)) || /^:(?:\s|$|[,[\]{}])/.test(line.slice(at))

/** Behind the quote that closes; -1 = none does on this line. */
function closing(line: string, from: number, quote: string): number {
  for (let at = from; at < line.length; at++) {
    if (line[at] === '\\' && quote === '"') at++
    else if (line[at] === quote && (quote === '"' || line[at + 1] !== "'")) return at + 1
    else if (line[at] === quote) at++
  }
  return -1
}

function plainAt(line: string, from: number, flow: boolean): string {
  const end = flow ? /[ \t]+#|:(?=\s|$|[,[\]{}])|[,[\]{}]/ : /[ \t]+#|:(?=\s|$)/
  const found = end.exec(line.slice(from + 1))
  const text = line.slice(from, found === null ? undefined : from + 1 + found.index)
  return text.trimEnd()
}
