import { numberInWords } from '../replay/number-words.ts'
import { htmlTable, list, page, paragraph, section, stateKey } from '../timeline/page.ts'
import { spansOf } from '../timeline/spans.ts'
import { COLUMNS, timelineSvg } from '../timeline/timeline-svg.ts'
import type { Graph } from '../timeline/timeline-svg.ts'
import { lasting } from '../words.ts'
import { cell, faultInWords, outcome, targetRows } from './simulate-text.ts'
import type { SimulationReport } from './simulation-report.ts'

/** The report as one HTML file. */
export function simulationHtml(report: SimulationReport): string {
  const { targets, faults, name } = report
  const rows = targetRows
    .filter(({ key }) => targets.some((target) => target[key] !== undefined))
    .map(({ key, label, unit, means }) => [
      { words: label.trim(), small: means },
      ...targets.map((target) => ({ words: cell(target[key], unit) })),
    ])
  return page(name, [
    ...outcome(report).map(paragraph),
    section('What happened', stateKey('fault'), pictureOf(report)),
    ...(faults.length === 0 ? [] : [section('Fault by fault', list(faults.map(faultInWords)))]),
    section('Target by target', htmlTable(['', ...targets.map(({ name }) => name)], rows)),
  ])
}

function pictureOf(report: SimulationReport): string {
  const { observed, faults, playedMs } = report
  const { fromAt } = observed
  const wholeMs = observed.toAt - fromAt
  const columnMs = wholeMs / COLUMNS
  // of what was stopped early there are the columns to see that are full
  const columns = Math.min(COLUMNS, Math.max(1, Math.floor((playedMs * COLUMNS) / wholeMs)))
  const toAt = fromAt + columns * columnMs
  return timelineSvg({
    title: report.name,
    description: [...outcome(report), ...faults.map(faultInWords)].join(' '),
    fromAt,
    toAt,
    marks: faults.filter(({ reached }) => reached).map(({ target, fault }) => ({ ...fault, name: target })),
    bands: observed.targets.map(({ name, changes }) => ({
      name,
      spans: spansOf(changes, fromAt, Math.min(toAt, Math.max(1, playedMs))),
    })),
    graphs: graphsOf(report, columnMs).map((graph) => ({
      ...graph,
      lines: graph.lines.map((line) => ({ ...line, shares: stretched(line.shares, columns) })),
    })),
    timeInWords: (at) => (at === 0 ? '0' : lasting(Math.round(at))),
  })
}

/** The first so many columns over the whole width. */
const stretched = (shares: readonly number[], columns: number) =>
  shares.map((_, i) => shares[Math.floor((i * columns) / shares.length)]!)

function graphsOf({ observed }: SimulationReport, columnMs: number): Graph[] {
  const { calls, unanswered, interrupted, fallback, latencySum, targets } = observed
  const share = (part: Float64Array, of: Float64Array) =>
    Array.from(part, (count, i) => count / Math.max(1, of[i]!))
  const most = Math.max(1, ...calls)
  const means = share(latencySum, calls)
  const slowest = Math.max(1, ...means)
  return [
    {
      name: 'calls',
      top: numberInWords(most, 'calls'),
      lines: [
        {
          name: `in ${lasting(columnMs)} each`,
          tone: 'faint',
          shares: Array.from(calls, (count) => count / most),
        },
      ],
    },
    {
      name: 'answers',
      top: '100 %',
      lines: [
        { name: 'by a fallback', tone: 'accent', shares: share(fallback, calls) },
        { name: 'none at all', tone: 'bad', shares: share(unanswered, calls) },
        ...(observed.firstParts.length === 0
          ? []
          : [{ name: 'broken half way', tone: 'watch', shares: share(interrupted, calls) } as const]),
      ],
    },
    {
      name: 'time of a call',
      top: lasting(slowest),
      lines: [{ name: 'mean', tone: 'good', shares: means.map((ms) => ms / slowest) }],
    },
    ...targets.map(({ name, sent, failed, refused }): Graph => {
      const asked = sent.map((count, i) => count + refused[i]!)
      return {
        name,
        top: '100 %',
        lines: [
          { name: 'refused', tone: 'accent', shares: share(refused, asked) },
          { name: 'failed', tone: 'bad', shares: share(failed, asked) },
        ],
      }
    }),
  ]
}
