import { describe, expect, it } from 'vitest'
import {
  ConfigError,
  createBreaker,
  createBreakerRegistry,
  createSwitchgear,
  llmDefaults,
  toolDefaults,
} from '../../src/index.ts'
import type { TargetOptions } from '../../src/index.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

type Loose = Record<string, unknown>

function thrownBy(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('nothing was thrown')
}

const invoke = () => 'x'
const breaker = (options: Loose) => createBreaker({ clock: new VirtualClock(), ...options })
const gear = (options: Loose) =>
  createSwitchgear({ clock: new VirtualClock(), targets: [{ name: 'a', invoke }], ...options })
const target = (options: Loose) => gear({ targets: [{ name: 'a', invoke, ...options } as TargetOptions] })

describe('defaults', () => {
  it('a breaker without options has the documented figures', () => {
    const { policy, ...rest } = resolveBreaker({})
    expect(policy).toEqual({
      rules: [{ kind: 'consecutive', threshold: 5 }],
      cooldownMs: 30_000,
      backoff: null,
      maxRetryAfterMs: 300_000,
      kinds: {},
      degradedAt: null,
      halfOpenProbes: 1,
      halfOpenSuccessRatio: 1,
      halfOpenConcurrency: 1,
      halfOpenVerdict: 'all',
    })
    expect(rest).toMatchObject({ probeLeaseMs: 60_000, isolateByModel: false, observe: false })
  })

  it('halfOpenConcurrency follows halfOpenProbes, degradation starts at 0.6, jitter is full', () => {
    const { policy } = resolveBreaker({
      halfOpenProbes: 4,
      degradation: {},
      cooldownBackoff: { multiplier: 2 },
    })
    expect(policy).toMatchObject({
      halfOpenConcurrency: 4,
      degradedAt: 0.6,
      backoff: { multiplier: 2, maxMs: Infinity, minMs: 0, jitter: 'full' },
    })
  })

  it('threshold is read by a consecutive rule without one of its own', () => {
    const tripping = [{ kind: 'consecutive' }, { kind: 'leaky', threshold: 9 }] as const
    expect(resolveBreaker({ threshold: 3, tripping }).policy.rules).toEqual([
      { kind: 'consecutive', threshold: 3 },
      { kind: 'leaky', threshold: 9 },
    ])
  })

  it('the presets are valid, frozen, and what they say', () => {
    expect(() => [resolveBreaker(llmDefaults), resolveBreaker(toolDefaults)]).not.toThrow()
    expect([Object.isFrozen(llmDefaults), Object.isFrozen(toolDefaults)]).toEqual([true, true])
    expect(() => target({ circuitBreaker: { ...llmDefaults, isolateByModel: true } })).not.toThrow()
  })

  it('circuitBreaker left out, false and undefined mean none; true means the defaults', () => {
    for (const circuitBreaker of [undefined, false]) {
      expect(target({ circuitBreaker }).getCircuitState()).toBeUndefined()
    }
    expect(target({ circuitBreaker: true }).getCircuitState()).toBe('closed')
  })
})

/** Option, a word that must stand in the text, values outside of its range, values at its edge. */
type Row = readonly [option: string, range: RegExp, wrong: readonly unknown[], right: readonly unknown[]]

const NO_NUMBERS = [NaN, '5', null, {}]

