import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { audited } from '../../src/audit/audited.ts'
import { diffAudited } from '../../src/audit/diff/diff-audited.ts'
import { diffBreakers } from '../../src/audit/diff/diff-breakers.ts'
import { forUsers } from '../../src/audit/diff/for-users.ts'
import { tellBreakers } from '../../src/audit/diff/tell-breakers.ts'
import { whatChanges } from '../../src/audit/diff/what-changes.ts'
import { Imagined } from '../../src/audit/walk/imagined.ts'
import { boundsFor, naturalSteps, operatorSteps } from '../../src/audit/walk/walk-steps.ts'
import { checkCommand } from '../../src/cli/check.ts'
import { diffCommand } from '../../src/cli/diff.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import type { TargetOptions } from '../../src/core/target-options.ts'
import { parseScenario } from '../../src/testing/scenario/parse.ts'
import { runScenario } from '../../src/testing/scenario/run-scenario.ts'

const compare = (a: CircuitBreakerOptions, b: CircuitBreakerOptions) =>
  diffBreakers(resolveBreaker(a), resolveBreaker(b))

const passes = async (text: string) => (await runScenario(parseScenario(text))).passed

const window = { kind: 'rolling', windowMs: 60_000, minCalls: 4, failureRatio: 0.5 } as const
const row = { kind: 'consecutive', threshold: 5 } as const

describe('two spellings of the same rules', () => {
  it.each<[string, CircuitBreakerOptions, CircuitBreakerOptions]>([
    [
      'the default, written out',
      {},
      { threshold: 5, cooldownMs: 30_000, halfOpenProbes: 1, mode: 'enforce' },
    ],
    ['a threshold as a rule', { threshold: 3 }, { tripping: { kind: 'consecutive', threshold: 3 } }],
    ['a rule as a list', { tripping: window }, { tripping: [window] }],
  ])('%s: the same, number for number', (_name, a, b) => {
    expect(compare(a, b)).toMatchObject({ how: 'equal', differences: [], complete: true })
  })

  it.each<[string, CircuitBreakerOptions, CircuitBreakerOptions]>([
    ['one in a row, however it is counted', { threshold: 1 }, { tripping: { kind: 'leaky', threshold: 1 } }],
    [
      'a ratio that asks for as many probes',
      { halfOpenProbes: 3, halfOpenSuccessRatio: 0.5 },
      { halfOpenProbes: 3, halfOpenSuccessRatio: 0.6 },
    ],
    ['an early verdict of a single probe', {}, { halfOpenVerdict: 'early' }],
    ['growth by the factor one', {}, { cooldownBackoff: { multiplier: 1, jitter: 'none' } }],
    [
      'a kind as any failure, in a row',
      { threshold: 2 },
      { threshold: 2, kinds: { auth: { threshold: 2 } } },
    ],
    ['rules in another order', { tripping: [row, window] }, { tripping: [window, row] }],
    [
      'a second rule that is never first',
      { threshold: 2 },
      {
        tripping: [
          { kind: 'consecutive', threshold: 2 },
          { kind: 'leaky', threshold: 9 },
        ],
      },
    ],
    [
      'a minimum of no calls',
      { tripping: { ...window, minCalls: 0 } },
      { tripping: { ...window, minCalls: 1 } },
    ],
  ])('%s: no difference in all that was walked', (_name, a, b) => {
    const { how, differences, complete, walks } = compare(a, b)
    expect({ how, differences, complete }).toEqual({ how: 'walked', differences: [], complete: true })
    expect(walks[0]!.places).toBeGreaterThan(20)
  })
})

