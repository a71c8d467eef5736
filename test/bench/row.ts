import type { Subject, Times } from './measure.ts'

/** One line of the result. */
export interface Row {
  readonly row: string
  readonly unit: 'ns' | 'µs' | 'KB' | 's' | '/s'
  readonly ours: number
  /** What it is held against; undefined where the bar is absolute. */
  readonly peer?: number
  /** Ours through the peer's, or ours in the unit where the bar is absolute. */
  readonly ratio: number
  /** The largest ratio that is good enough; undefined = a comparison only. */
  readonly bar?: number
  /** The ratio says how many times better ours is: `bar` is the smallest that is good enough. */
  readonly moreIsBetter?: true
}

/** Subjects that run side by side, and the rows that come of them. */
export interface Group {
  readonly title: string
  readonly subjects: readonly Subject[]
  readonly rows: (times: Times) => readonly Row[]
  readonly close: () => unknown
}

export const holds = ({ ratio, bar, moreIsBetter }: Row): boolean =>
  bar === undefined || (moreIsBetter === true ? ratio >= bar : ratio <= bar)

/** A row that holds the time of one subject against the time of another. */
export function versus(row: string, times: Times, ours: string, peer: string, bar?: number): Row {
  const [own, other] = [times.get(ours) ?? NaN, times.get(peer) ?? NaN]
  return { row, unit: 'ns', ours: own, peer: other, ratio: own / other, ...(bar !== undefined && { bar }) }
}

/** A row whose bar is a number in its unit. */
export function absolute(row: string, unit: Row['unit'], ours: number, bar?: number): Row {
  return { row, unit, ours, ratio: ours, ...(bar !== undefined && { bar }) }
}

/** A rate in its unit: the more the better. */
export function atLeast(row: string, unit: Row['unit'], ours: number, bar?: number): Row {
  return { ...absolute(row, unit, ours, bar), moreIsBetter: true }
}

const DECIMALS: Readonly<Record<Row['unit'], number>> = { ns: 0, '/s': 0, µs: 1, KB: 2, s: 2 }
const number = (value: number, unit: Row['unit']) => value.toFixed(DECIMALS[unit])
const factor = ({ ratio, peer, unit }: Row) => (peer === undefined ? number(ratio, unit) : ratio.toFixed(3))

function cells(row: Row): string[] {
  const { unit, ours, peer, bar, moreIsBetter } = row
  const verdict = bar === undefined ? '' : holds(row) ? 'yes' : 'NO'
  const theirs = peer === undefined ? '' : number(peer, unit)
  return [
    row.row,
    `${number(ours, unit)} ${unit}`,
    theirs,
    factor(row),
    bar === undefined ? '' : `${moreIsBetter ? '≥' : '≤'} ${bar}`,
    verdict,
  ]
}

/** The rows as a table for people. */
export function table(rows: readonly Row[]): string {
  const lines = [['row', 'ours', 'peer', 'ratio', 'bar', 'holds'], ...rows.map(cells)]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const pad = (cell: string, i: number) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n')
}

/** The rows with a bar, one JSON object a line. */
export function json(rows: readonly Row[]): string {
  const barred = rows.filter(({ bar }) => bar !== undefined)
  return barred
    .map((row) => JSON.stringify({ row: row.row, ratio: row.ratio, bar: row.bar, holds: holds(row) }))
    .join('\n')
}
