import { tripsWhen } from '../../../machines/sentences.ts'
import { htmlTable, list, page, paragraph, section, stateKey } from '../timeline/page.ts'
import { spansOf } from '../timeline/spans.ts'
import { COLUMNS, timelineSvg } from '../timeline/timeline-svg.ts'
import { escapeHtml } from '../timeline/escape.ts'
import { lasting, percent } from '../words.ts'
import { frontSvg } from './front-svg.ts'
import { IMPACTS, failureRatioOf } from './incident-model.ts'
import type { Incident } from './incident-model.ts'
import type { IncidentReport, PolicyResult } from './incident-replay.ts'
import { premises } from './incident-text.ts'
import { numberRows } from './number-rows.ts'
import { yearSvg } from './year-svg.ts'

/** The report as one HTML file. */
export function incidentHtml(report: IncidentReport): string {
  const { policies, verdict, incidents } = report
  const names = policies.map(({ name }) => name)
  return page('Real incidents over real traffic', [
    ...premises(report).map(paragraph),
    section(`Best: ${verdict.best}`, list(verdict.why)),
    section('The numbers', htmlTable(['', ...names], numberRows(policies))),
    section(
      'Time to detect against needless refusals',
      paragraph(
        'Left is sooner, below is fewer. A policy on the front is beaten by none of the others in both.',
      ),
      frontSvg(policies, verdict.front),
    ),
    section('The policies', list(policies.map(rulesInWords))),
    section(
      'The whole time',
      paragraph('What share of the calls of a day was refused, the darker the more; above it the incidents.'),
      yearSvg(report),
    ),
    section(
      'Incident by incident',
      paragraph(
        'As played with the first seed. Where a state lasts shorter than a column is wide, its colour fills a part of the height.',
      ),
      stateKey('incident'),
      ...incidents.map((incident) => incidentPart(incident, report)),
    ),
    section('What was assumed', assumptions(report)),
  ])
}

const rulesInWords = ({ name, rules: { policy } }: PolicyResult) =>
  `${name} opens at ${tripsWhen(policy)}; the first cooldown is ${lasting(policy.cooldownMs)}.`

const minute = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')

function incidentPart(incident: Incident, report: IncidentReport): string {
  const { name, startAt, endAt, impact } = incident
  const ratio = failureRatioOf(report.model, incident)
  const title = `${minute(startAt)} UTC, ${lasting(endAt - startAt)}, ${IMPACTS[impact] ?? impact}: ${percent(ratio)} of the calls fail (${name})`
  return `<details><summary>${escapeHtml(title)}</summary>${pictureOf(incident, report, title)}</details>`
}

function pictureOf({ startAt, endAt }: Incident, report: IncidentReport, title: string): string {
  const before = Math.max(60_000, (endAt - startAt) / 10)
  const [fromAt, toAt] = [startAt - before, endAt + Math.max(600_000, (endAt - startAt) / 5)]
  const { policies, fates, incidents, model } = report
  const edges = Array.from({ length: COLUMNS + 1 }, (_, i) =>
    Math.min(fates.end, fates.traffic.firstAt(fromAt + ((toAt - fromAt) * i) / COLUMNS)),
  )
  const perColumn = (count: (from: number, to: number) => number) =>
    edges.slice(1).map((to, i) => (to === edges[i]! ? 0 : count(edges[i]!, to) / (to - edges[i]!)))
  return timelineSvg({
    title,
    description: policies.map((policy) => outcomeInWords(policy, startAt, endAt)).join(' '),
    fromAt,
    toAt,
    marks: incidents
      .filter((other) => other.startAt < toAt && other.endAt > fromAt)
      .map((other) => ({
        fromAt: other.startAt,
        toAt: other.endAt,
        name: `${percent(failureRatioOf(model, other))} fail`,
      })),
    bands: policies.map(({ name, course }) => ({ name, spans: spansOf(course.transitions, fromAt, toAt) })),
    graphs: [
      {
        name: 'share of the calls',
        top: '100 %',
        lines: [
          {
            name: 'fail where they are sent',
            tone: 'bad',
            shares: perColumn((from, to) => fates.failures(from, to)),
          },
        ],
      },
      ...policies.map(({ name, course }) => ({
        name: `refused: ${name}`,
        top: '100 %',
        lines: [
          { name: '', tone: 'accent' as const, shares: perColumn((from, to) => course.refusedIn(from, to)) },
        ],
      })),
    ],
    timeInWords: (at) => minute(at).slice(5),
  })
}

function outcomeInWords({ name, course }: PolicyResult, startAt: number, endAt: number): string {
  const openedAt = course.transitions.find(({ to, at }) => to === 'open' && at >= startAt && at < endAt)?.at
  return openedAt === undefined
    ? `${name} did not open in it.`
    : `${name} opened after ${lasting(openedAt - startAt)}.`
}

function assumptions({ model }: IncidentReport): string {
  const { noise, failureMs, answerMs, tokenMs, longestMs, backupAvailability, failureRatios, outageRatio } =
    model
  return [
    htmlTable(
      ['impact on the status page', 'share of calls that fail'],
      [
        [{ words: 'no incident' }, { words: percent(noise) }],
        ...Object.entries(failureRatios).map(([impact, ratio]) => [
          { words: `${impact} (${IMPACTS[Number(impact)] ?? ''})` },
          { words: percent(ratio) },
        ]),
      ],
    ),
    list([
      `An incident lasts until it was mitigated. From ${percent(outageRatio)} on it is an outage: there the circuit should open.`,
      `A failing call takes ${lasting(failureMs)}; an answer ${lasting(answerMs)} and ${lasting(tokenMs)} a token, ${lasting(longestMs)} at most.`,
      `A call is one visit, its retries included. A backup is asked whenever the target fails or is refused, and answers ${percent(backupAvailability)} of the time.`,
      'The breaker, its counters and its machine are those of the library, in virtual time; chance is drawn from the seed.',
    ]),
  ].join('')
}