/** Pairs, the place where the shortest story of one sort ends, and what is seen there. */
const pairs: readonly (readonly [
  string,
  CircuitBreakerOptions,
  CircuitBreakerOptions,
  readonly [string, string, string],
])[] = [
  [
    'another threshold',
    { threshold: 3 },
    { threshold: 2 },
    [
      '2 calls, one after the other, fail',
      'the circuit is still closed: calls flow',
      'the circuit is open: calls are refused for 30 s',
    ],
  ],
  [
    'another cooldown',
    { cooldownMs: 1000, threshold: 1 },
    { cooldownMs: 2000, threshold: 1 },
    [
      'a call fails',
      'the circuit is open: calls are refused for 1 s',
      'the circuit is open: calls are refused for 2 s',
    ],
  ],
  [
    'growth',
    { threshold: 1 },
    { threshold: 1, cooldownBackoff: { multiplier: 2, jitter: 'none', maxMs: 60_000 } },
    [
      'a call passes as a probe and fails',
      'the circuit is open: calls are refused for 30 s',
      'the circuit is open: calls are refused for 1 min',
    ],
  ],
  [
    'another ratio',
    { tripping: window },
    { tripping: { ...window, failureRatio: 0.75 } },
    [
      '2 calls, one after the other, fail',
      'the circuit is open: calls are refused for 30 s',
      'the circuit is still closed: calls flow',
    ],
  ],
  [
    'more probes',
    { threshold: 1 },
    { threshold: 1, halfOpenProbes: 2 },
    [
      'a call passes as a probe and succeeds',
      'the circuit is closed: calls flow',
      'the trial goes on: 1 succeeded, 0 failed, 0 under way',
    ],
  ],
  [
    'a longer lease',
    { threshold: 1, probeLeaseMs: 10_000 },
    { threshold: 1, probeLeaseMs: 20_000 },
    [
      'a call passes as a probe and is still under way',
      'the trial goes on: 0 succeeded, 0 failed, 1 under way; others are told to come back in 10 s',
      'the trial goes on: 0 succeeded, 0 failed, 1 under way; others are told to come back in 20 s',
    ],
  ],
  [
    'a kind of its own',
    {},
    { kinds: { auth: { immediateOpen: true } } },
    [
      'a call fails (auth)',
      'the circuit is still closed: calls flow',
      'the circuit is open: calls are refused for 30 s',
    ],
  ],
  [
    'only observed',
    { threshold: 1 },
    { threshold: 1, mode: 'observe' },
    [
      'a call fails',
      'the circuit is open: calls are refused for 30 s; the next call is refused',
      'the circuit is open: calls are refused for 30 s; the next call passes',
    ],
  ],
  [
    'a Retry-After that is believed',
    { threshold: 1 },
    { threshold: 1, maxRetryAfterMs: 60_000 },
    [
      'a call fails, and the provider asks for 10 min of patience',
      'the circuit is open: calls are refused for 5 min',
      'the circuit is open: calls are refused for 1 min',
    ],
  ],
  [
    'a word of warning',
    {},
    { degradation: {} },
    [
      '3 calls, one after the other, fail',
      'the circuit is still closed: calls flow',
      'the circuit is degraded: calls flow, near the threshold',
    ],
  ],
  [
    'leaky',
    { threshold: 3 },
    { tripping: { kind: 'leaky', threshold: 3 } },
    [
      '2 calls, one after the other, fail',
      'the circuit is still closed: calls flow',
      'the circuit is open: calls are refused for 30 s',
    ],
  ],
]

describe('two rules that differ', () => {
  it.each(pairs)(
    '%s: the shortest story passes with the one and fails with the other',
    async (_name, a, b, [when, underA, underB]) => {
      const [one, two] = [resolveBreaker(a), resolveBreaker(b)]
      const { differences } = diffBreakers(one, two)
      const tellings = await Promise.all(
        differences.map((difference) => tellBreakers(difference, 'x', one, two)),
      )
      expect(
        tellings.map((telling) => ({ when: telling.when, underA: telling.underA, underB: telling.underB })),
      ).toContainEqual({ when, underA, underB })
      for (const { fileA, fileB, proven } of tellings) {
        expect(proven).toBe(true)
        expect([await passes(fileA), await passes(fileB)]).toEqual([true, false])
      }
    },
  )

  it.each(pairs)('%s: and the other way round', async (_name, a, b) => {
    const [one, two] = [resolveBreaker(b), resolveBreaker(a)]
    const { differences } = diffBreakers(one, two)
    expect(differences).not.toEqual([])
    for (const difference of differences) {
      const { fileA, fileB } = await tellBreakers(difference, 'x', one, two)
      expect([await passes(fileA), await passes(fileB)]).toEqual([true, false])
    }
  })

  it('finds that a threshold of 3 opens where one of 4 warns', async () => {
    const rules = (threshold: number) => resolveBreaker({ threshold, degradation: {} })
    const { differences } = diffBreakers(rules(3), rules(4))
    const told = await Promise.all(differences.map((each) => tellBreakers(each, 'x', rules(3), rules(4))))
    expect(told.map(({ given, when }) => [...given, when])).toContainEqual([
      '2 calls, one after the other, fail: the circuit is degraded: calls flow, near the threshold',
      'a call fails',
    ])
  })

  it('does not compare what code decides', () => {
    expect(compare({}, { cooldownBackoff: () => 30_000 })).toMatchObject({ how: 'code', complete: false })
  })
})

