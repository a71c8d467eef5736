import { describe, expect, it } from 'vitest'
import type { CircuitBreaker } from '../../src/core/circuit-breaker.ts'
import { ConfigError, SwitchgearError } from '../../src/core/errors.ts'
import { createBreakerRegistry } from '../../src/core/registry.ts'
import type { RegistryOptions } from '../../src/core/registry.ts'
import type { TrippingPolicy } from '../../src/core/tripping-options.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

function setUp(options: RegistryOptions = {}) {
  // a threshold of its own would conflict with a tripping policy
  const rules = options.tripping === undefined ? { threshold: 2 } : {}
  const clock = new VirtualClock()
  const warnings: [object, string][] = []
  const logger = {
    info: () => {},
    warn: (fields: object, message: string) => void warnings.push([fields, message]),
    error: (fields: object, message: string) => void warnings.push([fields, message]),
  }
  const registry = createBreakerRegistry({ ...rules, cooldownMs: 1000, clock, logger, ...options })
  /** Gets breakers, each a millisecond younger than the one before. */
  const fill = (...names: string[]) =>
    names.map((name) => {
      clock.advance(1)
      return registry.get(name)
    })
  return { clock, registry, warnings, fill }
}

function fail(breaker: CircuitBreaker, times = 1): void {
  for (let i = 0; i < times; i++) {
    const permit = breaker.tryAcquire()
    if (permit.admitted) breaker.settle(permit, { outcome: 'failure', failure: 'server_error' })
  }
}

describe('one name, one breaker', () => {
  it('the same name gives the same breaker, with the same options or none', () => {
    const { registry } = setUp()
    const crm = registry.get('crm', { cooldownMs: 50 })
    expect(registry.get('crm')).toBe(crm)
    expect(registry.get('crm', { cooldownMs: 50 })).toBe(crm)
    // the defaults count as given
    expect(registry.get('crm', { cooldownMs: 50, threshold: 2 })).toBe(crm)
    expect(registry.get('erp')).not.toBe(crm)
    expect([registry.names(), registry.size]).toEqual([['crm', 'erp'], 2])
  })

  it.each([
    {},
    { cooldownMs: 51 },
    { cooldownMs: 50, threshold: 3 },
    { cooldownMs: 50, halfOpenProbes: 2 },
    { cooldownMs: 50, kinds: { auth: { immediateOpen: true } } },
  ])('other options for a known name are a ConfigError: %o', (options) => {
    const { registry } = setUp()
    const crm = registry.get('crm', { cooldownMs: 50 })
    expect(() => registry.get('crm', options)).toThrow(ConfigError)
    expect(() => registry.get('crm', options)).toThrow("'crm' is known with other options")
    // and the known one goes on
    expect(registry.get('crm')).toBe(crm)
    expect(registry.size).toBe(1)
  })

  it('compares options by value, own policies and hooks by identity', () => {
    const { registry } = setUp({ threshold: Infinity })
    const kinds = () => ({ auth: { immediateOpen: true } })
    const onStateChange = () => {}
    const crm = registry.get('crm', { kinds: kinds(), onStateChange })
    expect(registry.get('crm', { kinds: kinds(), onStateChange })).toBe(crm)
    expect(() => registry.get('crm', { kinds: kinds(), onStateChange: () => {} })).toThrow(ConfigError)
  })

  it('the defaults hold for each, and own options go before them', () => {
    const { registry } = setUp()
    const usual = registry.get('usual')
    const touchy = registry.get('touchy', { threshold: 1 })
    fail(usual)
    fail(touchy)
    expect([usual.state, touchy.state]).toEqual(['closed', 'open'])
    fail(usual)
    expect(usual.state).toBe('open')
  })

  it('tells onStateChange of the breaker', () => {
    const told: unknown[] = []
    const { registry } = setUp({
      onStateChange: (from, to, failures, _model, { bucket }) => void told.push([bucket, from, to, failures]),
    })
    fail(registry.get('crm'), 2)
    expect(told).toEqual([['crm', 'closed', 'open', 2]])
  })

  it.each([{ maxBuckets: 0 }, { maxBuckets: 1.5 }, { idleMs: 0 }, { idleMs: Number.NaN }, { threshold: 0 }])(
    'refuses %o at construction',
    (options) => {
      expect(() => setUp(options)).toThrow(RangeError)
    },
  )

  it('refuses an unknown option at construction, and of a breaker when it is asked for', () => {
    const typo: Record<string, unknown> = { treshold: 3 }
    expect(() => setUp(typo)).toThrow(ConfigError)
    const { registry } = setUp()
    expect(() => registry.get('crm', typo)).toThrow(ConfigError)
    expect(registry.size).toBe(0)
  })
})

