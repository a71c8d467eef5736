import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { audited } from '../../src/audit/audited.ts'
import type { AuditedPolicy } from '../../src/audit/audited.ts'
import { policiesOf } from '../../src/audit/audited.ts'
import { longestOpenMs, openPeriods } from '../../src/audit/open-periods.ts'
import { buildReport } from '../../src/audit/report/build-report.ts'
import { consequences } from '../../src/audit/report/consequences.ts'
import { explorePolicy } from '../../src/audit/report/invariants.ts'
import { renderReport } from '../../src/audit/report/render-report.ts'
import { storiesOf } from '../../src/audit/report/stories.ts'
import { atLeast, whatIf } from '../../src/audit/report/what-if.ts'
import { failureTable } from '../../src/classify/failure-table.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { llmDefaults, toolDefaults } from '../../src/core/presets.ts'
import type { TargetOptions } from '../../src/core/target-options.ts'

const invoke = () => 'ok'
const policyOf = (circuitBreaker: CircuitBreakerOptions, more: Partial<TargetOptions> = {}): AuditedPolicy =>
  policiesOf(audited({ targets: [{ name: 'a', invoke, circuitBreaker, ...more }] }))[0]!
const answer = (policy: AuditedPolicy, question: RegExp) =>
  consequences(policy).find((each) => question.test(each.question))?.answer

const subject = audited(
  {
    targets: [
      { name: 'gpt-5', invoke, model: 'gpt-5', circuitBreaker: llmDefaults },
      { name: 'sonnet', invoke, circuitBreaker: { degradation: {} } },
      { name: '<b>last</b>', invoke, circuitBreaker: false },
    ],
  },
  { hosts: { 'gpt-5': 'api.openai.com' }, alerts: [{ on: ['open'] }], journal: true },
)
const report = await buildReport({
  name: 'gateway.yaml',
  audited: subject,
  verifyCommand: 'switchgear audit --verify REPORT gateway.yaml',
})
const html = renderReport(report.document, 'html')
const markdown = renderReport(report.document, 'markdown')

describe('the consequences of a policy', () => {
  it('are computed from its numbers', () => {
    const policy = policyOf(
      {
        threshold: 4,
        cooldownMs: 20_000,
        cooldownBackoff: { multiplier: 3, maxMs: 100_000 },
        halfOpenProbes: 4,
        halfOpenConcurrency: 2,
        halfOpenSuccessRatio: 0.6,
        maxRetryAfterMs: 50_000,
      },
      { timeoutMs: 10_000, maxRetries: 0 },
    )
    expect(answer(policy, /opens/)).toBe('4 failures in a row.')
    expect(answer(policy, /how long/)).toMatch(/^Between 0 ms and 20 s\. .* but 50 s at most\./)
    expect(answer(policy, /still down/)).toBe(
      'The trial fails, and the next open periods are longer: 1 min, 1 min 40 s at most, and no more.',
    )
    expect(answer(policy, /ends it/)).toMatch(
      /the next 4 calls pass as probes, 2 at a time; .* If 3 of them succeed/,
    )
    // 100 s of cooldown, then two rounds of two probes
    expect(answer(policy, /worst case/)).toMatch(/^2 min, counted .* \(2 × 10 s, retries included\)/)
  })

  it('know what never opens, and what never ends', () => {
    expect(answer(policyOf({ threshold: Infinity }), /opens/)).toBe('Nothing but an operator.')
    expect(answer(policyOf({ cooldownBackoff: { multiplier: 2 } }), /worst case/)).toMatch(/^There is none/)
    expect(longestOpenMs(resolveBreaker({ cooldownBackoff: { multiplier: 2 } }).policy)).toBe(Infinity)
  })

  it('list the open periods until they grow no more', () => {
    const { policy } = resolveBreaker({
      cooldownMs: 1000,
      cooldownBackoff: { multiplier: 2, maxMs: 3000, jitter: 'equal' },
    })
    expect(openPeriods(policy)).toEqual([
      { leastMs: 500, mostMs: 1000 },
      { leastMs: 1000, mostMs: 2000 },
      { leastMs: 1500, mostMs: 3000 },
    ])
  })
})

describe('what if', () => {
  it('computes the chance of at least k of n', () => {
    expect(atLeast(0, 5, 0.3)).toBe(1)
    expect(atLeast(1, 3, 0.5)).toBeCloseTo(0.875, 12)
    expect(atLeast(2, 3, 0.5)).toBeCloseTo(0.5, 12)
    expect(atLeast(20, 20, 0.5)).toBeCloseTo(0.5 ** 20, 12)
  })

  it('shows the number as it is beside others', () => {
    const rows = whatIf(
      resolveBreaker({ tripping: { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 } })
        .policy,
    )
    expect(rows.map(({ opensAfter, isConfigured }) => [opensAfter, isConfigured])).toEqual([
      ['6 of 20 calls', false],
      ['10 of 20 calls', true],
      ['14 of 20 calls', false],
    ])
  })
})

