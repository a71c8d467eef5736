import { countInWords, numberInWords } from '../replay/number-words.ts'
import type { NumberUnit, ShownNumber } from '../replay/numbers.ts'
import { textTable } from '../replay/text-table.ts'
import { lasting, percent } from '../words.ts'
import type { Answer, Fault } from './load.ts'
import type { FaultReport, Percentiles, SimulationReport, TargetReport } from './simulation-report.ts'

/** The numbers of a target, in the order in which they are shown. */
export const targetRows: readonly ShownNumber<keyof TargetReport>[] = [
  { key: 'answered', label: 'calls answered', unit: 'calls', means: 'by this target' },
  { key: 'sent', label: 'requests sent', unit: 'calls', means: 'retries and probes included' },
  { key: 'failed', label: '  … that failed', unit: 'calls', means: 'for whatever reason' },
  {
    key: 'interrupted',
    label: '  … that broke half way',
    unit: 'calls',
    means: 'after the first part; then nobody else may answer',
  },
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
  const { calls, unanswered, interrupted, fallback, latencyMs, firstPartMs, cost, verdict } = report
  const { playedMs, wantedMs } = report
  const ofCalls = (count: number) => (calls === 0 ? '0 %' : numberInWords(count / calls, 'share'))
  const broken =
    firstPartMs === undefined ? '' : `, ${countInWords(interrupted)} with one that broke half way`
  return [
    report.premise,
    ...(playedMs < wantedMs ? [`Stopped after ${lasting(playedMs)} of ${lasting(wantedMs)}.`] : []),
    ...(verdict === undefined
      ? []
      : [verdict === '' ? 'The scenario holds.' : `The scenario does not hold: ${verdict}.`]),
    `Availability seen by users: ${ofCalls(calls - unanswered - interrupted)} of ${countInWords(calls)} calls answered, ${ofCalls(fallback)} by a fallback; ${countInWords(unanswered)} without an answer${broken}.`,
    ...(firstPartMs === undefined ? [] : [`The first part came after ${inPercentiles(firstPartMs)}.`]),
    `A call took ${inPercentiles(latencyMs)}.`,
    ...(cost === undefined ? [] : [`Cost: ${numberInWords(cost, 'money')}.`]),
  ]
}

const inPercentiles = ({ p50, p95, p99 }: Percentiles) =>
  `${lasting(p50)} (p50), ${lasting(p95)} (p95), ${lasting(p99)} (p99)`

/** A fault, and how it went, in a sentence. */
export function faultInWords({ target, fault, reached, detectMs, recoverMs }: FaultReport): string {
  const what = `${target}, ${lasting(fault.fromAt)} to ${lasting(fault.toAt)}, ${whatFails(fault)}`
  if (!reached) return `${what}: the end came before it.`
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
  return `${what}: ${noticed}${back}.`
}

function whatFails({ ratio, answer, slow }: Fault): string {
  const failing =
    ratio === 0
      ? []
      : [`${ratio === 1 ? 'all requests' : `${percent(ratio)} of the requests`} ${howItFails(answer)}`]
  const slower = slow === 1 ? [] : [`answers take ${slow} times as long`]
  return [...failing, ...slower].join(', ') || 'nothing fails'
}

function howItFails({ hang, empty, cut, stall, status, error }: Answer): string {
  if (hang === true) return 'hang'
  if (empty === true) return 'come back empty'
  if (cut !== undefined) return `are cut off ${where(cut)}`
  if (stall !== undefined) return `stand still ${where(stall)}`
  return `fail with ${status ?? error ?? 'an error'}`
}

const where = (share: number) =>
  share === 0 ? 'before their first part' : `after ${percent(share)} of their parts`

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
