import { tripsWhen } from '../../../machines/sentences.ts'
import { lasting, plural } from '../words.ts'
import type { IncidentReport } from './incident-replay.ts'
import { countInWords, numberInWords, spreadInWords } from './number-words.ts'
import { numbersOfPolicy } from './numbers.ts'
import { textTable } from './text-table.ts'

export const day = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** What was replayed, in sentences. */
export function premises(report: IncidentReport): string[] {
  const { incidents, outages, model, trace, fromAt, toAt, calls, seeds, seedsWanted } = report
  const days = Math.round((toAt - fromAt) / 86_400_000)
  const stopped = seeds < seedsWanted ? ` (stopped; ${seedsWanted} were wanted)` : ''
  return [
    `${plural(incidents.length, 'incident')}, ${day(fromAt)} to ${day(toAt)} (${plural(days, 'day')}); ${plural(outages, 'outage')} in which at least ${model.outageRatio * 100} % of the calls fail.`,
    `Traffic: ${plural(trace.calls, 'call')} in ${lasting(trace.periodMs)}, repeated ${countInWords(trace.rounds)} times: ${countInWords(calls)} calls.`,
    `Played with ${plural(seeds, 'seed')}${stopped}; every policy met the same calls with the same fates. Figures are means, the line below each is the spread over the seeds.`,
  ]
}

/** The report for a terminal. */
export function incidentText(report: IncidentReport): string {
  const { policies, verdict } = report
  const rows = numbersOfPolicy.flatMap(({ key, label, unit }) => {
    const spreads = policies.map(({ numbers }) => numbers[key])
    if (spreads.every((spread) => spread === undefined)) return []
    const means = spreads.map((spread) => (spread === undefined ? '' : numberInWords(spread.mean, unit)))
    const ranges = spreads.map((spread) => (spread === undefined ? '' : spreadInWords(spread, unit)))
    return [[label, ...means], ...(ranges.some((range) => range !== '') ? [['', ...ranges]] : [])]
  })
  return [
    ...premises(report),
    '',
    ...policies.map(({ name, rules }) => `${name} opens at ${tripsWhen(rules.policy)}.`),
    '',
    textTable([['', ...policies.map(({ name }) => name)], ...rows]),
    '',
    `Best: ${verdict.best}`,
    ...verdict.why.map((sentence) => `- ${sentence}`),
    '',
  ].join('\n')
}

/** The report for programs. */
export function incidentJson(report: IncidentReport): unknown {
  const { incidents, outages, seeds, seedsWanted, trace, fromAt, toAt, calls, policies, verdict, model } =
    report
  return {
    kind: 'incidents',
    incidents: incidents.length,
    outages,
    from: new Date(fromAt).toISOString(),
    to: new Date(toAt).toISOString(),
    trace,
    calls,
    seeds,
    seedsWanted,
    model,
    policies: policies.map(({ name, rules, numbers }) => ({
      name,
      opensAt: tripsWhen(rules.policy),
      numbers,
      onFront: verdict.front.includes(name),
    })),
    best: verdict.best,
    why: verdict.why,
  }
}
