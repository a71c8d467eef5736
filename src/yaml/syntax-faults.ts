import { LineCounter, parseDocument } from 'yaml'
import type { Document, ErrorCode, YAMLParseError } from 'yaml'
import * as block from './block-mends.ts'
import { duplicateKeys } from './duplicate-keys.ts'
import * as flow from './flow-mends.ts'
import type { Mend, Stumble } from './stumble.ts'
import { tokensOf } from './tokens.ts'
import * as value from './value-mends.ts'

/** Something that makes a text no YAML. Shows no secret. Lines and columns begin with 1. */
export interface SyntaxFault {
  readonly line: number
  readonly column: number
  /** What is wrong, what would be right. */
  readonly text: string
}

const MOST_FAULTS = 20

// every guess is a text that has to be parsed
const LONGEST_GUESSED = 200_000

type Cause = (stumble: Stumble) => readonly Mend[]

/** What is wrong wherever it stands. */
const CERTAIN: readonly Cause[] = [block.tabs, value.bareVariable, block.missingSpaceAfterDash]

/** What can be wrong, the likeliest first: of two that lead as far, the first one is told. */
const POSSIBLE: readonly Cause[] = [
  value.unclosedQuote,
  block.missingSpace,
  flow.missingCommaInList,
  block.missingColon,
  flow.unclosedBracket,
  flow.unopenedBracket,
  flow.missingComma,
  value.endedEarly,
  block.indentation,
  value.colonInValue,
  value.strangeBeginning,
  value.strangeEscape,
]

interface Parsed {
  readonly document: Document
  readonly counter: LineCounter
}

/** Reads YAML, of which JSON is a part; what is wrong is left in the document. */
export function parseYaml(text: string): Parsed {
  const counter = new LineCounter()
  // a pretty error would show the line, and with it perhaps a key; so would a warning
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    logLevel: 'error',
  })
  return { document, counter }
}

/**
 * Every fault of the syntax once. One fault makes the parser stumble many times: what stands at its first stumble is
 * mended in every way that could be meant, the way that leads furthest is told, and it goes on behind.
 */
export function syntaxFaults(text: string): SyntaxFault[] {
  const faults: SyntaxFault[] = []
  let lines: readonly string[] = text.split(/\r?\n/)
  while (faults.length < MOST_FAULTS) {
    const parsed = parseYaml(lines.join('\n'))
    const stumble = stumbleIn(parsed, lines)
    const duplicates = duplicateKeys(parsed.document, parsed.counter, lines)
    if (stumble === undefined) return [...faults, ...duplicates]
    const mend = text.length > LONGEST_GUESSED ? undefined : likeliest(stumble)
    if (mend === undefined) {
      const before = duplicates.filter(({ line }) => line < stumble.line)
      return [...faults, ...before, { line: stumble.line, column: stumble.column, text: inWords(stumble) }]
    }
    const { line, column, text: told } = mend
    faults.push({ line, column, text: told })
    lines = mend.lines
  }
  return faults
}

const isStructural = ({ code }: YAMLParseError) => code !== 'DUPLICATE_KEY'

/** Where the parser stumbles first; undefined = nowhere. */
function stumbleIn({ document, counter }: Parsed, lines: readonly string[]): Stumble | undefined {
  const errors = document.errors.filter(isStructural)
  const [first] = errors.toSorted((a, b) => a.pos[0] - b.pos[0])
  if (first === undefined) return undefined
  const { code, message, pos } = first
  const { line, col } = counter.linePos(pos[0])
  return { code, message, line, column: col, errors: errors.length, lines, tokens: tokensOf(lines) }
}

function likeliest(stumble: Stumble): Mend | undefined {
  if (stumble.code === 'MULTIPLE_DOCS') return undefined
  const best = (causes: readonly Cause[]) =>
    furthest(
      causes.flatMap((cause) => cause(stumble)),
      stumble,
    )
  return best(CERTAIN) ?? best(POSSIBLE)
}

/** The mend that leads furthest; of several, the one that changes least; of those, the first one. */
function furthest(mends: readonly Mend[], stumble: Stumble): Mend | undefined {
  let best: { readonly mend: Mend; readonly reach: number; readonly cost: number } | undefined
  for (const mend of mends) {
    const { reach, cost } = resultOf(mend, stumble)
    if (reach === 0 || (best && (reach < best.reach || (reach === best.reach && cost >= best.cost)))) continue
    best = { mend, reach, cost }
    if (reach === Infinity && cost === 1) break
  }
  return best?.mend
}

/** The line on which the parser stumbles next, 0 = it gets no further; and how much had to change for it. */
function resultOf(
  mend: Mend,
  { errors: before, lines }: Stumble,
): { readonly reach: number; readonly cost: number } {
  const { document, counter } = parseYaml(mend.lines.join('\n'))
  const errors = document.errors.filter(isStructural)
  // a line that was put into the wrong mapping may find its own key there
  const duplicates = document.errors.length - errors.length
  const cost = mend.lines.filter((line, i) => line !== lines[i]).length + duplicates * lines.length
  if (errors.length === 0) return { reach: Infinity, cost }
  const { line, col } = counter.linePos(Math.min(...errors.map(({ pos }) => pos[0])))
  const isFurther = line > mend.line || (line === mend.line && col > mend.column && errors.length < before)
  return { reach: isFurther ? line : 0, cost }
}

/** What can be said where no usual cause is found. */
const SOMETHING_BEFORE: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_INDENT: 'is indented unlike what it belongs to',
  BLOCK_AS_IMPLICIT_KEY: 'cannot begin here',
  BLOCK_IN_FLOW: 'cannot begin within { } or [ ]',
  MISSING_CHAR: 'is not complete',
  MULTILINE_IMPLICIT_KEY: 'goes on over several lines as if it were one key',
  UNEXPECTED_TOKEN: 'cannot stand here',
}

function inWords({ code, message }: Stumble): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins here, put everything into one'
  const what = SOMETHING_BEFORE[code]
  if (what !== undefined)
    return `what begins here ${what}, look for a colon, a quote, a comma or a bracket that is missing or too many, here or in the lines above`
  // some messages quote the file after a colon: a key that lacks its quotation marks would be shown
  return message.replace(/(?<=\S):\s[\s\S]*$/, '')
}
