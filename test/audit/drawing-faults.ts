import { isWithin, meet, pairs } from './measured.ts'
import type { Box, Picture, Point } from './measured.ts'

/** A font of another machine may be wider by so much. */
const WIDER = 1.04
const PIXEL = 1
/** Share of the height of letters in which hardly any draws: lines may stand that close. */
const LEADING = 0.18

/** Whatever is wrong with a picture of any kind, in words. */
export function faultsOf({ box, marks, words }: Picture): string[] {
  const lost = marks.filter((mark) => !isWithin(mark.box, box, PIXEL))
  const over = pairs(words).filter(([a, b]) =>
    meet(a.box, b.box, LEADING * Math.min(heightOf(a.box), heightOf(b.box))),
  )
  return [
    ...lost.map(({ tag }) => `a ${tag} leaves the picture`),
    ...over.map(([a, b]) => `'${a.text}' and '${b.text}' overlap`),
  ]
}

/** Whatever is wrong with a picture of a stretch of time, in words. */
export function timeFaultsOf(picture: Picture): string[] {
  const { words, plots, marks } = picture
  const left = Math.min(...plots.map((plot) => plot.left))
  const dots = marks.filter(({ tag }) => tag === 'circle')
  return [
    ...faultsOf(picture),
    ...words.flatMap(({ text, box }) =>
      box.left < left - PIXEL && box.right > left ? [`'${text}' runs into what is drawn`] : [],
    ),
    ...words.flatMap(({ text, box }) =>
      dots.some((dot) => meet(dot.box, box)) ? [`'${text}' covers a dot`] : [],
    ),
  ]
}

/** Words that can hardly be told from what is behind them (WCAG 2, AA), in words. */
export function faintWordsOf({ words, nodes, clusters, paper }: Picture): string[] {
  return words.flatMap(({ text, of, box, fill }) => {
    const around = Object.values(clusters).filter((cluster) => isWithin(box, cluster))
    const behind = [nodes[of], ...around].find((shape) => shape !== undefined && shape.fill !== 'none')
    const ratio = contrast(fill, behind?.fill ?? paper)
    return ratio >= 4.5 ? [] : [`'${text}' has a contrast of ${ratio.toFixed(1)}`]
  })
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/(?<=[ (])[\d.]+/g) ?? []).map((part) => {
    // a mixed colour comes in shares
    const share = colour.startsWith('color(') ? Number(part) : Number(part) / 255
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Whatever is wrong with a statechart, in words. */
export function chartFaultsOf(picture: Picture): string[] {
  const { nodes, clusters, edges, words } = picture
  const boxes = Object.entries(nodes)
  const heads = words.filter(({ of }) => !(of in nodes))
  const ways = Object.entries(edges).map(([id, points]) => ({
    id,
    points,
    ends: endsOf(id, points, picture),
  }))
  return [
    ...faultsOf(picture),
    ...pairs(boxes).flatMap(([[a, first], [b, second]]) =>
      meet(first, second) ? [`${a} and ${b} intersect`] : [],
    ),
    ...pairs(Object.entries(clusters)).flatMap(([[a, first], [b, second]]) =>
      meet(first, second) && !isWithin(first, second) && !isWithin(second, first)
        ? [`${a} and ${b} intersect`]
        : [],
    ),
    ...boxes.flatMap(([id, box]) =>
      Object.entries(clusters).flatMap(([around, outer]) =>
        meet(box, outer) && !isWithin(box, outer) ? [`${id} crosses the border of ${around}`] : [],
      ),
    ),
    ...boxes.flatMap(([id, box]) =>
      heads.flatMap((head) => (meet(box, head.box) ? [`${id} covers '${head.text}'`] : [])),
    ),
    ...words.flatMap(({ text, of, box }) => {
      const around = nodes[of] ?? clusters[of]
      return around === undefined || isWithin(widened(box), around) ? [] : [`'${text}' leaves ${of}`]
    }),
    ...ways.flatMap(({ id, points, ends }) => [
      ...boxes.flatMap(([other, box]) =>
        !ends.includes(other) && points.some((point) => isIn(point, box))
          ? [`${id} runs through ${other}`]
          : [],
      ),
      ...heads.flatMap(({ text, box }) =>
        points.some((point) => isIn(point, box)) ? [`${id} runs through '${text}'`] : [],
      ),
      ...ends.flatMap((end) => {
        const box = nodes[end]
        const isTouched = box !== undefined && [points[0]!, points.at(-1)!].some((tip) => isNear(tip, box))
        return isTouched ? [] : [`${id} does not touch ${end}`]
      }),
    ]),
  ]
}

const heightOf = ({ top, bottom }: Box) => bottom - top

const widened = (box: Box): Box => ({ ...box, right: box.left + (box.right - box.left) * WIDER })

const isIn = ([x, y]: Point, { left, top, right, bottom }: Box) =>
  x > left + PIXEL && x < right - PIXEL && y > top + PIXEL && y < bottom - PIXEL

// the head of an arrow is a shape of its own
const isNear = ([x, y]: Point, { left, top, right, bottom }: Box) =>
  x > left - 12 && x < right + 12 && y > top - 12 && y < bottom + 12

/** The nodes at both ends of an edge: `out:a/b` leads from state a into the box of its way, `in:a/b` out of it to b. */
function endsOf(edge: string, points: readonly Point[], { nodes }: Picture): string[] {
  const [kind = '', way = ''] = edge.split(':')
  const [source = '', target = ''] = way.split('/')
  const nodeOf = (id: string) => (`state:${id}` in nodes ? `state:${id}` : `any:${id}`)
  if (kind === 'out') return [nodeOf(source), `way:${way}`]
  if (kind === 'in') return [`way:${way}`, nodeOf(target)]
  const first = Object.keys(nodes).find(
    (id) => id.startsWith(`state:${way}.`) && isNear(points.at(-1)!, nodes[id]!),
  )
  return [`start:${way}`, first ?? `a state of ${way}`]
}
