import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { hasBrowser } from '../dashboard/browser.ts'

/** A rectangle on the screen. */
export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** A shape with its colour, as `rgb(…)`; `none` = one looks through it. */
export interface Shape extends Box {
  readonly fill: string
}

export type Point = readonly [x: number, y: number]

/** A piece of text, and the id of the state, the way or the picture that it stands in. */
export interface Words {
  readonly text: string
  readonly of: string
  readonly box: Box
  readonly fill: string
}

/** What a browser made of one SVG. */
export interface Picture {
  readonly box: Box
  /** Its colour where nothing else is. */
  readonly paper: string
  /** Where a picture of a stretch of time has its bands, graphs and axes. */
  readonly plots: readonly Box[]
  /** States without states inside, boxes on the ways, `from any state`, dots where one begins. */
  readonly nodes: Readonly<Record<string, Shape>>
  /** States with states inside. */
  readonly clusters: Readonly<Record<string, Shape>>
  readonly edges: Readonly<Record<string, readonly Point[]>>
  readonly words: readonly Words[]
  /** Everything that is drawn, the text included, by its tag. */
  readonly marks: readonly { readonly tag: string; readonly box: Box }[]
}

const MEASURE = `(() => {
  const boxOf = (each) => {
    const { left, top, right, bottom } = each.getBoundingClientRect()
    return { left, top, right, bottom }
  }
  const union = (boxes) => ({
    left: Math.min(...boxes.map((box) => box.left)), top: Math.min(...boxes.map((box) => box.top)),
    right: Math.max(...boxes.map((box) => box.right)), bottom: Math.max(...boxes.map((box) => box.bottom)),
  })
  const fillOf = (each) => each && getComputedStyle(each).fill
  const shapes = (group) => {
    const all = [...group.querySelectorAll('path, polygon, ellipse')]
    return { ...union(all.map(boxOf)), fill: fillOf(all[0]) }
  }
  // several pictures on one page have ids of their own
  const nameOf = (each) => each.id.replace(/^.*?-(?=\\w+:)/, '')
  const named = (svg, selector, read) =>
    Object.fromEntries([...svg.querySelectorAll(selector)].map((each) => [nameOf(each), read(each)]))
  const points = (group) => {
    const path = group.querySelector('path')
    const matrix = path.getScreenCTM()
    return Array.from({ length: 121 }, (_, i) => {
      const { x, y } = path.getPointAtLength((path.getTotalLength() * i) / 120).matrixTransform(matrix)
      return [x, y]
    })
  }
  const words = (svg) => [...svg.querySelectorAll('text')].flatMap((text) => {
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT)
    const found = []
    while (walker.nextNode()) {
      if (walker.currentNode.nodeValue.trim() === '' || walker.currentNode.parentNode.localName === 'title') continue
      const range = document.createRange()
      range.selectNode(walker.currentNode)
      found.push({ text: walker.currentNode.nodeValue, of: nameOf(text.closest('.node, .cluster, .graph') ?? { id: '' }), box: boxOf(range), fill: fillOf(text) })
    }
    return found
  })
  return [...document.querySelectorAll('svg')].filter((svg) => svg.getClientRects().length > 0).map((svg) => ({
    box: boxOf(svg),
    paper: fillOf(svg.querySelector('.graph > polygon')) ?? 'none',
    plots: [...svg.querySelectorAll('.axis, .closed')].map(boxOf),
    nodes: named(svg, '.node', shapes),
    clusters: named(svg, '.cluster', shapes),
    edges: named(svg, '.edge', points),
    words: words(svg),
    marks: [...svg.querySelectorAll('path, polygon, polyline, ellipse, circle, rect, text')]
      .map((each) => ({ tag: each.localName, box: boxOf(each) })),
  }))
})()`

/** Every picture that can be seen on a page. */
export const picturesOn = (page: Page): Promise<Picture[]> => page.evaluate(MEASURE) as Promise<Picture[]>

/** A browser for the tests of this file: shows HTML, and says what somebody made of it who looked. */
export function useEyes() {
  let browser: Browser | undefined
  let page: Page | undefined
  beforeAll(async () => {
    if (!hasBrowser) return
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
    page = await browser.newPage()
  })
  afterAll(() => browser?.close())
  return async <T>(html: string, look: (page: Page) => Promise<T>, width = 1600): Promise<T> => {
    await page!.emulateMedia({ media: null, colorScheme: null })
    await page!.setViewportSize({ width, height: 900 })
    await page!.setContent(html)
    return look(page!)
  }
}

export const meet = (a: Box, b: Box, slack = 0): boolean =>
  a.left < b.right - slack && b.left < a.right - slack && a.top < b.bottom - slack && b.top < a.bottom - slack

export const isWithin = (inner: Box, outer: Box, slack = 0): boolean =>
  inner.left >= outer.left - slack &&
  inner.top >= outer.top - slack &&
  inner.right <= outer.right + slack &&
  inner.bottom <= outer.bottom + slack

export const pairs = <T>(items: readonly T[]): [T, T][] =>
  items.flatMap((a, i) => items.slice(i + 1).map((b): [T, T] => [a, b]))
