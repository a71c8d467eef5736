import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/core/errors.ts'
import { NotOffered, OFFERS } from '../../../src/testing/conformance/adapter.ts'
import type { BreakerAdapter } from '../../../src/testing/conformance/adapter.ts'
import { conformance, conformanceQuestions } from '../../../src/testing/conformance/conformance.ts'
import { describeBreaker } from '../../../src/testing/conformance/describe-breaker.ts'
import { parseScenario } from '../../../src/testing/scenario/parse.ts'
import { homemade } from './homemade.ts'

/** As somebody has it whose compiler checks nothing. */
const loose = (adapter: unknown) => adapter as BreakerAdapter
const runner = { describe: (_: string, body: () => void) => body(), it: () => {} }

describe('an adapter that is written wrongly', () => {
  it.each<[string, unknown, ...string[]]>([
    [
      'a misspelt offer',
      { ...homemade(), offers: ['treshold', 'cooldownMs'] },
      "adapter.offers[0] is 'treshold'. Did you mean 'threshold'?",
      'halfOpenProbes',
      'restart',
    ],
    ['no offers and no create', { name: 'x' }, 'The adapter lacks offers, create.'],
    ['no name', { offers: [], create() {} }, 'The adapter lacks name.'],
    ['no adapter', undefined, 'adapter is undefined; it must be an object.'],
    ['offers that are no list', { ...homemade(), offers: 'threshold' }, "adapter.offers is 'threshold'"],
    ['a create that is no function', { ...homemade(), create: 'new' }, "adapter.create is 'new'"],
    ['a name that is none', { ...homemade(), name: '' }, 'adapter.name'],
    ['a version that is none', { ...homemade(), version: 3 }, 'adapter.version is 3'],
    ['a misspelt key', { ...homemade(), decline: {} }, "adapter.decline. Did you mean 'declines'?"],
    ['declines without a reason', { ...homemade(), declines: { x: true } }, 'adapter.declines.x is true'],
    [
      'known failures in it',
      { ...homemade(), knownFailures: [] },
      'Unknown option adapter.knownFailures.',
      'describeBreaker(adapter, { knownFailures: […] })',
    ],
  ])('is refused at once: %s', (_, adapter, ...words) => {
    const messages: string[] = []
    for (const start of [
      () => conformanceQuestions(loose(adapter)),
      () => describeBreaker(loose(adapter), runner),
    ]) {
      expect(start).toThrow(ConfigError)
      try {
        start()
      } catch (error) {
        messages.push((error as Error).message)
      }
    }
    for (const word of words) for (const message of messages) expect(message).toContain(word)
  })

  it.each<[string, readonly string[], unknown, string]>([
    ['nothing', [], undefined, 'What create returns lacks execute, advance.'],
    ['a breaker without advance', [], { execute() {} }, 'What create returns lacks advance.'],
    ['a breaker without execute', [], { advance() {} }, 'What create returns lacks execute.'],
    [
      'a breaker without what its offers need',
      ['holdOpen', 'restart'],
      { execute() {}, advance() {} },
      'What create returns lacks open, close, restart.',
    ],
  ])('is refused when it makes %s', async (_, offers, made, message) => {
    const adapter = loose({ ...homemade(), create: () => made })
    const all = loose({ ...adapter, offers: [...adapter.offers, ...offers] })
    await expect(conformance(all)).rejects.toThrow(ConfigError)
    await expect(conformance(all)).rejects.toThrow(message)
    // where the rules must be refused, and along the statechart, too
    const asked = conformanceQuestions(all).filter(({ id }) => /^negative-cooldown|^every step/.test(id))
    for (const { id, ask } of asked) await expect(ask(), id).rejects.toThrow(message)
  })

  it.each<[unknown, string]>([
    [{ rule: {} }, "Unknown option rule. Did you mean 'rules'?"],
    [{ scenarios: [] }, 'scenarios is an empty list; it must be an object.'],
    [{ rules: 3 }, 'rules is 3; it must be an object.'],
    [null, 'options is null; it must be an object.'],
  ])('is not asked with options that nobody reads: %j', async (options, message) => {
    await expect(conformance(homemade(), options as object)).rejects.toThrow(message)
    expect(() => describeBreaker(homemade(), options as object)).toThrow(message)
  })

  it('is told where known failures go, and how they are called', async () => {
    await expect(conformance(homemade(), { knownFailures: [] } as object)).rejects.toThrow(
      'Unknown option knownFailures.',
    )
    expect(() => describeBreaker(homemade(), { ...runner, knownFailure: [] } as object)).toThrow(
      "Unknown option knownFailure. Did you mean 'knownFailures'?",
    )
    expect(() => describeBreaker(homemade(), { ...runner, knownFailures: 'x' } as object)).toThrow(
      "knownFailures is 'x'; it must be a list.",
    )
    expect(() => describeBreaker(homemade(), { ...runner, knownFailures: ['two-whole-cycle'] })).toThrow(
      "No question is called 'two-whole-cycle'. Did you mean 'two-whole-cycles'?",
    )
  })
})