describe('ranges: a RangeError names option, value and range', () => {
  const rows: readonly Row[] = [
    ['threshold', /integer of at least 1, or Infinity/, [0, -1, 1.5, -Infinity], [1, Infinity]],
    ['cooldownMs', /at least 0/, [-1, Infinity], [0, 0.5]],
    ['halfOpenProbes', /integer of at least 1/, [0, 1.5, Infinity], [1]],
    ['halfOpenSuccessRatio', /greater than 0 and at most 1/, [0, 1.01, -0.5, Infinity], [0.001, 1]],
    ['halfOpenConcurrency', /at least 1 and at most 1/, [0, 2], [1]],
    ['probeLeaseMs', /greater than 0/, [0, -1, Infinity], [0.1]],
    ['maxRetryAfterMs', /at least 0/, [-1, Infinity], [0]],
  ]
  for (const [option, range, wrong, right] of rows) {
    it.each([...wrong, ...NO_NUMBERS.filter((value) => value !== null)])(`${option}: %s`, (value) => {
      const error = thrownBy(() => breaker({ [option]: value }))
      expect(error).toBeInstanceOf(RangeError)
      expect(error.message).toContain(option)
      expect(error.message).toContain(typeof value === 'object' ? 'an object' : String(value))
      expect(error.message).toMatch(range)
    })
    it.each(right)(`${option}: %s is allowed`, (value) => {
      expect(() => breaker({ [option]: value })).not.toThrow()
    })
  }

  it.each([
    ['cooldownBackoff.multiplier', { cooldownBackoff: { multiplier: 0.5 } }],
    ['cooldownBackoff.multiplier', { cooldownBackoff: {} }],
    ['cooldownBackoff.maxMs', { cooldownBackoff: { multiplier: 2, maxMs: -1 } }],
    ['cooldownBackoff.minMs', { cooldownBackoff: { multiplier: 2, maxMs: 10, minMs: 11 } }],
    ['degradation.at', { degradation: { at: 0 } }],
    ['degradation.at', { degradation: { at: 1 } }],
    ['kinds.auth.threshold', { kinds: { auth: { threshold: 0 } } }],
    ['kinds.auth.cooldownMs', { kinds: { auth: { cooldownMs: -1 } } }],
    ['tripping.threshold', { tripping: { kind: 'leaky' } }],
    ['tripping.windowMs', { tripping: { kind: 'rolling', windowMs: 9, minCalls: 1, failureRatio: 0.5 } }],
    ['tripping.minCalls', { tripping: { kind: 'rolling', windowMs: 10, minCalls: 1.5, failureRatio: 0.5 } }],
    ['tripping.failureRatio', { tripping: { kind: 'rolling', windowMs: 10, minCalls: 1, failureRatio: 0 } }],
    [
      'tripping[1].slowRatio',
      {
        tripping: [
          { kind: 'consecutive', threshold: 1 },
          { kind: 'latency', windowMs: 10, minCalls: 1, slowMs: 1, slowRatio: 1.1 },
        ],
      },
    ],
  ])('%s of %j', (path, options) => {
    const error = thrownBy(() => breaker(options))
    expect(error).toBeInstanceOf(RangeError)
    expect(error.message.startsWith(`${path} is `)).toBe(true)
  })

  it.each([
    ['targets[0].maxRetries', { maxRetries: -1 }],
    ['targets[0].maxRetries', { maxRetries: 0.5 }],
    ['targets[0].maxRetries', { maxRetries: Infinity }],
    ['targets[0].timeoutMs', { timeoutMs: 0 }],
    ['targets[0].firstContentTimeoutMs', { firstContentTimeoutMs: NaN }],
    ['targets[0].idleTimeoutMs', { idleTimeoutMs: -1 }],
    ['targets[0].retry.baseMs', { retry: { baseMs: -1 } }],
    ['targets[0].retry.multiplier', { retry: { multiplier: 0.9 } }],
    ['targets[0].retry.maxMs', { retry: { maxMs: NaN } }],
    ['targets[0].circuitBreaker.threshold', { circuitBreaker: { threshold: 0 } }],
  ])('%s of %j', (path, options) => {
    const error = thrownBy(() => target(options))
    expect(error).toBeInstanceOf(RangeError)
    expect(error.message.startsWith(`${path} is `)).toBe(true)
  })

  it.each([
    ['deadlineMs', { deadlineMs: 0 }],
    ['deadlineMs', { deadlineMs: NaN }],
    ['whenAllOpen.waitMs', { whenAllOpen: { waitMs: -1 } }],
    ['retryBudget.capacity', { retryBudget: { capacity: -1 } }],
    ['retryBudget.perCall', { retryBudget: { perCall: Infinity } }],
    ['maxBuckets', { maxBuckets: 0 }],
    ['idleMs', { idleMs: 0 }],
  ])('%s of %j', (path, options) => {
    const error = thrownBy(() => gear(options))
    expect(error).toBeInstanceOf(RangeError)
    expect(error.message.startsWith(`${path} is `)).toBe(true)
  })

  it('Infinity switches the limits of an attempt off', () => {
    const limits = { timeoutMs: Infinity, firstContentTimeoutMs: Infinity, idleTimeoutMs: Infinity }
    expect(() => target({ ...limits, circuitBreaker: true })).not.toThrow()
  })

  it.each([[0], [-1], [NaN], [Infinity]])('a ttlMs of %d is refused with a RangeError', (ttlMs) => {
    expect(thrownBy(() => breaker({}).open({ hold: true, ttlMs }))).toBeInstanceOf(RangeError)
  })
})

