import { countInWords, numberInWords } from '../replay/number-words.ts'
import type { NumberUnit } from '../replay/numbers.ts'
import { textTable } from '../replay/text-table.ts'
import { lasting, percent } from '../words.ts'
import type { Fault } from './load.ts'
import type { FaultReport, SimulationReport, TargetReport } from './simulation-report.ts'

/** The numbers of a target, in the order in which they are shown. */
export const targetRows: readonly {
  readonly key: keyof TargetReport
  readonly label: string
  readonly unit: NumberUnit
  readonly means: string
}[] = [
  { key: 'answered', label: 'calls answered', unit: 'calls', means: 'by this target' },
  { key: 'sent', label: 'requests sent', unit: 'calls', means: 'retries and probes included' },
  { key: 'failed', label: '  … that failed', unit: 'calls', means: 'for whatever reason' },
  {
    key: 'wasted',
    label: '  … wasted on a dead target',
    unit: 'calls',
    means: 'failed while at least half of its requests did',
  },
  { key: 'refused', label: 'calls refused', unit: 'calls', means: 'by its circuit; nothing was sent' },
  { key: 'refusedHealthy', label: '  … while it was healthy', unit: 'calls', means: 'outside of its faults' },
  { key: 'probes', label: 'probes sent', unit: 'calls', means: 'to find out whether it is back' },
  { key: 'openings', label: 'times opened', unit: 'times', means: 'from closed to open' },
  { key: 'openMs', label: 'time not closed', unit: 'ms', means: 'open and half-open together' },
  { key: 'cost', label: 'cost', unit: 'money', means: 'of its answers' },
]

/** Empty where nothing is known. */
export const cell = (value: string | number | undefined, unit: NumberUnit): string =>
  typeof value === 'number' ? numberInWords(value, unit) : ''

/** What came of the whole, in sentences. */
export function outcome(report: SimulationReport): string[] {
  const { calls, unanswered, fallback, latencyMs, cost, playedMs, wantedMs, verdict } = report
  const ofCalls = (count: number) => (calls === 0 ? '0 %' : numberInWords(count / calls, 'share'))
  return [
    report.premise,
    ...(playedMs < wantedMs ? [`Stopped after ${lasting(playedMs)} of ${lasting(wantedMs)}.`] : []),
    ...(verdict === undefined
      ? []
      : [verdict === '' ? 'The scenario holds.' : `The scenario does not hold: ${verdict}.`]),
    `Availability seen by users: ${ofCalls(calls - unanswered)} of ${countInWords(calls)} calls answered, ${ofCalls(fallback)} by a fallback; ${countInWords(unanswered)} without an answer.`,
    `A call took ${lasting(latencyMs.p50)} (p50), ${lasting(latencyMs.p95)} (p95), ${lasting(latencyMs.p99)} (p99).`,
    ...(cost === undefined ? [] : [`Cost: ${numberInWords(cost, 'money')}.`]),
  ]
}

/** A fault, and how it went, in a sentence. */
export function faultInWords({ target, fault, detectMs, recoverMs }: FaultReport): string {
  const noticed =
    detectMs === null
      ? 'its circuit did not open'
      : detectMs === 0
        ? 'its circuit was open already'
        : `its circuit opened after ${lasting(detectMs)}`
  const back =
    recoverMs === null
      ? ', and was not closed again by the end'
      : recoverMs === 0
        ? ''
        : `, and was closed again ${lasting(recoverMs)} after the end`
  return `${target}, ${lasting(fault.fromAt)} to ${lasting(fault.toAt)}, ${what(fault)}: ${noticed}${back}.`
}

function what({ ratio, answer, slow }: Fault): string {
  const how =
    answer.hang === true
      ? 'hang'
      : answer.empty === true
        ? 'come back empty'
        : `fail with ${answer.status ?? answer.error ?? 'an error'}`
  const failing =
    ratio === 0 ? [] : [`${ratio === 1 ? 'all requests' : `${percent(ratio)} of the requests`} ${how}`]
  const slower = slow === 1 ? [] : [`answers take ${slow} times as long`]
  return [...failing, ...slower].join(', ') || 'nothing fails'
}

/** The report for a terminal. */
export function simulationText(report: SimulationReport): string {
  const { targets, faults } = report
  const rows = targetRows
    .filter(({ key }) => targets.some((target) => target[key] !== undefined))
    .map(({ key, label, unit }) => [label, ...targets.map((target) => cell(target[key], unit))])
  return [
    report.name,
    ...outcome(report),
    '',
    textTable([['', ...targets.map(({ name }) => name)], ...rows]),
    ...(faults.length === 0 ? [] : ['', ...faults.map((fault) => `- ${faultInWords(fault)}`)]),
    '',
  ].join('\n')
}

/** The report for programs. */
export function simulationJson({ observed: _observed, ...report }: SimulationReport): unknown {
  return { kind: 'simulation', ...report }
}
