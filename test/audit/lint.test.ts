import { describe, expect, it } from 'vitest'
import { audited } from '../../src/audit/audited.ts'
import type { AuditSurroundings } from '../../src/audit/audited.ts'
import type { LintAssumptions } from '../../src/audit/lint/finding.ts'
import { lintPolicies, lintRules } from '../../src/audit/lint/lint-policies.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { llmDefaults, toolDefaults } from '../../src/core/presets.ts'
import type { SwitchgearOptions } from '../../src/core/switchgear-options.ts'
import type { TargetOptions } from '../../src/core/target-options.ts'

type Rules = SwitchgearOptions<unknown, unknown, unknown>

interface Case {
  readonly options: Rules
  readonly around?: AuditSurroundings
  readonly assumptions?: LintAssumptions
}

const invoke = () => 'ok'
const target = (name: string, more: Partial<TargetOptions> = {}): TargetOptions => ({
  name,
  invoke,
  circuitBreaker: true,
  ...more,
})
const one = (circuitBreaker: CircuitBreakerOptions | boolean, assumptions: LintAssumptions = {}): Case => ({
  options: { targets: [target('a', { circuitBreaker })] },
  assumptions,
})
const chain = (
  targets: TargetOptions[],
  around: AuditSurroundings = {},
  more: Partial<Rules> = {},
): Case => ({
  options: { targets, ...more },
  around,
})
const window = { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 } as const
const row = { kind: 'consecutive', threshold: 5 } as const
const tool = { surface: 'tool', bucket: 'tools' } as const

/** For each rule something it speaks of, and the nearest thing it has nothing to say to. */
const cases: Readonly<Record<string, readonly [speaks: Case, silent: Case]>> = {
  'shut-off-by-mistake': [
    one({ tripping: { ...window, failureRatio: 0.1 } }, { callsPerMinute: 30 }),
    one(
      { tripping: { ...window, failureRatio: 0.1 } },
      { callsPerMinute: 1000 / 3, healthyFailures: 0.0005 },
    ),
  ],
  'threshold-out-of-reach': [
    one({ tripping: window }, { callsPerMinute: 19 }),
    one({ tripping: window }, { callsPerMinute: 20 }),
  ],
  'quiet-hours-unprotected': [one({ tripping: window }), one({ tripping: [window, row] })],
  'never-opens': [
    one({ threshold: Infinity }),
    one({ threshold: Infinity, kinds: { auth: { immediateOpen: true } } }),
  ],
  'ratio-near-one': [
    one({ tripping: { ...window, failureRatio: 0.95 } }),
    one({ tripping: { ...window, failureRatio: 0.9 } }),
  ],
  'in-a-row-at-a-high-rate': [
    one({ threshold: 5 }, { callsPerMinute: 200 }),
    one({ tripping: [row, window] }, { callsPerMinute: 200 }),
  ],
  'no-latency-condition': [
    one(true),
    one({
      tripping: [row, { kind: 'latency', windowMs: 60_000, minCalls: 20, slowMs: 5000, slowRatio: 0.2 }],
    }),
  ],
  'content-errors-counted': [
    one({ kinds: { content_policy: { threshold: 3 } } }),
    one({ kinds: { quota_exhausted: { immediateOpen: true } } }),
  ],
  'content-errors-judged-as-failures': [
    one({ shouldCount: () => true }),
    one({ shouldCount: (_error, { outcome }) => outcome === 'failure' }),
  ],
  'unknown-kind': [
    one({ kinds: { quota: { immediateOpen: true } } }),
    one({ kinds: { auth: { threshold: 1 } } }),
  ],
  'cooldown-below-timeout': [
    chain([target('a', { timeoutMs: 30_001 })]),
    chain([target('a', { timeoutMs: 30_000 })]),
  ],
  'cooldown-below-recovery': [
    one({ cooldownMs: 5000 }),
    one({ cooldownMs: 5000, cooldownBackoff: { multiplier: 2, maxMs: 30_000, jitter: 'none' } }),
  ],
  'cooldown-near-zero': [
    one({ cooldownBackoff: { multiplier: 2 } }),
    one({ cooldownBackoff: { multiplier: 2, minMs: 3000 } }),
  ],
  'cooldown-too-long': [one({ cooldownMs: 900_001 }), one({ cooldownMs: 900_000 })],
  'retry-after-too-long': [one({ maxRetryAfterMs: 600_001 }), one({ maxRetryAfterMs: 600_000 })],
  'retry-after-ignored': [one({ maxRetryAfterMs: 0 }), one({ maxRetryAfterMs: 1 })],
  'lease-below-timeout': [one({ probeLeaseMs: 59_999 }), one({ probeLeaseMs: 60_000 })],
  'many-probes-at-once': [one({ halfOpenProbes: 4 }), one({ halfOpenProbes: 4, halfOpenConcurrency: 3 })],
  'one-probe-decides': [one({ halfOpenProbes: 2, halfOpenSuccessRatio: 0.5 }), one({ halfOpenProbes: 2 })],
  'observe-mode': [one({ mode: 'observe' }), one({ mode: 'enforce' })],
  'last-target-without-breaker': [
    chain([target('a'), target('b', { circuitBreaker: false })]),
    chain([target('b', { circuitBreaker: false }), target('a')]),
  ],
  'target-without-breaker': [
    chain([target('b', { circuitBreaker: false }), target('a')]),
    chain([target('a'), target('b', { circuitBreaker: false })]),
  ],
  'one-breaker-for-all': [
    chain([target('search', tool), target('billing', tool)]),
    chain([target('search', { surface: 'tool' }), target('billing', { surface: 'tool' })]),
  ],
  'no-fallback': [chain([target('a')]), chain([target('a'), target('b')])],
  'one-failure-domain': [
    chain([target('a'), target('b')], { hosts: { a: 'api.one.com', b: 'api.one.com' } }),
    chain([target('a'), target('b')], { hosts: { a: 'api.one.com', b: 'api.two.com' } }),
  ],
  'falls-back-into-an-open-circuit': [
    chain([target('a')], {}, { whenAllOpen: 'last-resort' }),
    chain([target('a')], {}, { whenAllOpen: { waitMs: 100 } }),
  ],
  'endless-timeout': [chain([target('a', { timeoutMs: Infinity })]), chain([target('a')])],
  'deadline-below-timeout': [
    chain([target('a')], {}, { deadlineMs: 60_000 }),
    chain([target('a')], {}, { deadlineMs: 60_001 }),
  ],
  'no-deadline': [
    chain([target('a'), target('b')]),
    chain([target('a', { timeoutMs: 10_000 }), target('b', { timeoutMs: 10_000 })]),
  ],
  'nobody-alerted': [
    chain([target('a')], { alerts: [{ on: ['hold'] }] }),
    chain([target('a')], { alerts: [{ on: ['hold'] }, { on: ['open', 'auth'] }] }),
  ],
  'alerts-cannot-be-seen': [chain([target('a')]), chain([target('a')], { alerts: [] })],
  'no-journal': [chain([target('a')], { journal: false }), chain([target('a')], { journal: true })],
  'retries-without-budget': [
    chain([target('a')], {}, { retryBudget: false }),
    chain([target('a', { maxRetries: 0 })], {}, { retryBudget: false }),
  ],
  'own-code': [
    chain([target('a', { classify: () => undefined })]),
    chain([target('a', { isEmpty: () => false })]),
  ],
}

