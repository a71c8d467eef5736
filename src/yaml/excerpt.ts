import { SECRET_KEYS, SECRET_MAPPINGS, SHORTEST_SECRET } from './secret-keys.ts'
import { indentOf, isBlank } from './tokens.ts'

const HIDDEN = '…'
const WIDTH = 100
const BEFORE_CARET = 60

/** A comment, a text in quotes, a word with its colon, or what separates them. */
const PIECE = /#.*|"(?:\\.|[^"\\])*"?|'[^']*'?|[^\s[\]{},"'#][^\s[\]{},"']*|[\s\S]/gu

/**
 * A line with a mark below one column. The file is broken, and nobody knows for sure which of its words is a secret:
 * what is shown are keys, and values that are too short to be one.
 */
export function excerpt(lines: readonly string[], line: number, column: number): string {
  const { text, caret } = hidden(lines, line - 1, column - 1)
  const from = text.length > WIDTH ? Math.max(0, caret - BEFORE_CARET) : 0
  const before = from > 0 ? HIDDEN : ''
  const after = from + WIDTH < text.length ? HIDDEN : ''
  const gutter = `  ${line} | `
  return [
    `${gutter}${before}${text.slice(from, from + WIDTH)}${after}`,
    `${'| '.padStart(gutter.length)}${' '.repeat(caret - from + before.length)}^`,
  ].join('\n')
}

/** A key as a fault may name it; undefined where it could be a secret. */
export function nameable(lines: readonly string[], line: number, word: string): string | undefined {
  return placeOf(lines, line - 1) !== 'value' && isWord(word) ? word : undefined
}

function hidden(lines: readonly string[], row: number, column: number) {
  const place = placeOf(lines, row)
  const line = lines[row] ?? ''
  if (place === 'value') return { text: `${' '.repeat(indentOf(line))}${HIDDEN}`, caret: indentOf(line) }
  let secret = place !== undefined
  let [text, caret, isFirst] = ['', -1, true]
  for (const { index, 0: piece } of line.matchAll(PIECE)) {
    const isMark = /^[\s[\]{},-]$/u.test(piece)
    const isKey = /^["']?\s*:(?:\s|$)/.test(line.slice(index + piece.length)) || /^[^"'].*:$/su.test(piece)
    const shown = isMark
      ? printable(piece)
      : shownWord(piece, { isKey, secret, isFirst: isFirst && place === undefined })
    if (!isMark) {
      isFirst = false
      secret ||= isSecretWord(/[\w$-]+/.exec(piece)?.[0] ?? '')
    }
    if (caret === -1 && column < index + piece.length)
      caret = text.length + Math.min(Math.max(0, column - index), Math.max(0, shown.length - 1))
    text += shown
  }
  return { text, caret: caret === -1 ? text.length : caret }
}

interface Standing {
  readonly isKey: boolean
  /** Behind a key that holds a secret. */
  readonly secret: boolean
  readonly isFirst: boolean
}

function shownWord(piece: string, { isKey, secret, isFirst }: Standing): string {
  if (piece.startsWith('#')) return piece.length < SHORTEST_SECRET ? printable(piece) : `#${HIDDEN}`
  const [, open = '', word = '', glued = '', close = ''] =
    /^(["']?)([\w$*./-]*)(.*?)(["']?)$/su.exec(piece) ?? []
  const isSafeWord = isWord(word) && (isKey || (isFirst && open === '') || isSecretWord(word))
  if (glued === '' || glued === ':') {
    const isShown = isSafeWord || (!secret && word.length < SHORTEST_SECRET)
    return `${open}${isShown ? word : HIDDEN}${glued}${close}`
  }
  const isShort = !secret && piece.length < SHORTEST_SECRET
  if (isShort || /^["']?\$\{\w+\}["']?$/.test(piece)) return printable(piece)
  // a key whose value follows without a space
  if (open === '' && /^:(?!\/\/)/.test(glued) && isWord(word) && word.length > 0) {
    const value = glued.slice(1)
    return `${word}:${secret || isSecretWord(word) || value.length >= SHORTEST_SECRET ? HIDDEN : printable(value)}`
  }
  return `${open}${HIDDEN}${close}`
}

const printable = (text: string) => text.replaceAll('\t', '→').replaceAll(/\p{C}/gu, '\uFFFD')

const isSecretWord = (word: string) => SECRET_KEYS.has(word) || SECRET_MAPPINGS.has(word)

/** Parts of letters, or of a few characters: a name, and nothing that was made at random. */
const isWord = (text: string) =>
  text.length <= 60 && text.split(/[-_./]/).every((part) => /^[A-Za-z$*]{0,24}$|^\w{1,4}$/.test(part))

/** Whether a line stands below a key that holds a secret, or below a mapping of them. */
function placeOf(lines: readonly string[], row: number): 'value' | 'mapping' | undefined {
  let indent = indentOf(lines[row] ?? '')
  let isNearest = true
  for (let above = row - 1; above >= 0; above--) {
    const line = lines[above]!
    if (isBlank(line)) continue
    const own = indentOf(line)
    if (own < indent || isNearest) {
      const words: readonly string[] = line.match(/[\w$-]+/g) ?? []
      const last = words.at(-1) ?? ''
      if (
        SECRET_KEYS.has(last) ||
        (own < indent && SECRET_KEYS.has(words.find((word) => word !== '-') ?? ''))
      )
        return 'value'
      if (own < indent ? words.some(isSecretWord) : SECRET_MAPPINGS.has(last)) return 'mapping'
    }
    isNearest = false
    indent = Math.min(indent, own)
  }
  return undefined
}