describe('at most maxBuckets', () => {
  it('of idle closed ones the one that was used longest ago goes first', () => {
    const { registry, fill } = setUp({ maxBuckets: 3 })
    fill('a', 'b', 'c', 'a', 'd')
    expect(registry.names()).toEqual(['a', 'c', 'd'])
    fill('e')
    expect(registry.names()).toEqual(['a', 'd', 'e'])
    expect(registry.size).toBe(3)
  })

  it('idle goes before closed with failures, closed before open, and a known name needs no room', () => {
    const { registry, fill } = setUp({ maxBuckets: 3 })
    const [open, failing] = fill('open', 'failing', 'idle')
    fail(open!, 2)
    fail(failing!, 1)
    fill('next')
    expect(registry.names()).toEqual(['open', 'failing', 'next'])
    fail(registry.get('next'), 2)
    fill('last')
    expect(registry.names()).toEqual(['open', 'next', 'last'])
    fill('open', 'next', 'last')
    expect(registry.size).toBe(3)
  })

  it('where all are open the one that was used longest ago goes', () => {
    const { registry, fill } = setUp({ maxBuckets: 2 })
    for (const breaker of fill('a', 'b')) fail(breaker, 2)
    fill('a', 'c')
    expect(registry.names()).toEqual(['a', 'c'])
  })

  it('a half-open one goes no sooner than a closed one', () => {
    const { registry, fill, clock } = setUp({ maxBuckets: 2 })
    const [half, failing] = fill('half', 'failing')
    fail(half!, 2)
    clock.advance(1000)
    expect(half!.state).toBe('half-open')
    fail(failing!)
    fill('next')
    expect(registry.names()).toEqual(['half', 'next'])
  })

  it('a degraded one flows: it goes before an open one', () => {
    const { registry, fill } = setUp({ maxBuckets: 2, threshold: 3, degradation: { at: 0.6 } })
    const [open, degraded] = fill('open', 'degraded')
    fail(open!, 3)
    fail(degraded!, 2)
    expect(degraded!.state).toBe('degraded')
    fill('next')
    expect(registry.names()).toEqual(['open', 'next'])
  })

  it('a held one never goes, held open or held closed', () => {
    const { registry, fill } = setUp({ maxBuckets: 3 })
    const [shut, kept, open] = fill('shut', 'kept', 'open')
    shut!.open({ hold: true })
    kept!.close({ hold: true })
    fail(open!, 2)
    fill('next')
    expect(registry.names()).toEqual(['shut', 'kept', 'next'])
    fail(kept!, 5)
    fill('again')
    expect(registry.names()).toEqual(['shut', 'kept', 'again'])
  })

  it('with nothing but held ones the registry is full, and says so', () => {
    const { registry, fill } = setUp({ maxBuckets: 2 })
    const [shut, other] = fill('shut', 'other')
    shut!.open({ hold: true })
    other!.open({ hold: true })
    const full = expect.objectContaining({ code: 'ERR_REGISTRY_FULL' })
    expect(() => registry.get('next')).toThrow(SwitchgearError)
    expect(() => registry.get('next')).toThrow(full)
    expect(registry.names()).toEqual(['shut', 'other'])
    expect(registry.get('shut')).toBe(shut)
    other!.close()
    registry.get('next')
    expect(registry.names()).toEqual(['shut', 'next'])
  })

  it('where one is held closed the registry is full as well', () => {
    const { registry, fill } = setUp({ maxBuckets: 1 })
    fill('kept')[0]!.close({ hold: true })
    expect(() => registry.get('next')).toThrow(expect.objectContaining({ code: 'ERR_REGISTRY_FULL' }))
  })
})

describe('idleMs', () => {
  it('a closed one that was not used for so long makes room, before there is need', () => {
    const { registry, clock } = setUp({ idleMs: 100 })
    registry.get('old')
    clock.advance(1)
    registry.get('young')
    clock.advance(98)
    registry.get('a')
    expect(registry.names()).toEqual(['old', 'young', 'a'])
    clock.advance(1)
    registry.get('b')
    expect(registry.names()).toEqual(['young', 'a', 'b'])
  })

  it('not one that knows something: failures, an open circuit, a hold', () => {
    const { registry, fill, clock } = setUp({ idleMs: 100, cooldownMs: 60_000 })
    const [open, failing, held] = fill('open', 'failing', 'held')
    fail(open!, 2)
    fail(failing!)
    held!.close({ hold: true })
    clock.advance(1000)
    fill('next')
    expect(registry.names()).toEqual(['open', 'failing', 'held', 'next'])
  })

  it('Infinity = never', () => {
    const { registry, clock } = setUp({ idleMs: Infinity })
    registry.get('old')
    clock.advance(1e12)
    registry.get('new')
    expect(registry.size).toBe(2)
  })
})

