import { tripsWhen } from '../../../machines/sentences.ts'
import { cleanLines, cleanWords } from '../incident/clean-words.ts'
import { lasting, plural } from '../words.ts'
import { countInWords, numberInWords, spreadInWords } from './number-words.ts'
import type { NumberUnit, ShownNumber } from './numbers.ts'
import type { CircuitReport, OutcomeCount, OutcomePolicyResult, OutcomeReport } from './outcome-replay.ts'
import type { Assumption } from './recorded-calls.ts'
import { casesOf, judgement } from './outcome-verdict.ts'
import { textTable } from './text-table.ts'

/** The numbers, in the order in which they are shown. */
export const outcomeRows: readonly ShownNumber<keyof OutcomeCount>[] = [
  { key: 'answered', label: 'answered', unit: 'calls', means: 'by the target itself' },
  { key: 'failed', label: 'sent and failed', unit: 'calls', means: 'wasted, as far as one knows' },
  { key: 'refused', label: 'refused', unit: 'calls', means: 'nothing was sent' },
  {
    key: 'refusedInVain',
    label: '  … though it was answered then',
    unit: 'calls',
    means: 'the recording says that the target answered this call',
  },
  {
    key: 'refusedUnknown',
    label: '  … and refused then, too',
    unit: 'calls',
    means: 'nobody knows what they would have met: answered in the best case, failed in the worst',
  },
  {
    key: 'assumed',
    label: 'sent on an assumption',
    unit: 'calls',
    means: 'they were refused when they were recorded: nobody knows what they would have met',
  },
  {
    key: 'neutral',
    label: 'without a verdict',
    unit: 'calls',
    means: 'ended without saying anything about the target',
  },
  { key: 'probes', label: 'probes', unit: 'calls', means: 'sent to find out whether the target is back' },
  { key: 'openings', label: 'times opened', unit: 'times', means: 'from closed to open' },
  { key: 'openMs', label: 'time not closed', unit: 'ms', means: 'open and half-open together' },
]

/** What cannot be seen in the recording only. */
const UNSEEN: ReadonlySet<keyof OutcomeCount> = new Set([
  'refusedInVain',
  'refusedUnknown',
  'assumed',
  'probes',
] as const)

const instant = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ')

/** What was recorded, and what was assumed where it was not. */
export function recordedPremises({ circuit, calls, fromAt, toAt, recorded }: CircuitReport): string[] {
  const gap = `${countInWords(recorded.refused)} of them were refused: what they would have met is unknown.`
  return [
    `${cleanWords(circuit.name)}: ${plural(calls, 'call')}, ${instant(fromAt)} to ${instant(toAt)} UTC.`,
    recorded.refused === 0
      ? 'None was refused when they were recorded: nothing has to be assumed.'
      : `${gap} Best case: all would have been answered. Worst case: all would have failed, as the last failure before them did.`,
  ]
}

/** What a recording has that nobody could read. */
export function unreadableNotes({
  unreadable,
  firstUnreadable,
}: Pick<OutcomeReport, 'unreadable' | 'firstUnreadable'>): string[] {
  if (unreadable === 0) return []
  const first = firstUnreadable === undefined ? '' : ` The first: ${firstUnreadable}`
  const are = unreadable === 1 ? 'is' : 'are'
  return [`${plural(unreadable, 'line')} could not be read and ${are} left out.${first}`]
}

/** What holds for all circuits of a recording. */
export function recordingNotes(report: OutcomeReport): string[] {
  const { seeds, sample } = report
  return [
    `Played with ${plural(seeds, 'seed')} for the cooldowns. Every circuit is played for itself: a call that is refused here would go on to another target, and that is not in the recording.`,
    ...(sample < 1
      ? [
          `Of the uneventful successes only every ${Math.round(1 / sample)}th was written; the others are taken to have come evenly before it.`,
        ]
      : []),
    ...unreadableNotes(report),
  ]
}

export const columnsOf = (report: CircuitReport): [string, OutcomePolicyResult, Assumption][] =>
  report.policies.flatMap((policy) =>
    casesOf(report).map((assumption): [string, OutcomePolicyResult, Assumption] => [
      casesOf(report).length === 1 ? policy.name : `${policy.name}, ${assumption} case`,
      policy,
      assumption,
    ]),
  )

export const recordedInWords = (
  { recorded }: CircuitReport,
  key: keyof OutcomeCount,
  unit: NumberUnit,
): string => (UNSEEN.has(key) ? '' : numberInWords(recorded[key], unit))

/** The report for a terminal. */
export function outcomeText(report: OutcomeReport): string {
  const parts = [
    ...recordingNotes(report),
    '',
    ...report.circuits.flatMap((circuit) => [circuitText(circuit), '']),
  ]
  return cleanLines(parts.join('\n'))
}

function circuitText(report: CircuitReport): string {
  const columns = columnsOf(report)
  const rows = outcomeRows.flatMap(({ key, label, unit }) => {
    const spreads = columns.map(([, { results }, assumption]) => results[assumption].numbers[key])
    const ranges = spreads.map((spread) => spreadInWords(spread, unit))
    return [
      [label, recordedInWords(report, key, unit), ...spreads.map(({ mean }) => numberInWords(mean, unit))],
      ...(ranges.some((range) => range !== '') ? [['', '', ...ranges]] : []),
    ]
  })
  return [
    ...recordedPremises(report),
    ...report.policies.map(
      ({ name, rules: { policy } }) =>
        `${name} opens on ${tripsWhen(policy)}; the first cooldown is ${lasting(policy.cooldownMs)}.`,
    ),
    '',
    textTable([['', 'as recorded', ...columns.map(([name]) => name)], ...rows]),
    '',
    ...judgement(report).map((sentence) => `- ${sentence}`),
  ].join('\n')
}

/** The report for programs. */
export function outcomeJson({ circuits, ...report }: OutcomeReport): unknown {
  return {
    kind: 'outcomes',
    ...report,
    circuits: circuits.map((circuit) => ({
      circuit: circuit.circuit.name,
      from: new Date(circuit.fromAt).toISOString(),
      to: new Date(circuit.toAt).toISOString(),
      calls: circuit.calls,
      recorded: circuit.recorded,
      policies: circuit.policies.map(({ name, rules, results }) => ({
        name,
        opensAt: tripsWhen(rules.policy),
        best: results.best.numbers,
        worst: results.worst.numbers,
      })),
      judgement: judgement(circuit),
    })),
  }
}
