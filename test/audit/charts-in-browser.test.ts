import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { audited } from '../../src/audit/audited.ts'
import { breakerChart, charts, drawChart } from '../../src/audit/charts.ts'
import { buildReport } from '../../src/audit/report/build-report.ts'
import { renderReport } from '../../src/audit/report/render-report.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { llmDefaults, toolDefaults } from '../../src/core/presets.ts'
import { hasBrowser } from '../dashboard/browser.ts'
import { chartFaultsOf, faintWordsOf } from './drawing-faults.ts'
import { picturesOn, useEyes } from './measured.ts'

/** Everything that makes a guard long. */
const wordy: CircuitBreakerOptions = {
  tripping: [
    { kind: 'rolling', windowMs: 600_000, minCalls: 1000, failureRatio: 0.125 },
    { kind: 'latency', windowMs: 90_000, minCalls: 200, slowMs: 12_500, slowRatio: 0.35 },
    { kind: 'consecutive', threshold: 25 },
  ],
  kinds: { quota_exhausted: { immediateOpen: true }, auth: { threshold: 2 }, rate_limit: { threshold: 40 } },
  cooldownMs: 3_723_000,
  halfOpenProbes: 20,
  halfOpenConcurrency: 5,
  halfOpenSuccessRatio: 0.85,
  halfOpenVerdict: 'early',
  degradation: { at: 0.75 },
}
const policies = { llmDefaults, toolDefaults, wordy }
const ofPolicy = ([name, options]: [string, CircuitBreakerOptions]) =>
  [name, breakerChart(resolveBreaker(options).policy, `The numbers are those of ${name}.`)] as const
const all = [
  ...charts.map((chart) => [chart.machine.id, chart] as const),
  ...Object.entries(policies).map(ofPolicy),
]

const pixels = (mm: number) => Math.floor((mm * 96) / 25.4)

describe.skipIf(!hasBrowser)('a statechart in a browser', () => {
  const see = useEyes()
  const faults = async (svg: string) => {
    const [picture] = await see(svg, picturesOn)
    return chartFaultsOf(picture!)
  }

  it.each(all)(
    'has every word in its box, and no box over another, by day and by night: %s',
    async (id, chart) => {
      const svg = await drawChart(chart)
      const html = `<!doctype html><meta name="color-scheme" content="light dark">${svg}`
      for (const [colorScheme, paper] of [
        ['light', 'rgb(255, 255, 255)'],
        ['dark', 'rgb(21, 24, 26)'],
      ] as const) {
        const [picture] = await see(html, async (page) => {
          await page.emulateMedia({ colorScheme })
          return picturesOn(page)
        })
        expect(chartFaultsOf(picture!)).toEqual([])
        expect(faintWordsOf(picture!)).toEqual([])
        expect(picture!.paper).toBe(paper)
        expect(Object.keys(picture!.edges).length).toBeGreaterThan(id === 'supervisor' ? 0 : 20)
      }
    },
  )

  it.each([
    ['larger letters', /font-size="11.00"/g, 'font-size="12.50"', /^'.*' leaves /],
    [
      'a text without a break',
      />was asked, and one</,
      '>was asked, and one may return within</text><text>',
      /leaves way:chain/,
    ],
    [
      'lines too close',
      /y="(-[\d.]+)"( [^>]*>A request is)/,
      (_all: string, y: string, rest: string) => `y="${Number(y) - 6}"${rest}`,
      /^'attempting' and 'A request is' overlap/,
    ],
    [
      'a state somewhere else',
      /(<g id="state:chain.waiting" class="node")/,
      '$1 transform="translate(-120 20)"',
      /^way:.* and state:chain.waiting intersect|^state:chain.waiting and way/,
    ],
    [
      'a state outside of the picture',
      /(<g id="state:chain.succeeded" class="node")/,
      '$1 transform="translate(300 0)"',
      /leaves the picture/,
    ],
    [
      'a state on a border',
      /(<g id="state:chain.visiting.committed" class="node")/,
      '$1 transform="translate(0 40)"',
      /crosses the border of state:chain.visiting/,
    ],
    [
      'a way to nowhere',
      /(<g id="in:chain.visiting.attempting\/chain.stopped" class="edge in")/,
      '$1 transform="translate(0 90)"',
      /does not touch/,
    ],
    [
      'a way through a state',
      /(<g id="out:chain.choosing\/chain.exhausted" class="edge out")/,
      '$1 transform="translate(180 -150)"',
      /runs through/,
    ],
  ] as const)('that has %s is found out', async (_what, from, to, fault) => {
    const svg = readFileSync(join(import.meta.dirname, '../../visualizations/charts/chain.svg'), 'utf8')
    const mutated = svg.replace(from, to as string)
    expect(mutated).not.toBe(svg)
    expect(await faults(mutated)).toContainEqual(expect.stringMatching(fault))
  })

  it('that has no colours for the night is found out', async () => {
    const svg = (await drawChart(charts[1]!)).replace(/\.statechart \[fill="#eaeef2"\].*/, '')
    const [picture] = await see(svg, async (page) => {
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.evaluate("document.documentElement.style.colorScheme = 'dark'")
      return picturesOn(page)
    })
    expect(faintWordsOf(picture!)).toContainEqual(expect.stringMatching(/^'choosing' has a contrast of 1/))
  })
})

describe.skipIf(!hasBrowser)('the charts of an audit report', () => {
  const see = useEyes()
  const invoke = () => 'ok'
  const targets = [
    { name: 'tools', invoke, circuitBreaker: toolDefaults },
    { name: 'calls', invoke, circuitBreaker: { degradation: {} } },
  ]
  let html: string
  beforeAll(async () => {
    if (!hasBrowser) return
    const { document } = await buildReport({
      name: 'gateway.yaml',
      audited: audited({ targets }),
      verifyCommand: 'verify',
    })
    html = renderReport(document, 'html')
  })

  it.each([1200, 760])('are sound on a page %i wide', async (width) => {
    const pictures = await see(html, picturesOn, width)
    expect(pictures).toHaveLength(3)
    expect(pictures.flatMap(chartFaultsOf)).toEqual([])
  })

  it.each([
    ['upright', 178, 263, ['figure:not(.wide)', 'h3:has(+ figure)'], 2],
    ['across', 265, 176, ['figure.wide', 'section:has(> .wide) > h2'], 1],
  ] as const)(
    'fit on a sheet of paper, %s, with the heading above',
    async (_, width, height, [figure, heading], count) => {
      const measured = await see(
        html,
        async (page) => {
          await page.emulateMedia({ media: 'print' })
          return page.evaluate(`[...document.querySelectorAll('section:has(${figure})')].map((section) =>
          section.querySelector('${figure}').getBoundingClientRect().bottom -
          section.querySelector('${heading}').getBoundingClientRect().top)`)
        },
        pixels(width),
      )
      expect(measured).toHaveLength(count)
      for (const each of measured as number[]) expect(each).toBeLessThan(pixels(height))
    },
  )
})