describe('an evicted breaker that somebody still holds', () => {
  const evicted = () => {
    const all = setUp({ maxBuckets: 1, cooldownMs: 5000 })
    const [old] = all.fill('old')
    fail(old!, 2)
    all.fill('new')
    return { ...all, old: old! }
  }

  it('fails open, and warns once', async () => {
    const { old, warnings } = evicted()
    const before = warnings.length
    expect(old.tryAcquire().admitted).toBe(true)
    expect(await old.execute(async () => 'through')).toBe('through')
    fail(old, 5)
    expect(old.tryAcquire().admitted).toBe(true)
    const told = warnings.slice(before)
    expect(told).toHaveLength(1)
    expect(told[0]![0]).toMatchObject({ bucket: 'old' })
    expect(told[0]![1]).toContain('evicted')
  })

  it('says beforehand what it will say', () => {
    const { old } = evicted()
    expect(old.canExecute()).toBe(true)
  })

  it('leaves no timer behind, and takes no commands', () => {
    const { old, clock } = evicted()
    expect(clock.pending).toBe(0)
    old.open({ hold: true })
    old.close()
    expect(old.tryAcquire().admitted).toBe(true)
    expect(clock.pending).toBe(0)
  })

  it('a visit that was under way can still report', () => {
    const { registry, fill } = setUp({ maxBuckets: 1 })
    const [old] = fill('old')
    const permit = old!.tryAcquire()
    fill('new')
    expect(registry.names()).toEqual(['new'])
    if (!permit.admitted) return expect.unreachable()
    old!.settle(permit, { outcome: 'failure', failure: 'server_error' })
    expect(old!.stats.failure).toBe(1)
  })

  it('its name begins anew', () => {
    const { registry, old, fill } = evicted()
    const [anew] = fill('old')
    expect(anew).not.toBe(old)
    expect(anew!.state).toBe('closed')
    expect(registry.names()).toEqual(['old'])
  })
})

describe('a tripping policy of the user', () => {
  it('is told to forget the bucket that is evicted, once, and of each at the end', () => {
    const forgotten: string[] = []
    const policy = (name: string): TrippingPolicy => ({
      onSuccess: () => {},
      onFailure: () => false,
      reset: () => {},
      forget: (key) => void forgotten.push(`${name}/${key}`),
    })
    const clock = new VirtualClock()
    const registry = createBreakerRegistry({ maxBuckets: 1, clock })
    const old = registry.get('old', { tripping: policy('old') })
    registry.get('new', { tripping: policy('new') })
    expect(forgotten).toEqual(['old/all'])
    old.dispose()
    registry.close()
    expect(forgotten).toEqual(['old/all', 'new/all'])
  })

  it('whose forget throws hurts nobody', () => {
    const { registry, warnings } = setUp({ maxBuckets: 1, tripping: { kind: 'consecutive' } })
    const tripping: TrippingPolicy = {
      onSuccess: () => {},
      onFailure: () => false,
      reset: () => {},
      forget: () => {
        throw new Error('no memory')
      },
    }
    registry.get('old', { tripping })
    registry.get('new')
    expect(registry.names()).toEqual(['new'])
    expect(warnings.at(-1)![1]).toContain('no memory')
  })

  it('needs no forget', () => {
    const registry = createBreakerRegistry({ maxBuckets: 1, clock: new VirtualClock() })
    registry.get('old', { tripping: { onSuccess() {}, onFailure: () => true, reset() {} } })
    registry.get('new')
    expect(registry.names()).toEqual(['new'])
  })
})

describe('the end', () => {
  it('lets go of everything, and what is still held fails open', () => {
    const { registry, clock, fill } = setUp()
    const [crm] = fill('crm')
    fail(crm!, 2)
    expect(clock.pending).toBe(1)
    {
      using closing = registry
      expect(closing.size).toBe(1)
    }
    expect(registry.size).toBe(0)
    expect(clock.pending).toBe(0)
    expect(crm!.tryAcquire().admitted).toBe(true)
  })
})