const someRules: fc.Arbitrary<CircuitBreakerOptions> = fc.record(
  {
    threshold: fc.integer({ min: 1, max: 3 }),
    cooldownMs: fc.constantFrom(1000, 2000),
    cooldownBackoff: fc.record({
      multiplier: fc.constantFrom(1, 2),
      maxMs: fc.constantFrom(1000, 4000),
      jitter: fc.constantFrom('none' as const, 'equal' as const),
    }),
    halfOpenProbes: fc.integer({ min: 1, max: 2 }),
    halfOpenSuccessRatio: fc.constantFrom(0.4, 0.5, 1),
    halfOpenVerdict: fc.constantFrom('all' as const, 'early' as const),
    degradation: fc.record({ at: fc.constantFrom(0.4, 0.6) }),
    kinds: fc.constantFrom({}, { auth: { threshold: 2 } }, { auth: { threshold: 3, cooldownMs: 1000 } }),
    maxRetryAfterMs: fc.constantFrom(0, 5000),
  },
  { requiredKeys: [] },
)

describe('what changes, in general', () => {
  it.each<[string, CircuitBreakerOptions, CircuitBreakerOptions, string[]]>([
    ['a threshold', {}, { threshold: 3 }, ['The circuit opens after 3 failures in a row, instead of 5.']],
    [
      'one rule of two, counted from one',
      { tripping: [row, window] },
      { tripping: [row, { ...window, minCalls: 10 }] },
      [
        'Rule 2 opens from 5 failures among 10 calls within 1 min on, instead of 2 among 4; of more calls, from 50 % as before.',
      ],
    ],
    [
      'a kind',
      {},
      { kinds: { auth: { immediateOpen: true } } },
      ['Failures of kind "auth": one opens the circuit, instead of: they count like any other.'],
    ],
    ['a cooldown', {}, { cooldownMs: 10_000 }, ['Every open period lasts 10 s instead of 30 s.']],
    [
      'a trial',
      {},
      { halfOpenProbes: 3, halfOpenConcurrency: 1 },
      ['A trial closes the circuit once 3 of 3 probes succeeded, instead of 1 of 1 probe.'],
    ],
    ['only observed', {}, { mode: 'observe' }, ['B only observes: it refuses no call.']],
    ['nothing', { threshold: 5 }, {}, []],
  ])('%s', (_name, a, b, told) => {
    expect(whatChanges(resolveBreaker(a), resolveBreaker(b))).toEqual(told)
  })

  it('tells users what is better and what is worse, in both directions', () => {
    const [strict, lax] = [resolveBreaker({ threshold: 2 }), resolveBreaker({ threshold: 5 })]
    expect(forUsers(lax, strict)[0]).toMatch(/^B opens more easily\. Better: .* Worse: /)
    expect(forUsers(strict, lax)[0]).toMatch(/^B opens less easily\. Worse: .* Better: /)
    expect(forUsers(lax, lax)).toEqual([])
  })
})

describe('whatever the two rules are', () => {
  it('every difference is proven, and where none is found no play tells them apart', async () => {
    await fc.assert(
      fc.asyncProperty(
        someRules,
        someRules,
        fc.array(fc.nat(), { size: 'max', maxLength: 40 }),
        async (a, b, choices) => {
          const rules = [resolveBreaker(a), resolveBreaker(b)] as const
          const { differences, complete, how } = diffBreakers(...rules)
          for (const difference of differences) {
            expect(await tellBreakers(difference, 'x', ...rules)).toMatchObject({ proven: true })
          }
          if (how === 'equal' || differences.length > 0) return
          expect(complete).toBe(true)
          let circuits = rules.map((each) => Imagined.start(each, 0.5))
          for (const choice of choices) {
            const steps = [...naturalSteps(circuits, boundsFor(rules)), ...operatorSteps(circuits)]
            const step = steps[choice % steps.length]!
            const next = circuits.flatMap((circuit) => circuit.after(step) ?? [])
            expect(next.length).not.toBe(1)
            if (next.length === 2) circuits = next
            expect(circuits[1]!.seen).toEqual(circuits[0]!.seen)
          }
        },
      ),
      { numRuns: 25 },
    )
  })
})

