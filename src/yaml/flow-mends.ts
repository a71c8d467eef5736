import { nameable } from './excerpt.ts'
import type { Mend, Stumble } from './stumble.ts'
import { inserted, withLine } from './stumble.ts'
import { isBlank } from './tokens.ts'
import type { Token } from './tokens.ts'

const CLOSES: Readonly<Record<string, string>> = { '[': ']', '{': '}' }

/** `[a, b`, and `{ a: [1 }`. */
export function unclosedBracket(stumble: Stumble): Mend[] {
  const { line, column, lines } = stumble
  const open = openBrackets(stumble)
  return open
    .toReversed()
    .slice(0, 3)
    .flatMap((bracket) => {
      const closer = CLOSES[bracket.text]!
      const text = `this ${bracket.text} is never closed, put a ${closer} behind its last entry`
      const ends = [lastLineBefore(lines, line), bracket.line].map((end) => [
        end,
        (lines[end - 1]?.trimEnd().length ?? 0) + 1,
      ])
      return [[line, column], ...ends].map(([on = line, at = column]) => ({
        line: bracket.line,
        column: bracket.column,
        text,
        lines: inserted(stumble, on, at, closer),
      }))
    })
}

/** `{ a: 1 }}`, and `a: 1 }`. */
export function unopenedBracket({ lines, line, column }: Stumble): Mend[] {
  const whole = lines[line - 1] ?? ''
  const inQuotes = /"(?:\\.|[^"\\])*"|'[^']*'/g
  const bare = whole.replaceAll(inQuotes, (text) => ' '.repeat(text.length))
  return Object.entries(CLOSES).flatMap(([opener, closer]) => {
    if (bare.split(closer).length <= bare.split(opener).length) return []
    const closers = [...bare.matchAll(/[\]}]/g)].filter(
      ({ 0: found, index }) => found === closer && index >= column - 1,
    )
    const begins = [...bare.matchAll(/(?<=[:-]\s+)(?=\S)/g)].map(({ index }) => index)
    return closers.flatMap(({ index }) => {
      const text = `no ${opener} is open that this ${closer} could close, put one where its entries begin, or take this out`
      const without = whole.slice(0, index) + whole.slice(index + 1)
      const opened = begins
        .filter((begin) => begin < index)
        .map((begin) => `${whole.slice(0, begin)}${opener} ${whole.slice(begin)}`)
      return [...opened, without].map((mended) => ({
        line,
        column: index + 1,
        text,
        lines: withLine(lines, line, mended),
      }))
    })
  })
}

/** `["a" "b"]` */
export function missingCommaInList(stumble: Stumble): Mend[] {
  return openBrackets(stumble).at(-1)?.text === '[' ? missingComma(stumble) : []
}

/** `{a: 1 b: 2}`, and an entry of JSON without its comma. */
export function missingComma(stumble: Stumble): Mend[] {
  const { tokens, line, column } = stumble
  const at = tokens.findIndex((token) => token.line === line && token.column >= column)
  const own = tokens[at]
  if (own === undefined || openBrackets(stumble).length === 0) return []
  const [, first, word = ''] = /^(.*\S)\s+(\S+)$/.exec(own.kind === 'plain' ? own.text : '') ?? []
  const within =
    first === undefined
      ? []
      : [{ line, column: column + first.length, next: word, at: own.column + own.text.length - word.length }]
  const behind = [at, at - 1].flatMap((i) => {
    const [token, next] = [tokens[i], tokens[i + 1]]
    if (token === undefined || next === undefined || token.kind === 'open' || next.kind === 'close') return []
    if (isKey(stumble.lines, token)) return []
    const isSameLine = token.line === next.line
    return [
      {
        line: token.endLine,
        column: isSameLine ? next.column : Infinity,
        next: next.text,
        at: isSameLine ? next.column : token.column + token.text.length,
      },
    ]
  })
  return [...within, ...behind].map((place) => {
    const name = nameable(stumble.lines, line, place.next.replaceAll(/["']/g, ''))
    const end = (stumble.lines[place.line - 1]?.trimEnd().length ?? 0) + 1
    const text = `a comma is missing before ${name === undefined ? 'the next entry' : `'${name}'`}`
    return {
      line: place.line,
      column: Math.min(place.at, end),
      text,
      lines: inserted(stumble, place.line, Math.min(place.column, end), ','),
    }
  })
}

const isKey = (lines: readonly string[], { line, column, text }: Token) =>
  /^\s*:/.test(lines[line - 1]!.slice(column - 1 + text.length))

/** Brackets that are open where it stumbled, the outermost first. */
function openBrackets({ tokens, line, column }: Stumble): readonly Token[] {
  const open: Token[] = []
  for (const token of tokens) {
    if (token.line > line || (token.line === line && token.column >= column)) break
    if (token.kind === 'open') open.push(token)
    if (token.kind === 'close') open.pop()
  }
  return open
}

function lastLineBefore(lines: readonly string[], line: number): number {
  return lines.findLastIndex((text, i) => i < line - 1 && !isBlank(text)) + 1
}
