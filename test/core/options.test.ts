import { describe, expect, it } from 'vitest'
import {
  ConfigError,
  createBreaker,
  createBreakerRegistry,
  createSwitchgear,
  llmDefaults,
  toolDefaults,
  withCircuitBreaker,
} from '../../src/index.ts'
import type { CircuitBreakerOptions, CommandOptions, SwitchgearOptions } from '../../src/index.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const ok = { invoke: () => 'ok' }
const breakerOf = (options: object) => () => resolveBreaker(options as CircuitBreakerOptions)
const gearOf = (options: object) => () => createSwitchgear(options as SwitchgearOptions)
const targetOf = (target: object, more: object = {}) => gearOf({ targets: [{ ...ok, ...target }], ...more })

const ROLLING = { kind: 'rolling', windowMs: 1000, minCalls: 2, failureRatio: 0.5 }
const LATENCY = { kind: 'latency', windowMs: 1000, minCalls: 2, slowMs: 10, slowRatio: 0.5 }
const tripping = (rule: object, more: object) => ({ tripping: { ...rule, ...more } })

/** How the option is called in the error, options with a value that is refused. */
type Refused = readonly [path: string, options: object]

const outOfRange: readonly Refused[] = [
  ...[0, -1, 1.5, NaN, -Infinity, '5', true].map((x): Refused => ['threshold', { threshold: x }]),
  ...[-1, NaN, Infinity, '30'].map((x): Refused => ['cooldownMs', { cooldownMs: x }]),
  ...[0, 1.5, NaN, Infinity, -1].map((x): Refused => ['halfOpenProbes', { halfOpenProbes: x }]),
  ...[0, -0.5, 1.01, NaN].map((x): Refused => ['halfOpenSuccessRatio', { halfOpenSuccessRatio: x }]),
  ...[0, 3, NaN].map((x): Refused => ['halfOpenConcurrency', { halfOpenProbes: 2, halfOpenConcurrency: x }]),
  ...[0, -1, NaN, Infinity].map((x): Refused => ['probeLeaseMs', { probeLeaseMs: x }]),
  ...[-1, NaN, Infinity].map((x): Refused => ['maxRetryAfterMs', { maxRetryAfterMs: x }]),
  ...[0, 1, NaN, 60].map((x): Refused => ['degradation.at', { degradation: { at: x } }]),
  ...[0.5, NaN, Infinity, undefined].map((x): Refused => [
    'cooldownBackoff.multiplier',
    { cooldownBackoff: { multiplier: x } },
  ]),
  ...[-1, NaN].map((x): Refused => [
    'cooldownBackoff.maxMs',
    { cooldownBackoff: { multiplier: 2, maxMs: x } },
  ]),
  ['cooldownBackoff.minMs', { cooldownBackoff: { multiplier: 2, maxMs: 10, minMs: 11 } }],
  ['kinds.auth.threshold', { kinds: { auth: { threshold: 0 } } }],
  ['kinds.auth.cooldownMs', { kinds: { auth: { cooldownMs: Infinity } } }],
  ...[0, 1.5, NaN, undefined].map((x): Refused => [
    'tripping.threshold',
    tripping({ kind: 'leaky' }, { threshold: x }),
  ]),
  ['tripping.threshold', tripping({ kind: 'consecutive' }, { threshold: 0 })],
  ...[0, 9, NaN, Infinity].map((x): Refused => ['tripping.windowMs', tripping(ROLLING, { windowMs: x })]),
  ...[-1, 1.5, NaN].map((x): Refused => ['tripping.minCalls', tripping(ROLLING, { minCalls: x })]),
  ...[0, 1.1, NaN].map((x): Refused => ['tripping.failureRatio', tripping(ROLLING, { failureRatio: x })]),
  ...[-1, NaN].map((x): Refused => ['tripping.slowMs', tripping(LATENCY, { slowMs: x })]),
  ...[0, 1.1, NaN].map((x): Refused => ['tripping.slowRatio', tripping(LATENCY, { slowRatio: x })]),
  ['tripping[1].failureRatio', { tripping: [{ kind: 'consecutive' }, { ...ROLLING, failureRatio: 2 }] }],
]