describe('an adapter whose create throws', () => {
  const broken: BreakerAdapter = {
    ...homemade(),
    create() {
      throw new TypeError('MyBreaker is not a constructor')
    },
  }

  it('fails everything that it is asked', async () => {
    const results = await conformance(broken)
    expect(results.filter(({ verdict }) => verdict === 'survives')).toEqual([])
    const asked = results.filter(
      ({ verdict, reason }) => verdict === 'fails' || !/offer|ends once|told/.test(reason ?? ''),
    )
    expect(asked.length).toBeGreaterThan(45)
    for (const { id, verdict, reason } of asked) {
      expect(verdict, id).toBe('fails')
      expect(reason, id).toMatch(/^create throws TypeError \(MyBreaker is not a constructor\)/)
    }
  })

  it('is not taken for a breaker that refuses rules', async () => {
    const results = await conformance(broken)
    expect(results.find(({ id }) => id === 'negative-cooldown-is-refused')).toMatchObject({
      verdict: 'fails',
      reason: 'create throws TypeError (MyBreaker is not a constructor), even for rules that are right',
    })
  })

  it('may still decline', async () => {
    const create = () => {
      throw new NotOffered('today')
    }
    const results = await conformance({ ...homemade(), create })
    expect(new Set(results.map(({ verdict }) => verdict))).toEqual(new Set(['cannot be asked']))
  })

  it('names the step where a breaker throws in the middle of a look', async () => {
    const adapter: BreakerAdapter = {
      ...homemade(),
      async create(rules, random) {
        const breaker = await homemade().create(rules, random)
        return {
          ...breaker,
          advance(ms) {
            if (ms > 900) throw new Error('no clock')
            return breaker.advance(ms)
          },
        }
      },
    }
    const scenario = parseScenario(
      'kind: breaker\nname: x\nbreaker: {threshold: 1, cooldownMs: 1000}\nsteps:\n  - {admit: a}\n  - {fail: a, expect: open}\n  - {reject: b, retryAfterMs: 1000}',
    )
    const [result] = await conformance(adapter, { scenarios: { x: scenario }, rules: {} })
    expect(result?.reason).toBe('step 3 (reject b): it should go on, but ends with Error (no clock)')
  })
})

describe('the README', () => {
  it('lists every offer', () => {
    const readme = readFileSync(resolve(import.meta.dirname, '../../../README.md'), 'utf8')
    const part = readme.split('### Test any breaker with it')[1]?.split('\n## ')[0] ?? ''
    expect(OFFERS.filter((offer) => !part.includes(`\`${offer}\``))).toEqual([])
  })
})

describe('what a failure says', () => {
  const messages = async (adapter: BreakerAdapter) => {
    const tests: [string, () => Promise<void>][] = []
    describeBreaker(adapter, {
      describe: (_, body) => body(),
      it: (name, body) => tests.push([name, body]),
    })
    const found = new Map<string, string>()
    for (const [name, test] of tests) {
      await test().catch((error: unknown) => found.set(name, (error as Error).message))
    }
    return { names: tests.map(([name]) => name), found }
  }

  it('is the scenario, the steps and why it matters', async () => {
    const { found } = await messages(homemade('a late success closes'))
    expect(found.get('late-success-does-not-close')).toBe(
      [
        'late-success-does-not-close: step 6 (succeed slow): it should be open and let nobody in, but lets in 1 of 1.',
        'Why: Model calls often outlive a cooldown, and an answer asked for before the outage says nothing about the present.',
        'Rules: threshold: 2, cooldownMs: 1000',
        'Steps: admit slow, admit a, admit b, at 10 ms fail a, fail b, at 500 ms succeed slow',
        `Scenario: ${resolve(import.meta.dirname, '../../scenarios/breaker/late-success-does-not-close.yaml')}`,
      ].join('\n'),
    )
  })

  it('lists the steps that led there, also along the statechart', async () => {
    const { found } = await messages(homemade('a failed probe is forgotten'))
    const message = found.get('half-open: a probe fails') ?? ''
    expect(message).toMatch(/^every step, opening at 3 failures: half-open: a probe fails: it should be open/)
    expect(message).toMatch(
      /\nRules: threshold: 3, cooldownMs: 1000\nSteps: .*1 × fail.*admit probe\d+.*fail probe\d+$/,
    )
    for (const text of found.values())
      for (const line of text.split('\n')) expect(line.length).toBeLessThan(500)
  })

  it('is in the results, too', async () => {
    const results = await conformance(homemade('a late success closes'))
    const failed = results.filter(({ verdict }) => verdict === 'fails')
    for (const { steps, why, group } of failed) {
      expect(steps).toMatch(/./)
      if (!group.startsWith('every step')) expect(why).toMatch(/./)
    }
    expect(results.find(({ verdict }) => verdict === 'survives')).not.toHaveProperty('steps')
  })

  it('has names that do not repeat their group, in English', async () => {
    const { names } = await messages(homemade())
    expect(names).toContain('open: a late call fails')
    expect(names.filter((name) => /every step|of before/.test(name))).toEqual([])
  })
})
