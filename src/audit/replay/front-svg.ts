import { escapeHtml as text } from '../timeline/escape.ts'
import { lasting } from '../words.ts'
import { countInWords } from './number-words.ts'
import type { Judged } from './verdict.ts'

const WIDTH = 720
const HEIGHT = 260
const LEFT = 70
const BOTTOM = 30

/** Time to detect against needless refusals, the latter on a logarithmic scale. */
export function frontSvg(policies: readonly Judged[], front: readonly string[]): string {
  const points = policies.map(({ name, numbers }) => ({
    name,
    detectMs: numbers['detectMs']?.mean ?? 0,
    needless: Math.max(1, numbers['needless']?.mean ?? 0),
  }))
  const x = scale(
    points.map(({ detectMs }) => detectMs),
    LEFT + 20,
    WIDTH - 150,
  )
  const y = scale(
    points.map(({ needless }) => Math.log10(needless)),
    HEIGHT - BOTTOM - 20,
    20,
  )
  const dots = points.map(({ name, detectMs, needless }) => {
    const [cx, cy] = [x(detectMs), y(Math.log10(needless))]
    const words = `${name}: ${lasting(detectMs)}, ${countInWords(needless)} needless refusals`
    return `<g><title>${text(words)}</title><circle cx="${cx}" cy="${cy}" r="5" class="dot${front.includes(name) ? ' front' : ''}"/><text x="${cx + 9}" y="${cy + 4}">${text(name)}</text><text x="${cx + 9}" y="${cy + 16}" class="tick">${text(`${lasting(detectMs)}, ${countInWords(needless)}`)}</text></g>`
  })
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"><title>Time to detect against needless refusals</title>`,
    `<path d="M${LEFT} 10V${HEIGHT - BOTTOM}H${WIDTH - 10}" class="axis"/>`,
    `<text x="${WIDTH - 10}" y="${HEIGHT - 10}" text-anchor="end" class="tick">time to detect →</text>`,
    `<text x="4" y="20" class="tick">needless</text><text x="4" y="32" class="tick">refusals ↑</text>`,
    ...dots,
    '</svg>',
  ].join('')
}

function scale(values: readonly number[], from: number, to: number): (value: number) => number {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return (value) =>
    Math.round(high === low ? (from + to) / 2 : from + ((to - from) * (value - low)) / (high - low))
}
