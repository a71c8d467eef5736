import { escapeHtml as text } from '../timeline/escape.ts'
import { inRoom } from '../timeline/fitting.ts'
import { percent } from '../words.ts'
import { IMPACTS } from './incident-model.ts'
import type { IncidentReport } from './incident-replay.ts'
import { day } from './incident-text.ts'

const NAMES = 190
const WIDTH = 900
const ROW = 18
const GAP = 8
const DAY_MS = 86_400_000
const TICKS = 6
/** Impacts of one colour. */
const SHADES = [[1], [2, 3], [0, 4]] as const

/** One row of incidents, and for each policy one of days, the darker the more was refused. */
export function yearSvg({ incidents, policies, fates, fromAt, toAt }: IncidentReport): string {
  const x = (at: number) =>
    Math.round(10 * (NAMES + ((WIDTH - NAMES) * (at - fromAt)) / (toAt - fromAt))) / 10
  // an incident of a minute must be seen, and the last one must not leave the picture
  const between = (from: number, to: number) => {
    const left = Math.min(x(from), WIDTH - 1)
    return `x="${left}" width="${Math.min(WIDTH - left, Math.max(1, x(to) - left)).toFixed(1)}"`
  }
  const bars = incidents.map(
    ({ name, startAt, endAt, impact }) =>
      `<rect ${between(startAt, endAt)} y="0" height="${ROW}" class="impact-${impact}"><title>${text(`${day(startAt)} ${name}: ${IMPACTS[impact] ?? impact}`)}</title></rect>`,
  )
  const days: number[] = []
  for (let at = fromAt; at < toAt; at += DAY_MS) days.push(at)
  const rows = policies.map(({ name, course }, i) => {
    const y = (i + 1) * (ROW + GAP)
    const cells = days.map((at) => {
      const [from, to] = [fates.traffic.firstAt(at), Math.min(fates.end, fates.traffic.firstAt(at + DAY_MS))]
      const share = to > from ? course.refusedIn(from, to) / (to - from) : 0
      if (share === 0) return ''
      // a hundredth of a day must be seen beside a whole one
      const opacity = (0.15 + 0.85 * Math.sqrt(share)).toFixed(2)
      return `<rect ${between(at, at + DAY_MS)} y="${y}" height="${ROW}" class="refused" opacity="${opacity}"><title>${day(at)}: ${percent(share)} refused</title></rect>`
    })
    return `<text x="4" y="${y + 13}">${inRoom(name, 11, NAMES - 12)}</text><rect x="${NAMES}" y="${y}" width="${WIDTH - NAMES}" height="${ROW}" class="closed"/>${cells.join('')}`
  })
  const bottom = (policies.length + 1) * (ROW + GAP)
  const ticks = Array.from({ length: TICKS + 1 }, (_, i) => {
    const at = fromAt + ((toAt - fromAt) * i) / TICKS
    const anchor = i === 0 ? 'start' : i === TICKS ? 'end' : 'middle'
    return `<text x="${x(at)}" y="${bottom + 10}" text-anchor="${anchor}" class="tick">${day(at)}</text>`
  })
  const impacts = SHADES.map(
    (same) =>
      `<tspan class="impact-${same[0]}">■</tspan> ${same.map((impact) => IMPACTS[impact]).join(', ')}`,
  )
  return [
    `<svg viewBox="0 0 ${WIDTH} ${bottom + 34}" role="img"><title>Incidents, and what was refused day by day</title>`,
    '<text x="4" y="13">incidents</text>',
    ...bars,
    ...rows,
    ...ticks,
    `<text x="${NAMES}" y="${bottom + 28}" class="tick">incidents: ${impacts.join(' · ')}</text></svg>`,
  ].join('')
}
