import { packageVersion } from '../../telemetry/package-version.ts'
import { tripsWhen } from '../../../machines/sentences.ts'
import { htmlTable, list, page, paragraph, section, stateKey } from '../timeline/page.ts'
import { spansOf } from '../timeline/spans.ts'
import { COLUMNS, timelineSvg } from '../timeline/timeline-svg.ts'
import { escapeHtml } from '../timeline/escape.ts'
import { lasting, percent, plural } from '../words.ts'
import type { Course } from './course.ts'
import { frontSvg } from './front-svg.ts'
import { countInWords } from './number-words.ts'
import { IMPACTS, failureRatioOf } from './incident-model.ts'
import type { Incident } from './incident-model.ts'
import type { IncidentReport, PolicyResult } from './incident-replay.ts'
import { day, howSure, premises, seenByUsers } from './incident-text.ts'
import { numberRows } from './number-rows.ts'
import { yearSvg } from './year-svg.ts'

/** The report as one HTML file. */
export function incidentHtml(report: IncidentReport): string {
  const { policies, verdict, incidents } = report
  const names = policies.map(({ name }) => name)
  const title = 'Real incidents and traffic, assumed severity'
  const span = `${day(report.fromAt)} to ${day(report.toAt)}`
  const foot = `${title} · ${span} · switchgear ${packageVersion()}`
  const sections = [
    ...premises(report).map(paragraph),
    section(
      `Best: ${verdict.best}, by calls that went wrong`,
      list([...verdict.why, ...verdict.price, ...seenByUsers(report)]),
    ),
    section('How sure is that?', list(howSure(report)), sharesTable(report)),
    section('The numbers', htmlTable(['', ...names, 'no breaker'], numberRows(policies, report.without))),
    section(
      'Time to detect against needless refusals',
      paragraph(
        'Left is sooner, below is fewer; the scale of the refusals is logarithmic: each line is ten times the one below. Green is a policy that no other beats in both. Look at the distances: a few seconds of detection are little beside ten times the refusals.',
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
        'As played with the first seed: how long after the start of an incident each policy opened first, and how often if more than once; – is not at all. On the screen each incident has a picture below the table; it is cut into columns, and its title says how long one is. Where a state lasts shorter than a column, its colour fills a part of the height. Where a graph is empty no call came in that column, or none of those that came failed or was refused.',
      ),
      incidentTable(report),
      `<div class="on-screen">${stateKey('incident')}${incidents.map((incident) => incidentPart(incident, report)).join('\n')}</div>`,
    ),
    section('What was assumed', assumptions(report)),
  ]
  return page(title, sections, foot)
}

function sharesTable({ otherShares, policies }: IncidentReport): string {
  if (otherShares.length === 0) return ''
  const rows = otherShares.map(({ share, seeds, policies: played }) => [
    { words: percent(share), small: plural(seeds, 'seed') },
    ...played.map(({ misled, openings }) => ({
      words: `${countInWords(misled)} went wrong`,
      small: `opened ${countInWords(openings)} times`,
    })),
  ])
  return htmlTable(['calls that fail in a major incident', ...policies.map(({ name }) => name)], rows)
}

/** What each policy made of each incident, for paper, too. */
function incidentTable({ incidents, policies, model }: IncidentReport): string {
  const rows = incidents.map((incident) => {
    const { startAt, endAt, impact } = incident
    return [
      { words: minute(startAt) },
      { words: lasting(endAt - startAt) },
      { words: `${IMPACTS[impact] ?? impact}, ${percent(failureRatioOf(model, incident))}` },
      ...policies.map(({ course }) => {
        const opened = openingsIn(course, startAt, endAt)
        const [first] = opened
        if (first === undefined) return { words: '–' }
        const times = opened.length === 1 ? '' : ` (${countInWords(opened.length)}×)`
        return { words: `${lasting(first - startAt)}${times}` }
      }),
    ]
  })
  const heads = policies.map(({ name }) => `${name} opened after`)
  return htmlTable(['incident (UTC)', 'lasted', 'impact, calls that fail', ...heads], rows)
}

const openingsIn = ({ transitions }: Course, startAt: number, endAt: number): number[] =>
  transitions
    .filter(({ from, to, at }) => to === 'open' && from !== 'half-open' && at >= startAt && at < endAt)
    .map(({ at }) => at)

const rulesInWords = ({ name, rules: { policy } }: PolicyResult) =>
  `${name} opens on ${tripsWhen(policy)}; the first cooldown is ${lasting(policy.cooldownMs)}.`

const minute = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')

function incidentPart(incident: Incident, report: IncidentReport): string {
  const { name, startAt, endAt, impact } = incident
  const ratio = failureRatioOf(report.model, incident)
  const [fromAt, toAt] = stretchOf(startAt, endAt)
  const title = `${minute(startAt)} UTC, ${lasting(endAt - startAt)}, ${IMPACTS[impact] ?? impact}: ${percent(ratio)} of the calls fail (${name}); 1 column = ${lasting((toAt - fromAt) / COLUMNS)}`
  return `<details><summary>${escapeHtml(title)}</summary>${pictureOf(incident, report, title)}</details>`
}

/** What a picture shows: a little before an incident, and more after it. */
const stretchOf = (startAt: number, endAt: number): readonly [number, number] => {
  const lasted = endAt - startAt
  return [startAt - Math.max(60_000, lasted / 10), endAt + Math.max(600_000, lasted / 5)]
}

function pictureOf({ startAt, endAt }: Incident, report: IncidentReport, title: string): string {
  const [fromAt, toAt] = stretchOf(startAt, endAt)
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
