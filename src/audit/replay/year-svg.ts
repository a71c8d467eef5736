import { escapeHtml as text } from '../timeline/escape.ts'
import { percent } from '../words.ts'
import { IMPACTS } from './incident-model.ts'
import type { IncidentReport } from './incident-replay.ts'
import { day } from './incident-text.ts'

const NAMES = 170
const WIDTH = 900
const ROW = 18
const GAP = 8
const DAY_MS = 86_400_000

/** One row of incidents, and for each policy one of days, the darker the more was refused. */
export function yearSvg({ incidents, policies, fates, fromAt, toAt }: IncidentReport): string {
  const x = (at: number) =>
    Math.round(10 * (NAMES + ((WIDTH - NAMES) * (at - fromAt)) / (toAt - fromAt))) / 10
  const bars = incidents.map(
    ({ name, startAt, endAt, impact }) =>
      `<rect x="${x(startAt)}" y="0" width="${Math.max(1, x(endAt) - x(startAt)).toFixed(1)}" height="${ROW}" class="impact-${impact}"><title>${text(`${day(startAt)} ${name}: ${IMPACTS[impact] ?? impact}`)}</title></rect>`,
  )
  const days: number[] = []
  for (let at = fromAt; at < toAt; at += DAY_MS) days.push(at)
  const width = (x(fromAt + DAY_MS) - x(fromAt)).toFixed(1)
  const rows = policies.map(({ name, course }, i) => {
    const y = (i + 1) * (ROW + GAP)
    const cells = days.map((at) => {
      const [from, to] = [fates.traffic.firstAt(at), Math.min(fates.end, fates.traffic.firstAt(at + DAY_MS))]
      const share = to > from ? course.refusedIn(from, to) / (to - from) : 0
      if (share === 0) return ''
      // a hundredth of a day must be seen beside a whole one
      const opacity = (0.15 + 0.85 * Math.sqrt(share)).toFixed(2)
      return `<rect x="${x(at)}" y="${y}" width="${width}" height="${ROW}" class="refused" opacity="${opacity}"><title>${day(at)}: ${percent(share)} refused</title></rect>`
    })
    return `<text x="4" y="${y + 13}">${text(name)}</text><rect x="${NAMES}" y="${y}" width="${WIDTH - NAMES}" height="${ROW}" class="closed"/>${cells.join('')}`
  })
  const bottom = (policies.length + 1) * (ROW + GAP)
  return [
    `<svg viewBox="0 0 ${WIDTH} ${bottom + 16}" role="img"><title>Incidents, and what was refused day by day</title>`,
    '<text x="4" y="13">incidents</text>',
    ...bars,
    ...rows,
    `<text x="${NAMES}" y="${bottom + 10}" class="tick">${day(fromAt)}</text>`,
    `<text x="${WIDTH}" y="${bottom + 10}" text-anchor="end" class="tick">${day(toAt)}</text></svg>`,
  ].join('')
}
