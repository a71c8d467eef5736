import { escapeHtml as text } from '../timeline/escape.ts'
import { fitting, widthOf } from '../timeline/fitting.ts'
import { lasting } from '../words.ts'
import { countInWords } from './number-words.ts'
import type { Judged } from './verdict.ts'

const WIDTH = 720
const HEIGHT = 260
const LEFT = 70
const BOTTOM = 40
const MOST_TICKS = 8
/** Distances of ticks, in ms. */
const STEPS_MS = [
  100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000, 120_000, 300_000, 600_000, 3_600_000,
]
const DOT = 5
/** Two lines. */
const LABEL = 26

interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Time to detect against needless refusals, the latter on a logarithmic scale. */
export function frontSvg(policies: readonly Judged[], front: readonly string[]): string {
  const points = policies.map(({ name, numbers }) => ({
    name,
    detectMs: numbers['detectMs']?.mean ?? 0,
    needless: Math.max(1, numbers['needless']?.mean ?? 0),
  }))
  const latest = Math.max(...points.map(({ detectMs }) => detectMs), 1)
  const stepMs = STEPS_MS.find((step) => latest / step <= MOST_TICKS) ?? latest
  const xTicks = Array.from({ length: Math.ceil(latest / stepMs) + 1 }, (_, i) => i * stepMs)
  // from 0 on: a few seconds shall not look like everything
  const x = scale(0, xTicks.at(-1) ?? latest, LEFT, WIDTH - 150)
  const powers = points.map(({ needless }) => Math.log10(needless))
  const [low, high] = [Math.floor(Math.min(...powers)), Math.ceil(Math.max(...powers) + 0.01)]
  const y = scale(low, high, HEIGHT - BOTTOM, 40)
  const yTicks = Array.from({ length: high - low + 1 }, (_, i) => low + i)
  const drawn = points.map(({ name, detectMs, needless }) => ({
    title: `${name}: ${lasting(detectMs)}, ${countInWords(needless)} needless refusals`,
    name: fitting(name, 11, 180),
    numbers: `${lasting(detectMs)}, ${countInWords(needless)}`,
    isOnFront: front.includes(name),
    cx: x(detectMs),
    cy: y(Math.log10(needless)),
  }))
  const taken: Box[] = drawn.map(({ cx, cy }) => around(cx, cy))
  const dots = drawn.map(({ title, name, numbers, isOnFront, cx, cy }) => {
    const box = roomFor(Math.max(widthOf(name, 11), widthOf(numbers, 10)), cx, cy, taken)
    taken.push(box)
    const [left, top] = [Math.round(box.left), Math.round(box.top)]
    const isBeside = Math.abs(top + LABEL / 2 - cy) <= LABEL / 2
    const lead = isBeside ? '' : `<path d="M${cx} ${cy}L${left + 4} ${top + LABEL / 2}" class="axis"/>`
    return `<g><title>${text(title)}</title>${lead}<circle cx="${cx}" cy="${cy}" r="${DOT}" class="dot${isOnFront ? ' front' : ''}"/><text x="${left}" y="${top + 10}">${text(name)}</text><text x="${left}" y="${top + 22}" class="tick">${text(numbers)}</text></g>`
  })
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"><title>Time to detect against needless refusals</title>`,
    `<path d="M${LEFT} 30V${HEIGHT - BOTTOM}H${WIDTH - 10}" class="axis"/>`,
    ...xTicks.map(
      (ms) =>
        `<path d="M${x(ms)} ${HEIGHT - BOTTOM}v4" class="axis"/><text x="${x(ms)}" y="${HEIGHT - BOTTOM + 15}" text-anchor="${ms === 0 ? 'start' : 'middle'}" class="tick">${ms === 0 ? '0' : lasting(ms)}</text>`,
    ),
    ...yTicks.map(
      (power) =>
        `<path d="M${LEFT} ${y(power)}H${WIDTH - 10}" class="axis"/><text x="${LEFT - 6}" y="${y(power) + 4}" text-anchor="end" class="tick">${countInWords(10 ** power)}</text>`,
    ),
    `<text x="${WIDTH - 10}" y="${HEIGHT - 6}" text-anchor="end" class="tick">time to detect →</text>`,
    `<text x="${LEFT}" y="${HEIGHT - 6}" class="tick"><tspan class="good">●</tspan> no other is better in both</text>`,
    `<text x="${LEFT}" y="14" class="tick">needless refusals ↑, logarithmic scale</text>`,
    ...dots,
    '</svg>',
  ].join('')
}

const around = (cx: number, cy: number): Box => ({
  left: cx - DOT,
  top: cy - DOT,
  width: 2 * DOT,
  height: 2 * DOT,
})

/** Beside the dot, right before left; where something is there already, as near as can be. */
function roomFor(width: number, cx: number, cy: number, taken: readonly Box[]): Box {
  const places = Array.from({ length: 2 * Math.ceil(HEIGHT / LABEL) + 1 }, (_, i) => {
    const shift = (i % 2 === 0 ? -1 : 1) * Math.ceil(i / 2) * (LABEL / 2)
    return [cx + DOT + 4, cx - DOT - 4 - width].map((left): Box => {
      return { left, top: cy - LABEL / 2 + shift, width, height: LABEL }
    })
  }).flat()
  const isFree = (box: Box) => isInside(box) && !taken.some((other) => meets(box, other))
  return places.find(isFree) ?? places[0]!
}

const isInside = ({ left, top, width, height }: Box) =>
  left > LEFT && left + width < WIDTH && top > 20 && top + height < HEIGHT - BOTTOM

const meets = (a: Box, b: Box) =>
  a.left < b.left + b.width &&
  b.left < a.left + a.width &&
  a.top < b.top + b.height &&
  b.top < a.top + a.height

/** The tenth of a unit is enough. */
function scale(low: number, high: number, from: number, to: number): (value: number) => number {
  return (value) =>
    Math.round(10 * (high === low ? (from + to) / 2 : from + ((to - from) * (value - low)) / (high - low))) /
    10
}
