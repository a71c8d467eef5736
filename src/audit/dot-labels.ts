import type { ChartState, ChartTransition } from './chart-model.ts'

/** What a state means to somebody who looks from afar. */
export type Tone = 'good' | 'watch' | 'bad' | 'plain'

export const FONT = 'DejaVu Sans'
export const INK = '#1f2937'
export const FAINT = '#57606a'
export const GUARD = '#1d4ed8'
export const LINE = '#8c959f'
export const PAPER = '#ffffff'

export const TONES: Readonly<
  Record<Tone, { readonly fill: string; readonly around: string; readonly line: string }>
> = {
  good: { fill: '#d7f5dd', around: '#f1fbf3', line: '#2da44e' },
  watch: { fill: '#fdf0c4', around: '#fffaeb', line: '#bf8700' },
  bad: { fill: '#ffdedb', around: '#fff5f4', line: '#cf222e' },
  plain: { fill: '#eaeef2', around: '#f6f8fa', line: '#6e7781' },
}

const WIDTH = 28
const WIDE = 34
const NARROW = 24
const NOTE = 58
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

function lines(text: string, { color, size, bold = false, width = WIDTH }: Style): string {
  if (text === '') return ''
  const [open, close] = bold ? ['<B>', '</B>'] : ['', '']
  return wrap(text, width)
    .map(
      (line) =>
        `<FONT COLOR="${color}" POINT-SIZE="${size}">${open}${escape(line)}${close}</FONT><BR ALIGN="LEFT"/>`,
    )
    .join('')
}

const cell = (content: string, attributes = '') =>
  content === '' ? '' : `<TR><TD ALIGN="LEFT" BALIGN="LEFT"${attributes}>${content}</TD></TR>`

const gap = (height: number) => `<TR><TD FIXEDSIZE="TRUE" WIDTH="1" HEIGHT="${height}"></TD></TR>`

/** One row a transition; a guard that the next row shares is told there. */
function rows(transitions: readonly ChartTransition[], described: boolean): string {
  return transitions
    .map((each, place) => {
      const { id, event, guard, sentence, description } = each
      const width = described ? WIDE : WIDTH
      const sharedWith = (other: ChartTransition | undefined) => guard !== null && other?.guard === guard
      const goesOn = sharedWith(transitions[place + 1])
      const name = (event === 'always' ? 'as soon as' : event) + (goesOn && !described ? ' or' : '')
      const asked = described && sharedWith(transitions[place - 1]) ? `each: ${sentence}` : sentence
      const said =
        lines(name, { color: INK, size: 12, bold: true }) +
        (described ? lines(description, { color: FAINT, size: 11, width }) : '') +
        (goesOn ? '' : lines(asked, { color: GUARD, size: 11, width }))
      const row = cell(said, ` ID="edge:${escape(id)}" TOOLTIP="${escape(description)}"`)
      return place > 0 && (described || !sharedWith(transitions[place - 1])) ? gap(6) + row : row
    })
    .join('')
}

const table = (content: string) =>
  `<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">${content}</TABLE>`

/** The box on the way from one state to another. */
export function wayLabel(transitions: readonly ChartTransition[]): string {
  const frame = `STYLE="ROUNDED" BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="4" COLOR="${LINE}" BGCOLOR="${PAPER}"`
  return `<<TABLE ${frame}><TR><TD>${table(rows(transitions, false))}</TD></TR></TABLE>>`
}

/** Name and meaning of a state, and what happens in it without leaving it. */
export function stateLabel({ name, description }: ChartState, inside: readonly ChartTransition[]): string {
  const width = inside.length > 0 ? WIDE : WIDTH
  const head = cell(lines(name, NAME) + lines(description, { color: INK, size: 11, width }))
  return `<${table(head + (inside.length > 0 ? `${gap(3)}<HR/>${gap(3)}${rows(inside, true)}` : ''))}>`
}

/** Name and meaning of a state with states inside. Narrow, because ways may pass beside it. */
export function aroundLabel({ name, description }: ChartState): string {
  return `<${lines(name, NAME)}${lines(description, { color: INK, size: 11, width: NARROW })}>`
}

/** What stands above a picture. */
export function headLabel(name: string, description: string, note: string): string {
  const text =
    lines(name, { color: INK, size: 20, bold: true }) +
    lines(description, { color: INK, size: 12, width: NOTE }) +
    lines(note, { color: FAINT, size: 11, width: NOTE })
  return `<${table(cell(text) + gap(8))}>`
}