const find = ({ options, around, assumptions }: Case) => lintPolicies(audited(options, around), assumptions)

describe('the linter of policies', () => {
  it('has a case for everything it knows but what it always asks', () => {
    const always = ['retries-outside']
    expect(Object.keys(cases).toSorted()).toEqual(
      lintRules
        .map(({ id }) => id)
        .filter((id) => !always.includes(id))
        .toSorted(),
    )
  })

  describe.each(Object.entries(cases))('%s', (id, [speaks, silent]) => {
    it('speaks where it should', () => {
      const found = find(speaks).filter((finding) => finding.id === id)
      expect(found).toHaveLength(1)
      expect(found[0]!.text).toMatch(/[.?]$/)
      expect(found[0]!.reason).toMatch(/^[A-Z].*\.$/)
      expect(found[0]!.where).not.toBe('')
    })

    it('and nowhere else', () => {
      expect(find(silent).filter((finding) => finding.id === id)).toEqual([])
    })
  })

  it('always asks for the retries of the SDKs, which it cannot see', () => {
    expect(find(one(true)).map(({ id }) => id)).toContain('retries-outside')
  })

  it('does not mind a rule for busy hours beside one for quiet hours', () => {
    const quiet = { ...window, windowMs: 300_000, minCalls: 5 }
    const ids = (tripping: readonly (typeof quiet)[]) =>
      find(one({ tripping }, { callsPerMinute: 1 })).map(({ id }) => id)
    expect(ids([window, quiet])).not.toContain('threshold-out-of-reach')
    expect(ids([window])).toContain('threshold-out-of-reach')
  })

  it('names what to set instead, and that is enough', () => {
    const targetKeys = new Set(['timeoutMs'])
    const mended: string[] = []
    for (const [id, [speaks]] of Object.entries(cases)) {
      const found = find(speaks).find((finding) => finding.id === id)!
      if (found.severity !== 'question') expect([id, found.remedy]).not.toEqual([id, ''])
      for (const [, key = '', value] of found.remedy.matchAll(/`(\w+): ([\d.]+)`/g)) {
        const set = { [key]: Number(value) }
        const targets = speaks.options.targets.map((each) => {
          const { circuitBreaker } = each
          const rules =
            circuitBreaker === undefined || typeof circuitBreaker === 'boolean' ? {} : circuitBreaker
          if (targetKeys.has(key)) return { ...each, ...set }
          const tripping = rules.tripping
          return key === 'minCalls' || key === 'failureRatio'
            ? {
                ...each,
                circuitBreaker: { ...rules, tripping: { ...(tripping as object), ...set } as never },
              }
            : { ...each, circuitBreaker: { ...rules, ...set } }
        })
        const after = find({ ...speaks, options: { ...speaks.options, targets } })
        expect([id, key, after.filter((finding) => finding.id === id)]).toEqual([id, key, []])
        mended.push(id)
      }
    }
    expect(new Set(mended)).toEqual(
      new Set([
        'shut-off-by-mistake',
        'threshold-out-of-reach',
        'never-opens',
        'ratio-near-one',
        'cooldown-below-timeout',
        'cooldown-below-recovery',
        'cooldown-too-long',
        'retry-after-too-long',
        'lease-below-timeout',
        'many-probes-at-once',
        'endless-timeout',
        'deadline-below-timeout',
      ]),
    )
  })

  it('reckons how often a healthy provider is shut off, with the traffic and all rules together', () => {
    const tripping = [
      { kind: 'leaky', threshold: 10 },
      { ...window, windowMs: 120_000, minCalls: 8, failureRatio: 0.3 },
      { ...window, windowMs: 300_000, minCalls: 5, failureRatio: 0.3 },
    ] as const
    const text = (assumptions: LintAssumptions) =>
      find(one({ tripping }, assumptions)).find(({ id }) => id === 'shut-off-by-mistake')
    expect(text({ callsPerMinute: 1 })?.text).toMatch(
      /^A healthy provider that fails 5 % of its calls is shut off about 9\.\d times a day, at 1 call a minute: /,
    )
    expect(text({})?.text).toContain('which is assumed')
    // a window of 400 calls does not err, a quiet night does
    expect(text({ callsPerMinute: 200 })?.text).toContain('as it may be in a quiet hour')
    expect(text({ callsPerMinute: 1, healthyFailures: 0.005 })).toBeUndefined()
    expect(text({ callsPerMinute: 1 })?.remedy).toMatch(/^Set `failureRatio: 0\.\d+` in rule 3\.$/)
  })

  it('puts the worst first', () => {
    const severities = find(
      chain([target('a', { timeoutMs: Infinity, circuitBreaker: { cooldownMs: 1 } })]),
    ).map(({ severity }) => severity)
    const order = ['problem', 'warning', 'question']
    expect(severities).toEqual(severities.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)))
    expect(new Set(severities)).toEqual(new Set(order))
  })

  it('says its numbers', () => {
    const text = (id: string, subject: Case) => find(subject).find((finding) => finding.id === id)?.text
    expect(text('threshold-out-of-reach', one({ tripping: window }, { callsPerMinute: 5 }))).toBe(
      'A rule asks for 20 calls within 1 min, but at 5 calls a minute there are 5.',
    )
    // (1 − 0.3⁵) / (0.3⁵ × 0.7)
    expect(text('in-a-row-at-a-high-rate', one(true, { callsPerMinute: 200 }))).toBe(
      '5 failures in a row at 200 calls a minute are a blip of 1.5 s; and a target that fails 30 % of its calls goes on for about 586 calls (2 min 56 s) before it opens.',
    )
    expect(
      text('last-target-without-breaker', chain([target('a'), target('b', { circuitBreaker: false })])),
    ).toBe(
      'The last target of a chain has no circuit breaker. If it hangs, every call waits for it, 3 min 2 s at most.',
    )
  })

  it('adds up the calls of targets that share a circuit', () => {
    const shared = { bucket: 'one', circuitBreaker: { tripping: window } }
    const options = { targets: [target('a', shared), target('b', shared)] }
    const ids = (callsPerMinute: Record<string, number>) =>
      lintPolicies(audited(options), { callsPerMinute }).map(({ id }) => id)
    expect(ids({ a: 10, b: 9 })).toContain('threshold-out-of-reach')
    expect(ids({ a: 10, b: 10 })).not.toContain('threshold-out-of-reach')
  })

  it('tells the same of several targets once', () => {
    const options = {
      targets: [target('a'), target('b'), target('c', { timeoutMs: 5000 })],
      deadlineMs: 30_000,
    }
    const found = lintPolicies(audited(options)).filter(({ id }) => id === 'deadline-below-timeout')
    expect(found.map(({ where }) => where)).toEqual(['a, b'])
  })

  it.each([
    ['providers', llmDefaults, [1, 5, 200]],
    ['tools', toolDefaults, [1, 5]],
  ] as const)(
    'has no problem and no warning for the rules that are shipped for %s',
    (_name, circuitBreaker, rates) => {
      const options = { targets: [target('a', { circuitBreaker }), target('b', { circuitBreaker })] }
      const subject = audited(options, { alerts: [{ on: ['open'] }] })
      const found = [undefined, ...rates].flatMap((callsPerMinute) =>
        lintPolicies(subject, callsPerMinute === undefined ? {} : { callsPerMinute }),
      )
      expect(found.filter(({ severity }) => severity === 'problem' || severity === 'warning')).toEqual([])
    },
  )
})
