import { tripsWhen } from '../../../machines/sentences.ts'
import { lasting, listed, percent, plural } from '../words.ts'
import { IMPACTS } from './incident-model.ts'
import type { IncidentReport } from './incident-replay.ts'
import { countInWords, numberInWords, spreadInWords } from './number-words.ts'
import { numbersOfPolicy } from './numbers.ts'
import { textTable } from './text-table.ts'

export const day = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** What was replayed, in sentences. */
export function premises(report: IncidentReport): string[] {
  const { incidents, outages, model, trace, fromAt, toAt, calls, seeds, seedsWanted } = report
  const impacts = [...new Set(incidents.map(({ impact }) => impact))].toSorted((a, b) => a - b)
  const fails = impacts.map(
    (impact) =>
      `${percent(model.failureRatios[impact] ?? model.noise)} where the impact is ${IMPACTS[impact]}`,
  )
  const days = Math.round((toAt - fromAt) / 86_400_000)
  const stopped = seeds < seedsWanted ? ` (stopped; ${seedsWanted} were wanted)` : ''
  return [
    `${plural(incidents.length, 'incident')}, ${day(fromAt)} to ${day(toAt)} (${plural(days, 'day')}); ${plural(outages, 'outage')} in which at least ${model.outageRatio * 100} % of the calls fail.`,
    `Calls that fail, as assumed: ${listed([`${percent(model.noise)} without an incident`, ...fails])} (--noise and --impact change that). A backup is asked whenever the target fails or is refused; it answers ${percent(model.backupAvailability)} of the calls.`,
    `Traffic: ${countInWords(trace.calls)} calls in ${lasting(trace.periodMs)}, repeated ${countInWords(trace.rounds)} times: ${countInWords(calls)} calls. Its longest pause is ${lasting(trace.pauseMs)}: nobody notices an outage before a call fails.`,
    `Played with ${plural(seeds, 'seed')}${stopped}; every policy met the same calls with the same fates. Figures are means over the seeds; below each stand the lowest and the highest, where they differ.`,
  ]
}

/** What those who call see of the difference. */
export function seenByUsers({ policies, without }: IncidentReport): string[] {
  const shares = (key: string) =>
    [
      ...policies.map(({ name, numbers }) => [name, numbers[key]] as const),
      ['no breaker', without[key]] as const,
    ].flatMap(([name, spread]) =>
      spread === undefined ? [] : [`${numberInWords(spread.mean, 'share')} with ${name}`],
    )
  const none = without['misled']?.mean ?? 0
  const against = policies.map(({ name, numbers }) => {
    const own = numbers['misled']?.mean ?? 0
    const times = own > none ? own / none : none / own
    const much = Number.isFinite(times) ? `${times.toFixed(times < 10 ? 1 : 0)} times ` : ''
    return `${name} has ${times < 1.05 ? 'about as many' : own > none ? `${much}as many, and does more harm than good by that measure` : `${much}fewer`}`
  })
  return [
    `With no breaker at all ${countInWords(none)} calls go wrong: ${against.join('; ')}.`,
    `What users see: where a backup answers, ${listed(shares('availability'))} of the calls are answered; without a backup ${listed(shares('alone'))}: there a breaker spares waiting and load, and answers no call more.`,
  ]
}

/** How far the outcome may be relied upon. */
export function howSure({ verdict, seeds, bestIn, otherShares, model }: IncidentReport): string[] {
  const luck = `Luck: ${verdict.best} has the fewest in ${bestIn} of ${plural(seeds, 'seed')}. The lowest and the highest below a number are luck only.`
  const assumed = `Severity: that ${percent(model.failureRatios[2] ?? 0)} of the calls fail in a major incident is an assumption; a status page does not say it.`
  if (otherShares.length === 0)
    return [luck, `${assumed} It was not varied here: try --impact 2=0.6 and --impact 2=0.9.`]
  const shares = listed(otherShares.map(({ share }) => percent(share)))
  const isStable = otherShares.every(({ best }) => best === verdict.best)
  const others = otherShares.filter(({ best }) => best !== verdict.best)
  return [
    luck,
    `${assumed} Played with ${shares}, ${isStable ? `${verdict.best} is the best each time` : `the best changes: ${listed(others.map(({ share, best }) => `${best} at ${percent(share)}`))}`}.`,
  ]
}

/** The outcome by what share of the calls fails in a major incident. */
function shareRows({ otherShares, policies }: IncidentReport): string[][] {
  return [
    ['calls that fail in a major incident', ...policies.map(({ name }) => name)],
    ...otherShares.map(({ share, seeds, policies: played }) => [
      `${percent(share)} (${plural(seeds, 'seed')})`,
      ...played.map(
        ({ misled, openings }) => `${countInWords(misled)} went wrong, opened ${countInWords(openings)}×`,
      ),
    ]),
  ]
}

/** The report for a terminal. */
export function incidentText(report: IncidentReport): string {
  const { policies, verdict, without } = report
  const rows = numbersOfPolicy.flatMap(({ key, label, unit }) => {
    const spreads = [...policies.map(({ numbers }) => numbers[key]), without[key]]
    if (spreads.every((spread) => spread === undefined)) return []
    const means = spreads.map((spread) => (spread === undefined ? '–' : numberInWords(spread.mean, unit)))
    const ranges = spreads.map((spread) => (spread === undefined ? '' : spreadInWords(spread, unit)))
    return [[label, ...means], ...(ranges.some((range) => range !== '') ? [['', ...ranges]] : [])]
  })
  return [
    ...premises(report),
    '',
    ...policies.map(({ name, rules }) => `${name} opens on ${tripsWhen(rules.policy)}.`),
    '',
    textTable([['', ...policies.map(({ name }) => name), 'no breaker'], ...rows]),
    '',
    `Best: ${verdict.best}, by calls that went wrong`,
    ...[...verdict.why, ...verdict.price, ...seenByUsers(report)].map((sentence) => `- ${sentence}`),
    '',
    'How sure is that?',
    ...howSure(report).map((sentence) => `- ${sentence}`),
    ...(report.otherShares.length === 0 ? [] : ['', textTable(shareRows(report))]),
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
    without: report.without,
    best: verdict.best,
    bestIn: report.bestIn,
    why: verdict.why,
    price: verdict.price,
    otherShares: report.otherShares,
  }
}