const wrongShape: readonly Refused[] = [
  ['tripping', { tripping: [] }],
  ['tripping', { tripping: 'consecutive' }],
  ['tripping', { tripping: { onSuccess() {}, onFailure: () => true } }],
  ['tripping.kind', { tripping: { kind: 'Consecutive' } }],
  ['tripping[0]', { tripping: [7] }],
  ['tripping.windowMs', { tripping: { kind: 'consecutive', windowMs: 10 } }],
  ['halfOpenVerdict', { halfOpenVerdict: 'soon' }],
  ['mode', { mode: 'off' }],
  ['cooldownBackoff', { cooldownBackoff: 2 }],
  ['cooldownBackoff.jitter', { cooldownBackoff: { multiplier: 2, jitter: true } }],
  ['cooldownBackoff.factor', { cooldownBackoff: { multiplier: 2, factor: 2 } }],
  ['degradation', { degradation: true }],
  ['degradation.share', { degradation: { share: 0.6 } }],
  ['kinds.auth', { kinds: { auth: 3 } }],
  ['kinds.auth.immediate', { kinds: { auth: { immediate: true } } }],
  ['kinds.auth.immediateOpen', { kinds: { auth: { immediateOpen: 'yes' } } }],
  ['isolateByModel', { isolateByModel: 'yes' }],
  ['stackTraces', { stackTraces: 1 }],
  ['shouldCount', { shouldCount: true }],
  ['onStateChange', { onStateChange: 'log' }],
  ['snapshot', { snapshot: { version: 2 } }],
]

const conflicts: readonly Refused[] = [
  ['threshold', { threshold: 3, tripping: ROLLING }],
  ['threshold', { threshold: 3, tripping: { kind: 'leaky', threshold: 2 } }],
  ['threshold', { threshold: 3, tripping: { kind: 'consecutive', threshold: 2 } }],
  ['threshold', { threshold: 3, tripping: { onSuccess() {}, onFailure: () => true, reset() {} } }],
]

