import type { Mend, Stumble } from './stumble.ts'
import { inserted, withLine } from './stumble.ts'

// of the quotes that are not closed on their line, the first ones are the suspects
const MOST_QUOTES = 3

/** `"abc` */
export function unclosedQuote(stumble: Stumble): Mend[] {
  const { tokens, lines, line } = stumble
  const isOdd = (quote: string) => (lines[line - 1]?.split(quote).length ?? 1) % 2 === 0
  const open = tokens.filter(
    (token) =>
      token.kind === 'quoted' &&
      token.line <= line &&
      (token.endLine > token.line || (token.line === line && isOdd(token.text[0]!))),
  )
  return open.slice(0, MOST_QUOTES).flatMap((token) => {
    const quote = token.text[0]!
    const text = `this ${quote} is never closed, put another ${quote} behind the value`
    const whole = lines[token.line - 1]!
    // where a list or mapping goes on behind the value
    const ends = [
      whole.trimEnd().length,
      ...[...whole.matchAll(/(?<=\S)\s*(?:[,\]}]|:\s|\s#)/g)].map(({ index }) => index),
    ]
    return ends
      .filter((end) => end >= token.column)
      .map((end) => ({
        line: token.line,
        column: token.column,
        text,
        lines: inserted(stumble, token.line, end + 1, quote),
      }))
  })
}

/** `"x"y`, and `'it's'`. */
export function endedEarly(stumble: Stumble): Mend[] {
  const { tokens, line, column } = stumble
  if (stumble.code !== 'UNEXPECTED_TOKEN') return []
  const own = tokens.findLast(
    (token) => token.kind === 'quoted' && token.line === line && token.column < column,
  )
  if (own === undefined) return []
  const quote = own.text[0]!
  const within = quote === '"' ? String.raw`\"` : "''"
  const text = `the value ends at the ${quote} before this, put quotes around all of it, and write ${within} for a ${quote} within`
  return requoted(stumble, own.column).map((lines) => ({ line, column, text, lines }))
}

/** `note: this: that` */
export function colonInValue(stumble: Stumble): Mend[] {
  const { lines, line, column } = stumble
  const whole = lines[line - 1] ?? ''
  const at = whole.slice(column - 1).search(/:(?:\s|$)/)
  if (at === -1 || !/:\s+$/.test(whole.slice(0, column - 1))) return []
  const text = 'the value has a colon and a space in it, put quotes around the value'
  return requoted(stumble, column).map((mended) => ({ line, column: column + at, text, lines: mended }))
}

/** `@x`, and `|x`. */
export function strangeBeginning(stumble: Stumble): Mend[] {
  const { lines, line, message, code } = stumble
  const whole = lines[line - 1] ?? ''
  const isBlock = message.startsWith('Block scalar header')
  if (!isBlock && code !== 'BAD_SCALAR_START') return []
  const at = isBlock ? whole.search(/[|>](?=\S*[^\s+\-\d])/) : stumble.column - 1
  const char = whole[at]
  if (char === undefined) return []
  const what = isBlock
    ? `a value that begins with ${char} goes on in the lines below it`
    : `a value cannot begin with ${char}`
  const text = `${what}, put quotes around the value`
  const alone = isBlock ? [withLine(lines, line, whole.slice(0, at + 1))] : []
  return [...alone, ...requoted(stumble, at + 1)].map((mended) => ({
    line,
    column: at + 1,
    text,
    lines: mended,
  }))
}

/** `"C:\data"` */
export function strangeEscape(stumble: Stumble): Mend[] {
  const { line, column, code } = stumble
  if (code !== 'BAD_DQ_ESCAPE') return []
  const text = String.raw`a \ within " " begins an escape, and there is none like this, write \\, or put ' ' around the value`
  return [{ line, column, text, lines: inserted(stumble, line, column, '\\') }]
}

/** `{ apiKey: ${KEY} }` */
export function bareVariable({ lines, line, column }: Stumble): Mend[] {
  const whole = lines[line - 1] ?? ''
  if (whole.slice(column - 2, column) !== '${') return []
  const text = 'put quotes around ${NAME} where it stands within { } or [ ]'
  const mended = whole.replaceAll(/(?<!["'\w])\$\{[^}"']*\}/g, '"$&"')
  return [{ line, column: column - 1, text, lines: withLine(lines, line, mended) }]
}

/** The lines with quotes around what begins at a column: all of the line, or up to the end of its entry. */
function requoted({ lines, line }: Stumble, column: number): (readonly string[])[] {
  const whole = lines[line - 1] ?? ''
  const rest = whole.slice(column - 1).trimEnd()
  const ends = [rest.length, ...[...rest.matchAll(/\s*[,\]}]/g)].map(({ index }) => index)]
  return ends
    .filter((end) => end > 0)
    .map((end) => {
      const quoted = JSON.stringify(rest.slice(0, end))
      return withLine(lines, line, whole.slice(0, column - 1) + quoted + rest.slice(end))
    })
}
