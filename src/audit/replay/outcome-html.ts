import { htmlTable, list, page, paragraph, section, stateKey } from '../timeline/page.ts'
import { spansOf } from '../timeline/spans.ts'
import { COLUMNS, timelineSvg } from '../timeline/timeline-svg.ts'
import type { Line } from '../timeline/timeline-svg.ts'
import { numberInWords, spreadInWords } from './number-words.ts'
import type { CircuitReport, OutcomeReport } from './outcome-replay.ts'
import { judgement } from './outcome-verdict.ts'
import { columnsOf, outcomeRows, recordedInWords, recordedPremises, recordingNotes } from './outcome-text.ts'

/** The report as one HTML file. */
export function outcomeHtml(report: OutcomeReport): string {
  return page('Recorded outcomes under other policies', [
    ...recordingNotes(report).map(paragraph),
    ...report.circuits.map((circuit) =>
      section(
        circuit.circuit.name,
        ...recordedPremises(circuit).map(paragraph),
        list(judgement(circuit)),
        htmlTable(['', 'as recorded', ...columnsOf(circuit).map(([name]) => name)], rowsOf(circuit)),
        stateKey(),
        pictureOf(circuit),
      ),
    ),
  ])
}

function rowsOf(report: CircuitReport) {
  return outcomeRows.map(({ key, label, unit, means }) => [
    { words: label.trim(), small: means },
    { words: recordedInWords(report, key, unit) },
    ...columnsOf(report).map(([, { results }, assumption]) => {
      const spread = results[assumption].numbers[key]
      return { words: numberInWords(spread.mean, unit), small: spreadInWords(spread, unit) }
    }),
  ])
}

function pictureOf(report: CircuitReport): string {
  const { fromAt, toAt, circuit, policies } = report
  const { calls } = policies[0]!.results.best
  const edges = Array.from({ length: COLUMNS + 1 }, (_, i) =>
    i === COLUMNS ? calls.end : calls.firstAt(fromAt + ((toAt - fromAt) * i) / COLUMNS),
  )
  const shares = (is: (call: number) => boolean) =>
    edges.slice(1).map((to, i) => {
      let count = 0
      for (let call = edges[i]!; call < to; call++) if (is(call)) count++
      return to === edges[i]! ? 0 : count / (to - edges[i]!)
    })
  const line = (name: string, tone: Line['tone'], is: (call: number) => boolean): Line => ({
    name,
    tone,
    shares: shares(is),
  })
  return timelineSvg({
    title: `The circuit ${circuit.name}`,
    description: judgement(report).join(' '),
    fromAt,
    toAt,
    marks: [],
    bands: [
      // where neither changes nor rules were recorded, nobody knows whether it changed
      ...(circuit.transitions.length === 0 && circuit.rules.length === 0
        ? []
        : [{ name: 'as recorded', spans: spansOf(circuit.transitions, fromAt, toAt) }]),
      ...columnsOf(report).map(([name, { results }, assumption]) => ({
        name,
        spans: spansOf(results[assumption].course.transitions, fromAt, toAt),
      })),
    ],
    graphs: [
      {
        name: 'as recorded',
        top: '100 %',
        lines: [
          line('refused', 'accent', (call) => calls.known(call) === 'refused'),
          line('failed', 'bad', (call) => calls.known(call) === 'failure'),
        ],
      },
    ],
    // within a day the date would only stand in the way
    timeInWords: (at) =>
      new Date(at)
        .toISOString()
        .slice(...(toAt - fromAt > 86_400_000 ? [5, 16] : [11, 19]))
        .replace('T', ' '),
  })
}
