import { nameable } from './excerpt.ts'
import type { Mend, Stumble } from './stumble.ts'
import { inserted, withLine } from './stumble.ts'
import { indentOf, isBlank } from './tokens.ts'

const KEY = /^(?:"[^"]*"|'[^']*'|[\w$@./*-]+)(?=\s|$)/
const GLUED_KEY = /^("[^"]*"|'[^']*'|[\w$.-]+):(?!\/\/)(?=\S)/

/** `port 4000`, and `targets` with its list below. */
export function missingColon(stumble: Stumble): Mend[] {
  return keysAround(stumble).flatMap(({ line, column, text }) => {
    const key = KEY.exec(text)?.[0]
    if (key === undefined) return []
    const name = nameable(stumble.lines, line, unquoted(key))
    return [{ line, column, text: noColon(name), lines: inserted(stumble, line, column + key.length, ':') }]
  })
}

const unquoted = (key: string) => key.replaceAll(/^["']|["']$/g, '')

/** What is said of a key without its colon. */
export const noColon = (name: string | undefined): string =>
  `a colon is missing behind ${name === undefined ? 'this key' : `'${name}'`}, write ${name ?? 'key'}: and then its value`

/** `port:4000` */
export function missingSpace(stumble: Stumble): Mend[] {
  return keysAround(stumble).flatMap(({ line, column, text }) => {
    const key = GLUED_KEY.exec(text)?.[1]
    if (key === undefined) return []
    const at = column + key.length
    const name = nameable(stumble.lines, line, unquoted(key))
    return [{ line, column: at, text: noSpace(name), lines: inserted(stumble, line, at + 1, ' ') }]
  })
}

/** What is said of a key whose value follows at once. */
export const noSpace = (name: string | undefined): string =>
  `a space is missing behind the colon, write ${name ?? 'key'}: and a space before the value`

/** `-name: a` */
export function missingSpaceAfterDash(stumble: Stumble): Mend[] {
  const { line, lines } = stumble
  const [, before] = /^(\s*-)(?=[\w"'{[$])/.exec(lines[line - 1] ?? '') ?? []
  if (before === undefined) return []
  const text = NO_SPACE_AFTER_DASH
  return [{ line, column: before.length, text, lines: inserted(stumble, line, before.length + 1, ' ') }]
}

export const NO_SPACE_AFTER_DASH = 'a space is missing behind the dash of a list entry, write "- " before it'

/** Tabs at the beginning of lines. */
export function tabs({ line: from, lines }: Stumble): Mend[] {
  const isTabbed = (line: string) => !isBlank(line) && line.slice(0, indentOf(line)).includes('\t')
  const row = lines.findIndex((line, i) => i >= from - 1 && isTabbed(line))
  if (row === -1) return []
  const more = lines.slice(row + 1).filter(isTabbed).length
  const others = more === 0 ? '' : `, here and in ${more} more line${more === 1 ? '' : 's'}`
  const text = `the line is indented with a tab, which YAML does not allow, use spaces${others}`
  const column = lines[row]!.indexOf('\t') + 1
  const asSpaces = (width: number) =>
    lines.map((line, i) => {
      const indent = indentOf(line)
      return i < row ? line : line.slice(0, indent).replaceAll('\t', ' '.repeat(width)) + line.slice(indent)
    })
  const above = lines.findLast((line, i) => i < row && !isBlank(line)) ?? ''
  const below = lines.find((line, i) => i > row && !isBlank(line)) ?? ''
  const count = lines[row]!.slice(0, indentOf(lines[row]!)).split('\t').length - 1
  const asOthers = [above, below]
    .filter((line) => !isTabbed(line))
    .map((line) => Math.floor(indentOf(line) / count))
  return [...new Set([...asOthers, 2, 4, 8, 0])].map((width) => ({
    line: row + 1,
    column,
    text,
    lines: asSpaces(width),
  }))
}

/** A line that stands too far in, or not far enough; or one that the lines after it do not follow. */
export function indentation({ line: from, lines }: Stumble): Mend[] {
  const next = lines.findIndex((line, i) => i >= from && !isBlank(line)) + 1
  const before = lines.findLastIndex((line, i) => i < from - 1 && !isBlank(line)) + 1
  // of what is open above, the one that should begin where this line does
  const own = indentOf(lines[from - 1] ?? '')
  const sibling = placesAbove(lines, from).findLast(({ indent }) => indent > own)?.line ?? 0
  return [
    ...[from, next].flatMap((line) => likeAbove(lines, line)),
    ...likeBelow(lines, before, from),
    ...likeBelow(lines, from, next),
    ...likeBelow(lines, sibling, from),
  ]
}

function likeAbove(lines: readonly string[], line: number): Mend[] {
  if (line < 1) return []
  const own = indentOf(lines[line - 1]!)
  const places = placesAbove(lines, line).filter(({ indent }) => indent !== own)
  const nearest = places.toSorted((a, b) => Math.abs(a.indent - own) - Math.abs(b.indent - own))
  return nearest.slice(0, 3).flatMap((place) => {
    const name = nameable(lines, place.line, place.name)
    const other = `${name === undefined ? 'what is' : `'${name}'`} in line ${place.line}`
    const isBelowValue = place.hasValue && own > place.indent
    const why = isBelowValue
      ? `deeper than ${other}, which has a value already`
      : 'which fits nothing above it'
    const beside = isBelowValue ? 'it stands beside it' : `it stands beside ${other}`
    const text = `the line is indented by ${spaces(own)}, ${why}, with ${place.indent} ${beside}`
    return [true, false].map((whole) => ({
      line,
      column: own + 1,
      text,
      lines: moved(lines, line, place.indent, whole),
    }))
  })
}

function likeBelow(lines: readonly string[], line: number, follower: number): Mend[] {
  if (line < 1 || follower < 1) return []
  const [own, below] = [indentOf(lines[line - 1]!), indentOf(lines[follower - 1]!)]
  const dash = /^\s*(-\s+)/.exec(lines[line - 1]!)?.[1]?.length ?? 0
  return [...new Set([below - dash, below])]
    .filter((wanted) => wanted >= 0 && wanted !== own)
    .map((wanted) => {
      const text = `the line is indented by ${spaces(own)}, which does not fit line ${follower} below it, with ${wanted} it does`
      return { line, column: own + 1, text, lines: moved(lines, line, wanted, false) }
    })
}

const spaces = (n: number) => `${n} space${n === 1 ? '' : 's'}`

interface Above {
  readonly indent: number
  readonly line: number
  readonly name: string
  readonly hasValue: boolean
}

/** Where keys and list entries begin that are still open above a line. */
function placesAbove(lines: readonly string[], line: number): Above[] {
  const places: Above[] = []
  let most = Infinity
  for (let row = line - 2; row >= 0 && most > 0; row--) {
    const text = lines[row]!
    if (isBlank(text)) continue
    const [, indent = '', dashes = '', name = ''] = /^(\s*)((?:- +)*)["']?([\w$-]*)/.exec(text) ?? []
    const hasValue = /:\s+[^\s#]/.test(text)
    const columns = dashes === '' ? [indent.length] : [indent.length + dashes.length, indent.length]
    for (const column of columns) {
      if (column >= most) continue
      const isDash = column === indent.length && dashes !== ''
      places.push({ indent: column, line: row + 1, name: isDash ? '-' : name, hasValue: hasValue && !isDash })
      most = column
    }
  }
  return places
}

/** A line, and with `whole` what stands below it, at another indentation. */
function moved(lines: readonly string[], line: number, indent: number, whole: boolean): readonly string[] {
  const own = indentOf(lines[line - 1]!)
  const by = indent - own
  const shift = (text: string) => (by < 0 ? text.slice(-by) : ' '.repeat(by) + text)
  if (!whole) return withLine(lines, line, shift(lines[line - 1]!))
  const after = lines.findIndex((text, i) => i >= line && !isBlank(text) && indentOf(text) < own)
  const end = after === -1 ? lines.length : after
  return lines.map((text, i) => (i >= line - 1 && i < end && !isBlank(text) ? shift(text) : text))
}

interface PossibleKey {
  readonly line: number
  readonly column: number
  /** From its beginning to the end of the line. */
  readonly text: string
}

/** What could be a key: the token where it stumbled, the one before, and the first one of the line. */
function keysAround({ tokens, lines, line, column }: Stumble): PossibleKey[] {
  const own = tokens.filter((token) => token.line === line)
  const at = own.findIndex((token) => token.column >= column)
  const near = [own.at(at), at > 0 ? own[at - 1] : undefined, own[0]]
  return [...new Set(near)]
    .filter((token) => token?.kind === 'plain' || token?.kind === 'quoted')
    .map((token) => ({ line, column: token!.column, text: lines[line - 1]!.slice(token!.column - 1) }))
}