const invoke = () => 'ok'
const target = (name: string, more: Partial<TargetOptions> = {}): TargetOptions => ({
  name,
  invoke,
  circuitBreaker: true,
  ...more,
})

describe('two chains', () => {
  const of = (targets: TargetOptions[], more: object = {}) => audited({ targets, ...more })

  it.each<[string, ReturnType<typeof audited>, ReturnType<typeof audited>]>([
    ['fewer retries', of([target('a'), target('b')]), of([target('a', { maxRetries: 1 }), target('b')])],
    ['another order', of([target('a'), target('b')]), of([target('b'), target('a')])],
    ['a shorter limit', of([target('a'), target('b')]), of([target('a', { timeoutMs: 5000 }), target('b')])],
    [
      'a shorter limit until the first word',
      of([target('a')]),
      of([target('a', { firstContentTimeoutMs: 5000 })]),
    ],
    ['a shorter limit between words', of([target('a')]), of([target('a', { idleTimeoutMs: 5000 })])],
    ['another model', of([target('a', { model: 'm1' })]), of([target('a', { model: 'm2' })])],
    ['a deadline', of([target('a')]), of([target('a')], { deadlineMs: 10_000 })],
    ['a last resort', of([target('a')]), of([target('a')], { whenAllOpen: 'last-resort' })],
    [
      'a list for long prompts',
      of([target('a'), target('b')]),
      of([target('a'), target('b')], { contextWindowFallbacks: { a: ['b'] } }),
    ],
    ['one target less', of([target('a'), target('b')]), of([target('a')])],
  ])('%s: told by a story that passes with the one and fails with the other', async (_name, a, b) => {
    const { calls, verdict } = await diffAudited(a, b)
    const tellings = calls.flatMap(({ tellings }) => tellings)
    expect(verdict).toBe('different')
    expect(tellings.length).toBeGreaterThan(0)
    for (const { fileA } of tellings) expect(await passes(fileA)).toBe(true)
    const fails = tellings.map(({ fileB }) => passes(fileB).catch(() => false))
    expect(await Promise.all(fails)).toEqual(tellings.map(() => false))
  })

  it('are told of before their circuits are walked, one pair of rules after the other', async () => {
    const walked: unknown[] = []
    const circuit = (threshold: number) => ({ circuitBreaker: { threshold } })
    const chain = of([target('a', circuit(2)), target('b', circuit(2)), target('c', circuit(3))])
    await diffAudited(chain, chain, { onWalk: (...told) => walked.push(told) })
    expect(walked).toEqual([
      [['a', 'b'], 1, 2],
      [['c'], 2, 2],
    ])
  })

  it('that do the same are said to do the same', async () => {
    const options = [target('a', { circuitBreaker: {} }), target('b', { timeoutMs: 60_000 })]
    const { verdict, written, circuits, calls } = await diffAudited(
      of(options),
      of([target('a'), target('b')]),
    )
    expect({ verdict, written }).toEqual({ verdict: 'same', written: [] })
    expect(circuits).toMatchObject([{ how: 'equal', targets: ['a', 'b'] }])
    expect(calls).toMatchObject([{ who: 'every call', first: [], limits: [], tellings: [] }])
  })

  it('that ask another target first are no more the same', async () => {
    const targets = [target('a'), target('b')]
    const group = { name: 'm', targets: ['a'], strategy: 'ordered', fallbacks: ['b'] }
    const turns = { ...group, targets: ['a', 'b'], strategy: 'round-robin', fallbacks: [] }
    const { verdict, calls } = await diffAudited(
      audited({ targets }, { groups: [group] }),
      audited({ targets }, { groups: [turns] }),
    )
    expect(verdict).toBe('different')
    expect(calls[0]!.first).toEqual([
      'With A every call goes to a first; b only where that fails or refuses.',
      'With B calls take turns: each of a and b is asked first by 1 of 2 calls.',
      'While nothing is wrong a is asked first by 50 % of the calls instead of 100 % and b is asked first by 50 % of the calls instead of 0 %.',
    ])
  })

  it('names what comes and goes', async () => {
    const { structure, verdict } = await diffAudited(
      of([target('a'), target('b')]),
      of([target('a', { circuitBreaker: false }), target('c')]),
    )
    expect(verdict).toBe('different')
    expect(structure).toEqual(['target b is gone', 'target c is new', 'the circuit breaker of a is gone'])
  })
})

