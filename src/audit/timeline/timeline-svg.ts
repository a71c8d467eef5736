import { escapeHtml as text } from './escape.ts'
import { inRoom, widthOf } from './fitting.ts'
import { sharesOf } from './spans.ts'
import type { StateSpan } from './spans.ts'

/** The states of one circuit. */
export interface Band {
  readonly name: string
  readonly spans: readonly StateSpan[]
}

/** Shares from 0 to 1, one a column. */
export interface Line {
  readonly name: string
  readonly tone: 'bad' | 'watch' | 'accent' | 'faint' | 'good'
  readonly shares: readonly number[]
}

/** Lines that share one scale. */
export interface Graph {
  readonly name: string
  /** What stands at the top. */
  readonly top: string
  readonly lines: readonly Line[]
}

/** A stretch of time that is pointed out. */
export interface Mark {
  readonly fromAt: number
  readonly toAt: number
  readonly name: string
}

/** What happened from `fromAt` to `toAt`. */
export interface Timeline {
  readonly title: string
  /** The picture in a sentence, for those who cannot see it. */
  readonly description: string
  readonly fromAt: number
  readonly toAt: number
  readonly marks: readonly Mark[]
  readonly bands: readonly Band[]
  readonly graphs: readonly Graph[]
  readonly timeInWords: (at: number) => string
}

/** Columns that shares are given for. */
export const COLUMNS = 360
const COLUMN = 2
const NAMES = 190
const WIDTH = NAMES + COLUMNS * COLUMN + 10
const BAND = 18
const GRAPH = 56
const GAP = 8
const TICKS = 6
// sizes of letters, as the page has them
const NAME = 11
const SMALL = 10
const MARK_ROW = 12
const MARK_ROWS = 3

/** A picture of a stretch of time: state bands, graphs, and what is pointed out behind them. */
export function timelineSvg(timeline: Timeline): string {
  const { title, description, bands, graphs } = timeline
  const labels = labelsOf(timeline)
  const top = 8 + MARK_ROW * Math.max(1, ...labels.map(({ row }) => row + 1))
  const graphsTop = top + bands.length * (BAND + GAP)
  const bottom = graphsTop + graphs.length * (GRAPH + GAP)
  return [
    `<svg viewBox="0 0 ${WIDTH} ${bottom + 20}" role="img" class="timeline">`,
    `<title>${text(title)}</title><desc>${text(description)}</desc>`,
    ...timeline.marks.map((mark) => markOf(mark, timeline, bottom)),
    ...labels.map(
      ({ x, row, name }) =>
        `<text x="${x}" y="${11 + MARK_ROW * row}" class="mark-name">${text(name)}</text>`,
    ),
    ...bands.map((band, i) => bandOf(band, timeline, top + i * (BAND + GAP))),
    ...graphs.map((graph, i) => graphOf(graph, graphsTop + i * (GRAPH + GAP))),
    ...ticks(timeline, bottom),
    '</svg>',
  ].join('')
}

const xOf = (at: number, { fromAt, toAt }: Timeline) =>
  round(NAMES + (COLUMNS * COLUMN * (Math.min(Math.max(at, fromAt), toAt) - fromAt)) / (toAt - fromAt))

const round = (value: number) => Math.round(value * 10) / 10

function markOf({ fromAt, toAt, name }: Mark, timeline: Timeline, bottom: number): string {
  const [from, to] = [xOf(fromAt, timeline), xOf(toAt, timeline)]
  return `<g><title>${text(name)}</title><rect x="${from}" y="0" width="${round(Math.max(1, to - from))}" height="${bottom}" class="mark"/></g>`
}

/** Where the names of the marks stand: where there is room, in as few rows as can be; what finds none goes without. */
function labelsOf(timeline: Timeline): { readonly x: number; readonly row: number; readonly name: string }[] {
  const ends: number[] = []
  return timeline.marks
    .toSorted((a, b) => a.fromAt - b.fromAt)
    .flatMap(({ fromAt, name }) => {
      const width = widthOf(name, SMALL)
      const x = round(Math.min(xOf(fromAt, timeline) + 3, WIDTH - width))
      const row = Array.from({ length: MARK_ROWS }, (_, i) => ends[i] ?? 0).findIndex((end) => end <= x)
      if (row === -1 || x < NAMES) return []
      ends[row] = x + width + 6
      return [{ x, row, name }]
    })
}

function bandOf({ name, spans }: Band, { fromAt, toAt }: Timeline, y: number): string {
  const shares = (state: StateSpan['state']) => sharesOf(spans, state, fromAt, toAt, COLUMNS)
  const open = shares('open')
  const halfOpen = shares('half-open').map((share, i) => share + open[i]!)
  const degraded = shares('degraded').map((share, i) => share + halfOpen[i]!)
  return [
    nameOf(name, y + BAND / 2),
    `<rect x="${NAMES}" y="${y}" width="${COLUMNS * COLUMN}" height="${BAND}" class="closed"/>`,
    area(degraded, y, BAND, 'degraded'),
    area(halfOpen, y, BAND, 'half-open'),
    area(open, y, BAND, 'open'),
  ].join('')
}

function graphOf({ name, top, lines }: Graph, y: number): string {
  const legend = lines.map(
    ({ name, tone }, i) =>
      `<tspan x="4" dy="${i === 0 ? 14 : 12}" class="${tone}">${inRoom(name, SMALL, NAMES - 12)}</tspan>`,
  )
  return [
    `<text x="4" y="${y + 12}" class="name">${inRoom(name, NAME, NAMES - 16 - widthOf(top, SMALL))}${legend.join('')}</text>`,
    `<path d="M${NAMES} ${y}V${y + GRAPH}H${NAMES + COLUMNS * COLUMN}" class="axis"/>`,
    `<text x="${NAMES - 4}" y="${y + 10}" text-anchor="end" class="tick">${text(top)}</text>`,
    ...lines.map(({ shares, tone }) => area(shares, y, GRAPH, `line ${tone}`)),
  ].join('')
}

const nameOf = (name: string, y: number) =>
  `<text x="4" y="${y + 4}" class="name">${inRoom(name, NAME, NAMES - 12)}</text>`

/** Steps over the bottom, drawn once for each run of equal columns; nothing where they are 0. */
function area(shares: readonly number[], y: number, height: number, style: string): string {
  const bottom = y + height
  const levels = shares.map((share) => round(y + height * (1 - Math.min(1, share))))
  const steps = [...levels, bottom].map((now, i) => {
    const [before, x] = [levels[i - 1] ?? bottom, NAMES + i * COLUMN]
    if (now === before) return ''
    if (before === bottom) return `M${x} ${bottom}V${now}`
    return now === bottom ? `H${x}V${bottom}Z` : `H${x}V${now}`
  })
  const path = steps.join('')
  return path === '' ? '' : `<path d="${path}" class="${style}"/>`
}

function ticks(timeline: Timeline, y: number): string[] {
  const { fromAt, toAt, timeInWords } = timeline
  return Array.from({ length: TICKS + 1 }, (_, i) => {
    const at = fromAt + ((toAt - fromAt) * i) / TICKS
    const anchor = i === 0 ? 'start' : i === TICKS ? 'end' : 'middle'
    return `<text x="${xOf(at, timeline)}" y="${y + 14}" text-anchor="${anchor}" class="tick">${text(timeInWords(at))}</text>`
  })
}