describe('everything else that cannot work is a ConfigError', () => {
  const cases: readonly (readonly [rule: string, run: () => unknown, text: RegExp])[] = [
    ['a misspelt option of a breaker', () => breaker({ treshold: 3 }), /treshold.*Did you mean 'threshold'/],
    ['an option that resembles none', () => breaker({ zzz: 3 }), /zzz.*Known: threshold/],
    ['a misspelt option of a target', () => target({ timeoutMS: 3 }), /targets\[0\]\.timeoutMS.*'timeoutMs'/],
    ['a misspelt option of a switchgear', () => gear({ falbackOn: invoke }), /'fallbackOn'/],
    ['a misspelt option below', () => breaker({ degradation: { att: 0.5 } }), /degradation\.att.*'at'/],
    [
      'a misspelt option of a rule',
      () => breaker({ tripping: { kind: 'leaky', treshold: 1 } }),
      /'threshold'/,
    ],
    ['a misspelt option of a kind', () => breaker({ kinds: { auth: { immediate: true } } }), /kinds\.auth/],
    ['a misspelt option of retry', () => target({ retry: { baseMS: 1 } }), /retry\.baseMS.*'baseMs'/],
    ['a misspelt option of a command', () => breaker({}).open({ holt: true } as object), /'hold'/],
    ['an unknown word', () => breaker({ halfOpenVerdict: 'late' }), /'late'.*one of: all, early/],
    ['an unknown mode', () => breaker({ mode: 'off' }), /one of: enforce, observe/],
    ['an unknown kind of rule', () => breaker({ tripping: { kind: 'rollling' } }), /one of: consecutive/],
    [
      'a rule that is none',
      () => breaker({ tripping: { onFailure: invoke } }),
      /neither a rule nor a policy/,
    ],
    ['an empty list of rules', () => breaker({ tripping: [] }), /empty list/],
    [
      'an unknown jitter',
      () => breaker({ cooldownBackoff: { multiplier: 2, jitter: 'half' } }),
      /full, equal, none/,
    ],
    ['an unknown whenAllOpen', () => gear({ whenAllOpen: 'wait' }), /fail, last-resort/],
    ['whenAllOpen null', () => gear({ whenAllOpen: null }), /whenAllOpen/],
    ['an unknown surface', () => target({ surface: 'tools' }), /model, tool/],
    [
      'threshold beside another tripping',
      () => breaker({ threshold: 3, tripping: { kind: 'leaky', threshold: 2 } }),
      /threshold is given beside tripping/,
    ],
    [
      'threshold beside a consecutive rule with its own',
      () => breaker({ threshold: 3, tripping: { kind: 'consecutive', threshold: 2 } }),
      /threshold/,
    ],
    ['ttlMs without hold', () => breaker({}).open({ ttlMs: 5 }), /ttlMs is given without hold/],
    [
      'bucket without circuitBreaker',
      () => target({ bucket: 'b' }),
      /bucket is given without circuitBreaker/,
    ],
    ['bucket with circuitBreaker false', () => target({ bucket: 'b', circuitBreaker: false }), /bucket/],
    ['circuitBreaker null', () => target({ circuitBreaker: null }), /circuitBreaker/],
    ['circuitBreaker a word', () => target({ circuitBreaker: 'yes' }), /circuitBreaker/],
    ['neither invoke nor stream', () => target({ invoke: undefined }), /neither invoke nor stream/],
    ['an invoke that is no function', () => target({ invoke: 5 }), /invoke is 5/],
    ['no targets', () => gear({ targets: [] }), /targets is empty/],
    ['targets left out', () => gear({ targets: undefined }), /targets/],
    ['a target that is undefined', () => gear({ targets: [undefined] }), /targets\[0\]/],
    ['a target that is null', () => gear({ targets: [{ name: 'a', invoke }, null] }), /targets\[1\]/],
    ['a target that is false', () => gear({ targets: [false] }), /targets\[0\]/],
    ['an empty name', () => target({ name: '' }), /name/],
    ['a name that is no text', () => target({ name: 5 }), /name/],
    ['no options at all', () => createSwitchgear(undefined as never), /object/],
    [
      'two targets of one name',
      () =>
        gear({
          targets: [
            { name: 'a', invoke },
            { name: 'a', invoke },
          ],
        }),
      /Two targets are called 'a'/,
    ],
    [
      'a name that is another one by default',
      () => gear({ targets: [{ invoke }, { name: 'primary', invoke }] }),
      /'primary'/,
    ],
    [
      'other options for a known bucket',
      () =>
        gear({
          targets: [
            { name: 'a', invoke, bucket: 'x', circuitBreaker: { threshold: 2 } },
            { name: 'b', invoke, bucket: 'x', circuitBreaker: { threshold: 3 } },
          ],
        }),
      /'b' gives the bucket 'x' other options than 'a'/,
    ],
    [
      'other options for a bucket that is a target of its own name',
      () =>
        gear({
          targets: [
            { name: 'a', invoke, bucket: 'b', circuitBreaker: { threshold: 2 } },
            { name: 'b', invoke, circuitBreaker: true },
          ],
        }),
      /bucket 'b'/,
    ],
    [
      'a list that names no target',
      () => gear({ contextWindowFallbacks: { a: ['nobody'] } }),
      /contextWindowFallbacks names 'nobody'.*Known targets: a/,
    ],
    [
      'a list for no target',
      () => gear({ contentPolicyFallbacks: { nobody: ['a'] } }),
      /contentPolicyFallbacks names 'nobody'/,
    ],
    ['a list that is a word', () => gear({ contextWindowFallbacks: { a: 'a' } }), /contextWindowFallbacks/],
    ['a list that is null', () => gear({ contextWindowFallbacks: { a: null } }), /contextWindowFallbacks/],
    ['nonRetryableStatus that is no list', () => target({ nonRetryableStatus: 429 }), /nonRetryableStatus/],
    ['onEvent that is no function', () => gear({ onEvent: {} }), /onEvent/],
    ['retryBudget true', () => gear({ retryBudget: true }), /retryBudget/],
    ['a snapshot of another version', () => breaker({ snapshot: { version: 2 } }), /snapshot/],
    ['snapshots of another version', () => gear({ snapshots: { a: {} } }), /snapshots\.a/],
    ['shouldCount that is no function', () => breaker({ shouldCount: true }), /shouldCount/],
    ['stackTraces that is no boolean', () => breaker({ stackTraces: 'yes' }), /stackTraces/],
    [
      'other options for a known name of a registry',
      () => {
        const registry = createBreakerRegistry({ clock: new VirtualClock() })
        registry.get('a', { threshold: 2 })
        registry.get('a', { threshold: 3 })
      },
      /'a' is known with other options/,
    ],
  ]

  it.each(cases)('%s', (_rule, run, text) => {
    const error = thrownBy(run)
    expect(error).toBeInstanceOf(ConfigError)
    expect(error.message).toMatch(text)
    expect(error).toMatchObject({ code: 'ERR_CONFIG' })
  })

  it("a target's own circuit and one isolated by model never share a breaker behind each other's back", () => {
    const make = () =>
      gear({
        targets: [
          { name: 'a/x', invoke, circuitBreaker: { threshold: 2 } },
          { name: 'a', model: 'x', invoke, circuitBreaker: { threshold: 3, isolateByModel: true } },
        ],
      })
    let made: ReturnType<typeof make>
    try {
      made = make()
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError)
      return
    }
    made.openCircuit({ name: 'a' })
    expect(made.getCircuitState({ name: 'a/x' })).toBe('closed')
  })
})

describe('warnings', () => {
  it.each([
    [1000, 1000, 1],
    [1001, 1000, 0],
    [undefined, 1000, 0],
  ])('deadlineMs %s beside timeoutMs %s: %i warning', (deadlineMs, timeoutMs, n) => {
    const warned: string[] = []
    const logger = { info() {}, error() {}, warn: (_fields: object, text: string) => void warned.push(text) }
    gear({
      logger,
      ...(deadlineMs !== undefined && { deadlineMs }),
      targets: [{ name: 'slow', invoke, timeoutMs }],
    })
    expect(warned).toHaveLength(n)
    if (n > 0) expect(warned[0]).toContain("'slow'")
  })
})
