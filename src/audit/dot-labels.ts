import { FAINT, GUARD, INK, LINE, PAPER } from './chart-colours.ts'
import type { ChartState, ChartTransition } from './chart-model.ts'

/** Graphviz knows the widths of its letters, and hardly a font is wider. */
export const FONT = 'DejaVu Sans'

const WIDTH = 20
const STATE = 22
const WIDE = 30
const AROUND = 24
const NOTE = 64
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escape = (text: string) => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)
export const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

/** Breaks between words into as few lines of at most `width` as can be, all as even as can be. */
export function wrap(text: string, width = WIDTH): string[] {
  const lines = fill(text, width)
  const longest = longestOf(lines)
  const narrower = fill(text, longest - 1)
  const isEvener = narrower.length === lines.length && longestOf(narrower) < longest
  return isEvener ? wrap(text, longest - 1) : lines
}

const longestOf = (lines: readonly string[]) => Math.max(...lines.map((line) => line.length))

/** A single word may be longer than `width`. */
function fill(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || `${last} ${word}`.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

interface Style {
  readonly color: string
  readonly size: number
  readonly bold?: boolean
  readonly width?: number
}

const NAME: Style = { color: INK, size: 15, bold: true }

/** A row of the table around it for each line: Graphviz sets the lines of one cell without leading. */
function lines(text: string, { color, size, bold = false, width = WIDTH }: Style): string {
  if (text === '') return ''
  const [open, close] = bold ? ['<B>', '</B>'] : ['', '']
  return wrap(text, width)
    .map((line) => row(`<FONT COLOR="${color}" POINT-SIZE="${size}">${open}${escape(line)}${close}</FONT>`))
    .join('')
}

const row = (content: string, attributes = '') => `<TR><TD ALIGN="LEFT"${attributes}>${content}</TD></TR>`

const gap = (height: number) => `<TR><TD FIXEDSIZE="TRUE" WIDTH="1" HEIGHT="${height}"></TD></TR>`

const table = (rows: string) =>
  `<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">${rows}</TABLE>`

/** One row a transition; a guard that the next row shares is told there. */
function told(transitions: readonly ChartTransition[], described: boolean): string {
  return transitions
    .map((each, place) => {
      const { id, event, guard, sentence, description } = each
      const width = described ? WIDE : WIDTH
      const sharedWith = (other: ChartTransition | undefined) => guard !== null && other?.guard === guard
      const goesOn = sharedWith(transitions[place + 1])
      const name = (event === 'always' ? 'as soon as' : event) + (goesOn && !described ? ' or' : '')
      const asked = described && sharedWith(transitions[place - 1]) ? `each: ${sentence}` : sentence
      const said =
        lines(name, { color: INK, size: 12, bold: true, width }) +
        (described ? lines(description, { color: FAINT, size: 11, width }) : '') +
        (goesOn ? '' : lines(asked, { color: GUARD, size: 11, width }))
      const own = row(table(said), ` ID="edge:${escape(id)}" TOOLTIP="${escape(description)}"`)
      return place > 0 && (described || !sharedWith(transitions[place - 1])) ? gap(8) + own : own
    })
    .join('')
}

/** The box on the way from one state to another. */
export function wayLabel(transitions: readonly ChartTransition[]): string {
  const frame = `STYLE="ROUNDED" BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="5" COLOR="${LINE}" BGCOLOR="${PAPER}"`
  return `<<TABLE ${frame}><TR><TD>${table(told(transitions, false))}</TD></TR></TABLE>>`
}

/** Name and meaning of a state, and what happens in it without leaving it. */
export function stateLabel({ name, description }: ChartState, inside: readonly ChartTransition[]): string {
  const width = inside.length > 0 ? WIDE : STATE
  const head = lines(name, NAME) + lines(description, { color: INK, size: 11, width })
  return `<${table(head + (inside.length > 0 ? `${gap(5)}<HR/>${gap(5)}${told(inside, true)}` : ''))}>`
}

/** Name and meaning of a state with states inside. */
export function aroundLabel({ name, description }: ChartState): string {
  const text = lines(name, NAME) + lines(description, { color: INK, size: 11, width: AROUND })
  return `<${table(gap(4) + text)}>`
}

/** What stands above a picture. */
export function headLabel(name: string, description: string, note: string): string {
  const text =
    lines(name, { color: INK, size: 20, bold: true }) +
    lines(description, { color: INK, size: 12, width: NOTE }) +
    lines(note, { color: FAINT, size: 11, width: NOTE })
  return `<${table(text + gap(8))}>`
}
