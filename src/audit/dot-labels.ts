import type { ChartState, ChartTransition } from './chart-model.ts'

/** What a state means to somebody who looks from afar. */
export type Tone = 'good' | 'watch' | 'bad' | 'plain'

export const FONT = 'DejaVu Sans'
export const INK = '#1f2937'
export const FAINT = '#57606a'
export const GUARD = '#1d4ed8'
export const LINE = '#8c959f'
export const PAPER = '#ffffff'

export const TONES: Readonly<Record<Tone, { readonly fill: string; readonly around: string; readonly line: string }>> = {
  good: { fill: '#d7f5dd', around: '#f1fbf3', line: '#2da44e' },
  watch: { fill: '#fdf0c4', around: '#fffaeb', line: '#bf8700' },
  bad: { fill: '#ffdedb', around: '#fff5f4', line: '#cf222e' },
  plain: { fill: '#eaeef2', around: '#f6f8fa', line: '#6e7781' },
}

const WIDTH = 28
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escape = (text: string) => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)
export const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

/** Breaks between words, so that no line is longer than `width` unless a single word is. */
export function wrap(text: string, width = WIDTH): string[] {
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

function lines(text: string, { color, size, bold = false, width = WIDTH }: Style): string {
  if (text === '') return ''
  const [open, close] = bold ? ['<B>', '</B>'] : ['', '']
  return wrap(text, width)
    .map((line) => `<FONT COLOR="${color}" POINT-SIZE="${size}">${open}${escape(line)}${close}</FONT><BR ALIGN="LEFT"/>`)
    .join('')
}

const cell = (content: string, attributes = '') =>
  content === '' ? '' : `<TR><TD ALIGN="LEFT" BALIGN="LEFT"${attributes}>${content}</TD></TR>`

/** One row a transition; a guard that the next row shares is told there. */
function rows(transitions: readonly ChartTransition[], described: boolean): string {
  return transitions
    .map((each, place) => {
      const { id, event, guard, sentence, description } = each
      const shared = guard !== null && transitions[place + 1]?.guard === guard && !described
      const said =
        lines(event === 'always' ? 'as soon as' : event, { color: INK, size: 12, bold: true }) +
        (described ? lines(description, { color: FAINT, size: 11, width: 34 }) : '') +
        (shared ? '' : lines(sentence, { color: GUARD, size: 11, width: described ? 34 : WIDTH }))
      return cell(said, ` ID="edge:${escape(id)}" TOOLTIP="${escape(description)}"`)
    })
    .join('')
}

const table = (content: string, attributes: string) =>
  `<<TABLE CELLBORDER="0" CELLSPACING="0" CELLPADDING="5" ${attributes}>${content}</TABLE>>`

/** The box on the way from one state to another. */
export function wayLabel(transitions: readonly ChartTransition[]): string {
  return table(rows(transitions, false), `STYLE="ROUNDED" BORDER="1" COLOR="${LINE}" BGCOLOR="${PAPER}"`)
}

/** Name and meaning of a state, and what happens in it without leaving it. */
export function stateLabel({ name, description }: ChartState, inside: readonly ChartTransition[]): string {
  const head = cell(
    lines(name, { color: INK, size: 15, bold: true }) + lines(description, { color: INK, size: 11, width: inside.length > 0 ? 34 : WIDTH }),
  )
  return table(head + (inside.length > 0 ? `<HR/>${rows(inside, true)}` : ''), 'BORDER="0"')
}

export function aroundLabel({ name, description }: ChartState): string {
  return `<${lines(name, { color: INK, size: 15, bold: true })}${lines(description, { color: INK, size: 11, width: 60 })}>`
}