describe('options of a breaker', () => {
  it('are complete without a word: the defaults', () => {
    expect(resolveBreaker()).toMatchObject({
      policy: {
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
      },
      probeLeaseMs: 60_000,
      isolateByModel: false,
      observe: false,
      stackTraces: false,
    })
    expect(resolveBreaker({ degradation: {} }).policy.degradedAt).toBe(0.6)
    expect(resolveBreaker({ halfOpenProbes: 4 }).policy.halfOpenConcurrency).toBe(4)
    expect(resolveBreaker({ cooldownBackoff: { multiplier: 2 } }).policy.backoff).toEqual({
      multiplier: 2,
      maxMs: Infinity,
      minMs: 0,
      jitter: 'full',
    })
  })

  it('accept the ends of their ranges', () => {
    const edges: CircuitBreakerOptions[] = [
      { threshold: Infinity },
      { threshold: 1, cooldownMs: 0, maxRetryAfterMs: 0, halfOpenSuccessRatio: 1 },
      { halfOpenSuccessRatio: Number.MIN_VALUE, halfOpenProbes: 3, halfOpenConcurrency: 3 },
      { tripping: { kind: 'rolling', windowMs: 10, minCalls: 0, failureRatio: 1 } },
      { tripping: { kind: 'latency', windowMs: 10, minCalls: 0, slowMs: 0, slowRatio: 1 } },
      { tripping: { kind: 'leaky', threshold: Infinity } },
      { threshold: 3, tripping: { kind: 'consecutive' } },
      { threshold: 3, tripping: [{ kind: 'leaky', threshold: 2 }, { kind: 'consecutive' }] },
      { cooldownBackoff: { multiplier: 1, maxMs: Infinity } },
      { kinds: { auth: { threshold: Infinity, cooldownMs: 0, immediateOpen: false } } },
      llmDefaults,
      toolDefaults,
    ]
    for (const options of edges) expect(() => resolveBreaker(options)).not.toThrow()
  })

  it.each(outOfRange)('out of range is a RangeError that names option, value and range: %s %j', (path, o) => {
    let thrown: unknown
    try {
      resolveBreaker(o, 'circuitBreaker')
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(RangeError)
    const { message } = thrown as RangeError
    expect(message).toMatch(/^circuitBreaker\.\S+ is .+; it must be (a number|an integer) .+\.$/)
    expect(message.startsWith(`circuitBreaker.${path} is `)).toBe(true)
  })

  it.each([...wrongShape, ...conflicts])(
    'a word, a shape or a conflict is a ConfigError that names it: %s %j',
    (path, options) => {
      expect(breakerOf(options)).toThrow(ConfigError)
      expect(breakerOf(options)).toThrow(path)
    },
  )

  it.each([
    'threshold',
    'cooldownMs',
    'halfOpenProbes',
    'probeLeaseMs',
    'maxRetryAfterMs',
    'tripping',
    'mode',
  ])('null is no value, not the default: %s', (key) => {
    expect(breakerOf({ [key]: null })).toThrow(/null/)
  })

  it('kinds that are null are refused as an option, not as a crash', () => {
    expect(breakerOf({ kinds: null })).toThrow(ConfigError)
  })

  it('a misspelt option gets the one that was meant', () => {
    expect(breakerOf({ treshold: 3 })).toThrow(/treshold.*Did you mean 'threshold'/)
    expect(breakerOf({ cooldownMS: 3 })).toThrow(/Did you mean 'cooldownMs'/)
    expect(() => createBreaker({ halfOpenProbe: 3 } as object)).toThrow(/Did you mean 'halfOpenProbes'/)
  })
})

describe('options of a target', () => {
  const numbers: readonly Refused[] = [
    ...[0, -1, NaN, '5'].flatMap((x): Refused[] => [
      ['timeoutMs', { timeoutMs: x }],
      ['firstContentTimeoutMs', { firstContentTimeoutMs: x }],
      ['idleTimeoutMs', { idleTimeoutMs: x }],
    ]),
    ...[-1, 1.5, NaN, Infinity].map((x): Refused => ['maxRetries', { maxRetries: x }]),
    ['retry.baseMs', { retry: { baseMs: -1 } }],
    ['retry.multiplier', { retry: { multiplier: 0.5 } }],
    ['retry.maxMs', { retry: { maxMs: NaN } }],
    ['timeoutMs', { timeoutMs: null }],
    ['circuitBreaker.threshold', { circuitBreaker: { threshold: 0 } }],
  ]
  it.each(numbers)('out of range is a RangeError with the place in the list: %s %j', (path, target) => {
    expect(targetOf(target)).toThrow(RangeError)
    expect(targetOf(target)).toThrow(`targets[0].${path} is `)
  })

  const shapes: readonly Refused[] = [
    ['Did you mean', { timeoutMS: 5 }],
    ['Did you mean', { circuitbreaker: true }],
    ['retry.max', { retry: { max: 3 } }],
    ['circuitBreaker', { circuitBreaker: null }],
    ['circuitBreaker', { circuitBreaker: 'on' }],
    ['name', { name: '' }],
    ['name', { name: 5 }],
    ['model', { model: '' }],
    ['bucket', { bucket: '', circuitBreaker: true }],
    ['bucket is given without circuitBreaker', { bucket: 'shared' }],
    ['bucket is given without circuitBreaker', { bucket: 'shared', circuitBreaker: false }],
    ['surface', { surface: 'mcp' }],
    ['invoke', { invoke: 'post' }],
    ['stream', { stream: true }],
    ['classifyPart', { classifyPart: 'content' }],
    ['isEmpty', { isEmpty: false }],
    ['classify', { classify: {} }],
    ['nonRetryableStatus', { nonRetryableStatus: 500 }],
    ['nonRetryableStatus', { nonRetryableStatus: '500' }],
  ]
  it.each(shapes)('anything else that cannot work is a ConfigError: %s %j', (text, target) => {
    expect(targetOf(target)).toThrow(ConfigError)
    expect(targetOf(target)).toThrow(text)
  })

  it('neither invoke nor stream cannot work', () => {
    expect(gearOf({ targets: [{ name: 'a' }] })).toThrow(/targets\[0\] has neither invoke nor stream/)
  })

  it('Infinity switches a limit off', () => {
    expect(targetOf({ timeoutMs: Infinity, firstContentTimeoutMs: Infinity })).not.toThrow()
  })
})

describe('options of a switchgear', () => {
  it.each([[[]], [undefined], [null], ['a'], [{}], [[null]], [[undefined]], [['a']]])(
    'targets that are none are a ConfigError: %j',
    (targets) => {
      expect(gearOf({ targets })).toThrow(ConfigError)
    },
  )

  it('two targets of one name are a ConfigError, a given name like a default one too', () => {
    expect(
      gearOf({
        targets: [
          { ...ok, name: 'a' },
          { ...ok, name: 'a' },
        ],
      }),
    ).toThrow(ConfigError)
    expect(gearOf({ targets: [ok, { ...ok, name: 'primary' }] })).toThrow(/primary/)
  })

  it('other options for a known bucket are a ConfigError, the same ones are not', () => {
    const of = (a: object, b: object) =>
      gearOf({
        targets: [
          { ...ok, name: 'a', bucket: 'openai', circuitBreaker: a },
          { ...ok, name: 'b', bucket: 'openai', circuitBreaker: b },
        ],
      })
    expect(of({ threshold: 3 }, { threshold: 4 })).toThrow(/'b'.*'openai'.*'a'/)
    expect(of({ threshold: 3 }, { threshold: 3 })).not.toThrow()
    expect(of({ kinds: { auth: { threshold: 1 } } }, { kinds: { auth: { threshold: 1 } } })).not.toThrow()
  })

  it('a bucket that is the name of another target shares its breaker, so its options must be the same', () => {
    const targets = [
      { ...ok, name: 'a', circuitBreaker: { threshold: 3 } },
      { ...ok, name: 'b', bucket: 'a', circuitBreaker: { threshold: 4 } },
    ]
    expect(gearOf({ targets })).toThrow(ConfigError)
  })

  const lists: readonly object[] = [
    { a: ['nobody'] },
    { nobody: ['a'] },
    { a: 'bb' },
    { a: 'b' },
    { a: null },
    { a: { 0: 'b' } },
    [['a']],
  ]
  it.each(lists)('a list that names no target, or is none, is a ConfigError that says so: %j', (list) => {
    const targets = ['a', 'b', 'bb'].map((name) => ({ ...ok, name }))
    for (const key of ['contextWindowFallbacks', 'contentPolicyFallbacks']) {
      const make = gearOf({ targets, [key]: list })
      expect(make).toThrow(ConfigError)
      expect(make).toThrow(key)
    }
    if ('a' in list && list.a === 'bb') {
      expect(gearOf({ targets, contextWindowFallbacks: list })).not.toThrow(/names 'b'/)
    }
  })

  const others: readonly Refused[] = [
    ['fallbackOn', { fallbackOn: 'next' }],
    ['detectSoftFailure', { detectSoftFailure: true }],
    ['onStateChange', { onStateChange: {} }],
    ['onEvent', { onEvent: [] }],
    ['whenAllOpen', { whenAllOpen: 'wait' }],
    ['whenAllOpen.waitMS', { whenAllOpen: { waitMS: 3 } }],
    ['retryBudget', { retryBudget: true }],
    ['retryBudget.tokens', { retryBudget: { tokens: 3 } }],
    ['contextWindowFallbacks', { contextWindowFallbacks: null }],
    ['snapshots', { snapshots: null }],
    ['snapshots', { snapshots: 'x' }],
    ['snapshots.a', { snapshots: { a: {} } }],
    ['Did you mean', { fallbackon: () => 'next' }],
  ]
  it.each(others)('a wrong word or shape is a ConfigError that names it: %s %j', (text, options) => {
    expect(targetOf({}, options)).toThrow(ConfigError)
    expect(targetOf({}, options)).toThrow(text)
  })

  it.each([
    ['clock', { clock: {} }],
    ['logger', { logger: {} }],
    ['journal', { journal: {} }],
    ['random', { random: 5 }],
  ])('a runtime that cannot work is refused at construction: %s', (key, options) => {
    expect(targetOf({}, options)).toThrow(ConfigError)
    expect(targetOf({}, options)).toThrow(key)
    expect(() => createBreaker(options as object)).toThrow(key)
  })

  const numbers: readonly Refused[] = [
    ...[0, -1, NaN, Infinity, '5', null].map((x): Refused => ['deadlineMs', { deadlineMs: x }]),
    ...[-1, NaN, Infinity].map((x): Refused => ['whenAllOpen.waitMs', { whenAllOpen: { waitMs: x } }]),
    ...[-1, NaN].map((x): Refused => ['retryBudget.capacity', { retryBudget: { capacity: x } }]),
    ...[-1, NaN].map((x): Refused => ['retryBudget.perCall', { retryBudget: { perCall: x } }]),
    ...[0, 1.5, NaN, Infinity].map((x): Refused => ['maxBuckets', { maxBuckets: x }]),
    ...[0, NaN].map((x): Refused => ['idleMs', { idleMs: x }]),
  ]
  it.each(numbers)('out of range is a RangeError: %s %j', (path, options) => {
    expect(targetOf({}, options)).toThrow(RangeError)
    expect(targetOf({}, options)).toThrow(`${path} is `)
  })

  it('deadlineMs ≤ timeoutMs warns at construction, a longer one does not', () => {
    const warned: string[] = []
    const logger = { info() {}, error() {}, warn: (_: object, text: string) => void warned.push(text) }
    targetOf({ timeoutMs: 1000 }, { deadlineMs: 1001, logger })()
    expect(warned).toEqual([])
    targetOf({ timeoutMs: 1000 }, { deadlineMs: 1000, logger })()
    expect(warned).toHaveLength(1)
    expect(warned[0]).toMatch(/deadlineMs \(1000\).*timeoutMs of 'primary' \(1000\)/)
  })
})

describe('options of a registry, a decorator, a command', () => {
  it('a registry refuses unknown options and knows its own when it says what was meant', () => {
    const of = (options: object) => () => createBreakerRegistry(options)
    expect(of({ maxBuckets: 0 })).toThrow(RangeError)
    expect(of({ threshold: 0 })).toThrow(RangeError)
    expect(of({ maxBucket: 5 })).toThrow(/Did you mean 'maxBuckets'/)
  })

  it('a decorator speaks of its options by the names they were given under', () => {
    const of = (options: object) => () => withCircuitBreaker(async () => 'x', options)
    expect(of({ failureThreshold: NaN })).toThrow(RangeError)
    expect(of({ failureThreshold: NaN })).toThrow(/failureThreshold is NaN/)
    expect(of({ halfOpenSuccessThreshold: 0 })).toThrow(/halfOpenSuccessThreshold is 0/)
    expect(of({ failureTreshold: 3 })).toThrow(/Did you mean 'failureThreshold'/)
  })

  it('a decorator refuses two names for one thing', () => {
    const of = (options: object) => () => withCircuitBreaker(async () => 'x', options)
    expect(of({ failureThreshold: 3, threshold: 3 })).toThrow(ConfigError)
    expect(of({ halfOpenSuccessThreshold: 3, halfOpenProbes: 3 })).toThrow(ConfigError)
  })

  it('a command refuses ttlMs without hold, a ttlMs out of range, and an unknown key', () => {
    const breaker = createBreaker({ clock: new VirtualClock() })
    const open = (options: object) => () => breaker.open(options as CommandOptions)
    expect(open({ ttlMs: 5 })).toThrow(ConfigError)
    expect(open({ hold: false, ttlMs: 5 })).toThrow(ConfigError)
    for (const ttlMs of [0, -1, NaN, Infinity]) expect(open({ hold: true, ttlMs })).toThrow(RangeError)
    expect(open({ hold: 'yes' })).toThrow(ConfigError)
    expect(open({ why: 'x' })).toThrow(/why/)
    expect(breaker.state).toBe('closed')
  })

  it('an operator’s words are cut to their length and kept', () => {
    const breaker = createBreaker({ clock: new VirtualClock() })
    breaker.open({ reason: 'r'.repeat(500), by: 'b'.repeat(500) })
    expect(breaker.getStatus().cause).toMatchObject({ reason: 'r'.repeat(200), by: 'b'.repeat(100) })
    breaker.close()
    expect(breaker.getStatus().cause).toMatchObject({ by: 'operator' })
  })

  it('options are read once: what changes afterwards has no effect', () => {
    const options = {
      threshold: 1,
      kinds: { auth: { threshold: 1 } },
      tripping: [{ kind: 'leaky' as const, threshold: 2 }],
    }
    const { threshold: _, ...rest } = options
    const breaker = createBreaker({ ...rest, clock: new VirtualClock() })
    rest.tripping[0]!.threshold = 1
    const permit = breaker.tryAcquire()
    if (permit.admitted) breaker.settle(permit, { outcome: 'failure' })
    expect(breaker.state).toBe('closed')
  })
})