describe('switchgear diff', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'diff-'))
  })
  afterEach(() => {
    rmSync(dir, { recursive: true })
    process.exitCode = undefined
  })

  const config = (circuitBreaker: string) =>
    `targets:\n  - { name: a, baseUrl: https://a.example.com/v1, model: m, circuitBreaker: ${circuitBreaker} }\n  - { name: b, baseUrl: https://b.example.com/v1, model: m }\n`

  async function diff(a: string, b: string, ...args: string[]): Promise<{ out: string; exitCode: unknown }> {
    const files = [join(dir, 'a.yaml'), join(dir, 'b.yaml')] as const
    writeFileSync(files[0], config(a))
    writeFileSync(files[1], config(b))
    let out = ''
    const command = diffCommand()
      .exitOverride()
      .configureOutput({ writeOut: (text) => (out += text), writeErr: (text) => (out += text) })
    await command.parseAsync([...files, ...args], { from: 'user' })
    return { out, exitCode: process.exitCode }
  }

  it('says that two spellings do the same, with exit code 0', async () => {
    const { out, exitCode } = await diff('true', '{ tripping: { kind: consecutive, threshold: 5 } }')
    expect(exitCode).toBe(0)
    expect(out).toContain('say the same.')
  })

  it('says what was walked where the same comes of other rules', async () => {
    const { out, exitCode } = await diff('{ threshold: 1 }', '{ tripping: { kind: leaky, threshold: 1 } }')
    expect(exitCode).toBe(0)
    expect(out).toContain('The circuit of a: other words, the same behaviour.')
    expect(out).toMatch(/played side by side .*: \d+ situations, \d+ steps\. .* Looked at were: /)
    expect(out).toContain('are spelled differently and do the same.')
  })

  it('says that it could not see everything, with exit code 2', async () => {
    const { out, exitCode } = await diff(
      '{ threshold: 1 }',
      '{ tripping: { kind: leaky, threshold: 1 } }',
      '--places',
      '5',
    )
    expect(exitCode).toBe(2)
    expect(out).toContain('raise --places')
  })

  it('writes stories that `check` passes with the one and fails with the other, with exit code 1', async () => {
    const { out, exitCode } = await diff('{ threshold: 5 }', '{ threshold: 3 }', '--out', join(dir, 'told'))
    expect(exitCode).toBe(1)
    expect(out).toContain('a, circuit breaker, rule 1, threshold: 5 → 3')
    const files = readdirSync(join(dir, 'told')).map((name) => join(dir, 'told', name))
    expect(files.length).toBeGreaterThan(1)
    for (const file of files) {
      process.exitCode = undefined
      const command = checkCommand().configureOutput({ writeOut: () => {} })
      await command.parseAsync([file], { from: 'user' })
      expect([file, process.exitCode]).toEqual([file, file.endsWith('.under-b.yaml') ? 1 : undefined])
    }
    expect(readFileSync(files[0]!, 'utf8')).toContain('kind: breaker')
  })

  it('says in general what changes, and what that means for users, beside the story', async () => {
    const rolling = (failureRatio: number) =>
      `{ tripping: { kind: rolling, windowMs: 300000, minCalls: 5, failureRatio: ${failureRatio} } }`
    const html = join(dir, 'diff.html')
    const { out } = await diff(rolling(0.7), rolling(0.3), '--html', html)
    expect(out).toContain(
      'The circuit opens from 2 failures among 5 calls within 5 min on, instead of 4 among 5; of more calls, from 30 % instead of 70 %.',
    )
    expect(out).toMatch(
      /For users: B opens more easily\. .* is shut off by mistake about \d+ times a day instead of/,
    )
    expect(readFileSync(html, 'utf8')).toContain('from 2 failures among 5 calls')
  })

  it('names the faults of a configuration, with exit code 3', async () => {
    await expect(diff('{ threshold: 0 }', 'true')).rejects.toMatchObject({ exitCode: 3 })
  })
})
