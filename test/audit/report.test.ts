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
import { refused } from '../../src/audit/report/refused.ts'
import { trafficOf } from '../../src/audit/report/traffic.ts'
import { whatIf, whatIfCooldown } from '../../src/audit/report/what-if.ts'
import { atLeast, exactly, poisson, untilCounted } from '../../src/audit/chances.ts'
import { longestCall } from '../../src/audit/longest-call.ts'
import type { LintAssumptions } from '../../src/audit/lint/finding.ts'
import { failureTable } from '../../src/classify/failure-table.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { llmDefaults, toolDefaults } from '../../src/core/presets.ts'
import type { TargetOptions } from '../../src/core/target-options.ts'

const invoke = () => 'ok'
const policyOf = (circuitBreaker: CircuitBreakerOptions, more: Partial<TargetOptions> = {}): AuditedPolicy =>
  policiesOf(audited({ targets: [{ name: 'a', invoke, circuitBreaker, ...more }] }))[0]!
const answer = (policy: AuditedPolicy, question: RegExp, assumptions: LintAssumptions = {}) =>
  consequences(policy, trafficOf(policy, assumptions)).find((each) => question.test(each.question))?.answer

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

describe('a name from the configuration', () => {
  const hostile = 'x\n\n# Signed [here](https://evil.example) <img src=x> `y \u001B[2J'

  it('is no Markdown', async () => {
    const targets = [{ name: hostile, invoke, circuitBreaker: true }]
    const { document } = await buildReport({
      name: hostile,
      audited: audited({ targets }),
      verifyCommand: 'v',
    })
    const told = renderReport(document, 'markdown')
    const body = told.split('<!-- switchgear')[0]!
    expect(body).toContain(
      'x # Signed \\[here](https://evil.example) &lt;img src=x> \\`y \uFFFD[2J'.replace(
        '\uFFFD[',
        '\uFFFD\\[',
      ),
    )
    expect(body).not.toMatch(/^# Signed|<img|[^\\]\[here|[^\P{Cc}\n]/mu)
  })

  it('leaves code and bold of the report as they are', () => {
    expect(markdown).toContain('**answered**')
    expect(markdown).toContain('(`whenAllOpen: last-resort`)')
  })
})

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
    expect(answer(policy, /how long/)).toMatch(
      /^Between 0 ms and 20 s\. .* a wait of more than 50 s is cut to that\./,
    )
    expect(answer(policy, /still down/)).toBe(
      'The trial fails, and the next open periods are longer: between 0 ms and 1 min, then between 0 ms and 1 min 40 s, and no longer.',
    )
    expect(answer(policy, /ends it/)).toMatch(
      /the next 4 calls pass as probes, 2 at a time; .* If 3 of them succeed/,
    )
    // 100 s of cooldown, then two rounds of two probes
    expect(answer(policy, /worst case/)).toMatch(/^2 min, counted .* \(2 × 10 s\)/)
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

describe('how long users are refused', () => {
  it('is worst where a late answer asks for patience, and says so', () => {
    const policy = policyOf(llmDefaults, { timeoutMs: 60_000, maxRetries: 1 })
    const { openMs, isLate, grownMs, trial, worstMs, first } = refused(policy)
    expect({ openMs, isLate, grownMs, first }).toEqual({
      openMs: 360_000,
      isLate: true,
      grownMs: 120_000,
      first: { leastMs: 15_000, mostMs: 300_000 },
    })
    // two attempts of a minute, and the longest wait between them, twice
    expect([trial.ms, worstMs]).toEqual([260_000, 620_000])
    expect(answer(policy, /worst case/)).toMatch(/^10 min 20 s, .* lengthens the open period to 6 min, /)
  })

  it('says how many calls fail until it opens, for rules of every sort', () => {
    expect(answer(policyOf(llmDefaults), /outage cost/)).toMatch(/^About 4 to 10 failed calls until it opens/)
    expect(answer(policyOf({ threshold: 5 }), /outage cost/)).toMatch(/^About 5 failed calls/)
    const window = policyOf({
      tripping: { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 },
    })
    expect(answer(window, /outage cost/)).toMatch(/^10 failed calls at least .* depends on the traffic/)
    expect(answer(window, /outage cost/, { callsPerMinute: 100 })).toMatch(/^About 10 to 50 failed calls/)
    expect(answer(window, /outage cost/, { callsPerMinute: 10 })).toMatch(
      /^At 10 calls a minute it does not open/,
    )
  })

  it('adds up one call over its whole chain', () => {
    const limits = { timeoutMs: 60_000, maxRetries: 1, retry: { baseMs: 500, maxMs: 10_000 } }
    const targets = ['a', 'b'].map((name) => ({ name, invoke, circuitBreaker: true, ...limits }))
    const open = audited({ targets })
    // whoever hangs is asked once more only where nobody else is left
    expect(longestCall(open, open.groups[0]!)).toMatchObject({ mostMs: 260_000, hangingMs: 180_500 })
    const ends = audited({ targets, deadlineMs: 90_000 })
    expect(longestCall(ends, ends.groups[0]!)).toMatchObject({ mostMs: 90_000, hangingMs: 90_000 })
  })

  it('stands on the first page, for every set of rules', () => {
    const [, users] = markdown.split('## For our users')
    expect(users!.split('\n## ')[0]).toContain('| Rules of gpt-5 | Rules of sonnet |')
  })
})

const SEEN = { perMinute: 100, failing: 0.05 }

describe('what if', () => {
  it('knows all rules together, and every share changed at once', () => {
    const rows = whatIf(resolveBreaker(llmDefaults).policy, { perMinute: 1, failing: 0.05 })
    expect(rows.find(({ change }) => change === 'all together, every share 30 %')?.byMistake).toMatch(
      /^about 9\.\d times a day$/,
    )
    expect(rows.find(({ change }) => change === 'all rules together')?.byMistake).toMatch(/times a year$/)
  })

  it('halves and doubles the open periods', () => {
    const rows = whatIfCooldown(resolveBreaker(llmDefaults).policy)
    expect(rows.map(({ longest, trialsAnHour }) => [longest, trialsAnHour])).toEqual([
      ['1 min', '80'],
      ['2 min', '40'],
      ['4 min', '20'],
    ])
  })

  it('computes the chance of at least k of n', () => {
    expect(atLeast(0, 5, 0.3)).toBe(1)
    expect(atLeast(1, 3, 0.5)).toBeCloseTo(0.875, 12)
    expect(atLeast(2, 3, 0.5)).toBeCloseTo(0.5, 12)
    expect(atLeast(20, 20, 0.5)).toBeCloseTo(0.5 ** 20, 12)
  })

  it('computes chances of large numbers, too', () => {
    let all = 0
    for (let i = 0; i <= 2000; i++) all += exactly(i, 2000, 0.3)
    expect(all).toBeCloseTo(1, 9)
    // 400 × 0.05 on average: the chances of Poisson and of the binomial agree there to a few percent
    expect(exactly(20, 400, 0.05) / poisson(20, 20)).toBeCloseTo(1.026, 2)
  })

  it('computes how long it takes until a count is reached that successes lower', () => {
    expect(untilCounted(1, 0.25)).toBe(4)
    // one, and one more unless a success comes between: 4 + (1 + 0.75 × 4) / 0.25
    expect(untilCounted(2, 0.25)).toBe(20)
    expect(untilCounted(10, 1)).toBe(10)
    const rows = whatIf(resolveBreaker({ tripping: { kind: 'leaky', threshold: 10 } }).policy, SEEN)
    expect(rows.map(({ change, isConfigured }) => [change, isConfigured])).toEqual([
      ['a count of 5', false],
      ['a count of 10', true],
      ['a count of 15', false],
    ])
  })

  it('shows the number as it is beside others', () => {
    const rows = whatIf(
      resolveBreaker({ tripping: { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 } })
        .policy,
      { perMinute: 100, failing: 0.05 },
    )
    expect(rows.map(({ opensAfter, isConfigured }) => [opensAfter, isConfigured])).toEqual([
      ['6 of 20 calls; 30 of 100 when it is full', false],
      ['10 of 20 calls; 50 of 100 when it is full', true],
      ['14 of 20 calls; 70 of 100 when it is full', false],
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
    const { situations, edges, invariants } = explorePolicy(resolveBreaker(options).policy)!
    expect(situations).toBeGreaterThan(10)
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
      '4 of 5 calls',
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

  it('gives no two transitions of one set of rules the same title', () => {
    for (const part of markdown.split('## Annex').slice(1, -1)) {
      const titles = [...part.split('### Every transition')[1]!.matchAll(/^\*\*([^*]+)\*\*/gm)].map(
        ([, title]) => title,
      )
      const told = titles.slice(0, titles.indexOf('First, the rules as such.'))
      expect(told.length).toBeGreaterThan(15)
      expect(told.filter((title, i) => told.indexOf(title) !== i)).toEqual([])
    }
  })

  it('puts what is signed before the annex', () => {
    const [signed, ...annex] = markdown.split('\n## Annex')
    expect(signed).toContain('## Sign-off')
    expect(signed).not.toContain('### Every transition')
    expect(annex).toHaveLength(3)
    expect(html.match(/<section class="annex"/g)).toHaveLength(1)
  })

  it('tells each way in which a circuit opens', () => {
    for (const way of [
      'A failure count of 10 (a failure adds 1, a success takes 1 off, never below 0)',
      '70 % of at least 8 calls failed within 2 min',
      '70 % of at least 5 calls failed within 5 min',
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