describe('the exploration of a policy', () => {
  it.each(
    Object.entries({
      plain: {},
      llmDefaults,
      toolDefaults,
      never: { threshold: Infinity },
      many: { threshold: 1000, degradation: {} },
      none: { tripping: { kind: 'rolling', windowMs: 1000, minCalls: 0, failureRatio: 1 } },
    } satisfies Record<string, CircuitBreakerOptions>),
  )('%s: asks every rule, and none is broken', (_name, options) => {
    const { configurations, edges, invariants } = explorePolicy(resolveBreaker(options).policy)!
    expect(configurations).toBeGreaterThan(10)
    expect(edges).toBeGreaterThan(500)
    expect(invariants.map(({ broken }) => broken)).toEqual(invariants.map(() => 0))
    expect(invariants.filter(({ asked }) => asked.startsWith('0 '))).toEqual([])
  })

  it('is left out where it would be too large', () => {
    expect(explorePolicy(resolveBreaker({ halfOpenProbes: 50 }).policy)).toBeUndefined()
  })
})

describe('the report', () => {
  it('says what a reader wants to know', () => {
    for (const text of [
      'What opens the circuit?',
      'What is the worst case until calls flow again?',
      'What a reviewer should ask',
      '10 of 20 calls',
      'Too many probes failed: the circuit opens again for a new cooldown.',
      report.signature.hash,
      'switchgear audit --verify REPORT gateway.yaml',
      ...Object.values(failureTable).map(({ seenAs }) => seenAs),
    ]) {
      expect(markdown).toContain(text)
    }
  })

  it('tells every transition, with a story or the reason why there is none', () => {
    const stories = report.document.blocks.filter((block) => block.kind === 'story')
    expect(stories.length).toBeGreaterThan(40)
    for (const { story, note } of stories) {
      if (story === undefined) expect(note).toMatch(/Cannot happen under these rules|No way here was found/)
      else
        expect([story.given.length > 0, story.when !== '', story.result !== '']).toEqual([true, true, true])
    }
    expect(stories.filter(({ story }) => story === undefined).length).toBeLessThan(4)
    expect(markdown).toMatch(/\d+ played, every one came out as told/)
  })

  it('tells each way in which a circuit opens', () => {
    for (const way of [
      '50 % of at least 20 calls failed within 60 s',
      '5 failures in a row',
      'One quota_exhausted',
      '2 × auth without a success between',
    ])
      expect(markdown).toContain(`**${way}**`)
  })

  it('finds what opens a circuit whose open period is over at once', async () => {
    const rules = resolveBreaker({ threshold: 2, cooldownMs: 0, kinds: { auth: { immediateOpen: true } } })
    const stories = await storiesOf(rules, new Set())
    expect([...stories!.opening.keys()].toSorted()).toEqual(['2 failures in a row', 'one auth'])
    expect(stories!.failed).toBe(0)
  })

  it('is the same for the same rules, byte for byte', async () => {
    const again = await buildReport({
      name: 'gateway.yaml',
      audited: subject,
      verifyCommand: 'switchgear audit --verify REPORT gateway.yaml',
    })
    expect(renderReport(again.document, 'html')).toBe(html)
  })

  it('takes names for names', () => {
    expect(html).toContain('&lt;b&gt;last&lt;/b&gt;')
    expect(html).not.toContain('<b>last</b>')
  })

  it('has no id twice, and no link into nowhere', () => {
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
    const links = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
    expect(links.filter((id) => !ids.includes(id))).toEqual([])
    expect(html).not.toMatch(/(?:href|src)="(?!#)/)
  })
})

const CHROMIUM = '/usr/bin/chromium'

describe.skipIf(!existsSync(CHROMIUM))('the report in a browser', () => {
  it('asks the network for nothing, fits a phone and a sheet of paper, and can be read in the dark', async () => {
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
    try {
      const asked: string[] = []
      for (const [width, colorScheme] of [
        [1200, 'light'],
        [390, 'dark'],
      ] as const) {
        const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
        page.on('request', (request) => asked.push(request.url()))
        await page.setContent(html)
        const seen = await page.evaluate(`({
          wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
          pictures: document.querySelectorAll('figure svg[role=img]').length,
          paper: getComputedStyle(document.body).backgroundColor,
        })`)
        expect(seen).toEqual({
          wide: false,
          pictures: 3,
          paper: colorScheme === 'dark' ? 'rgb(15, 20, 25)' : 'rgb(255, 255, 255)',
        })
        await page.close()
      }
      expect(asked.filter((url) => /^https?:/.test(url))).toEqual([])
    } finally {
      await browser.close()
    }
  })

  it('has nothing that hides it from a screen reader', async () => {
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
    try {
      const page = await browser.newPage()
      // a tool of the test must run in it, which the report itself forbids
      await page.setContent(html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, ''))
      await page.addScriptTag({ path: 'node_modules/axe-core/axe.min.js' })
      const found = await page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.length, nodes[0].target]))',
      )
      expect(found).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
