import { describe, expect, it } from 'vitest'
import { ConfigError, createBreakerRegistry } from '../../src/index.ts'
import type { CircuitBreaker, RegistryOptions, TrippingPolicy } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { failing, rig, status } from '../support/rig.ts'
import { fate } from '../support/fate.ts'

function setUp(options: RegistryOptions = {}) {
  const clock = new VirtualClock(1_000_000)
  const warned: string[] = []
  const logger = { info() {}, error() {}, warn: (_: object, text: string) => void warned.push(text) }
  return { clock, warned, registry: createBreakerRegistry({ clock, logger, ...options }) }
}

function count(breaker: CircuitBreaker, outcome: 'success' | 'failure', times = 1): void {
  for (let i = 0; i < times; i++) {
    const permit = breaker.tryAcquire()
    if (permit.admitted) breaker.settle(permit, { outcome })
  }
}

describe('a name', () => {
  it('gives the same breaker every time', () => {
    const { registry } = setUp({ threshold: 3 })
    const breaker = registry.get('a')
    expect(registry.get('a')).toBe(breaker)
    expect(registry.get('a', {})).toBe(breaker)
    expect(registry.get('a', { threshold: 3 })).toBe(breaker)
    expect(registry.names()).toEqual(['a'])
    expect(registry.size).toBe(1)
  })

  it('with other options is an error, never a silent change', () => {
    const { registry } = setUp()
    registry.get('a', { threshold: 3, kinds: { auth: { threshold: 1 } } })
    expect(() => registry.get('a', { threshold: 4 })).toThrow(ConfigError)
    expect(() => registry.get('a', {})).toThrow(ConfigError)
    expect(() => registry.get('a', { threshold: 3, kinds: { auth: { threshold: 2 } } })).toThrow(/'a'/)
    expect(
      registry.get('a', { threshold: 3, kinds: { auth: { threshold: 1 } } }).options.policy,
    ).toMatchObject({
      rules: [{ threshold: 3 }],
    })
  })

  it('with options that come to the same is the same breaker', () => {
    const { registry } = setUp({ cooldownMs: 10 })
    const breaker = registry.get('a', { threshold: 1, degradation: { at: 0.6 } })
    const same = { threshold: 1, cooldownMs: 10, halfOpenProbes: undefined, degradation: { at: undefined } }
    expect(registry.get('a', same as never)).toBe(breaker)
  })

  it('its own options win over the defaults; wrong ones name it', () => {
    const { registry } = setUp({ threshold: 3, cooldownMs: 10 })
    expect(registry.get('a', { threshold: 7 }).options.policy).toMatchObject({
      rules: [{ kind: 'consecutive', threshold: 7 }],
      cooldownMs: 10,
    })
    expect(() => registry.get('b', { threshold: 0 })).toThrow(/^b\.threshold is 0/)
    expect(registry.names()).toEqual(['a'])
  })

  it.each(['constructor', 'toString', 'hasOwnProperty', ''])('may be %j', (name) => {
    const { registry } = setUp({ threshold: 1 })
    const breaker = registry.get(name)
    count(breaker, 'failure')
    expect(breaker.state).toBe('open')
    breaker.close()
    expect(registry.get(name).state).toBe('closed')
  })
})

describe('the name __proto__', () => {
  it('works or is refused as a name, as for a target', () => {
    const { registry } = setUp()
    let refused: unknown
    try {
      expect(registry.get('__proto__').state).toBe('closed')
    } catch (error) {
      refused = error
    }
    if (refused !== undefined) expect(refused).toBeInstanceOf(ConfigError)
    expect(registry.get('a').state).toBe('closed')
  })
})

describe('maxBuckets', () => {
  it('is kept, the one used longest ago goes first', () => {
    const { registry, clock } = setUp({ maxBuckets: 3 })
    for (const name of ['a', 'b', 'c', 'a', 'd']) {
      registry.get(name)
      clock.advance(1)
    }
    expect(registry.names()).toEqual(['a', 'c', 'd'])
    for (let i = 0; i < 5000; i++) registry.get(`bucket-${i}`)
    expect(registry.size).toBe(3)
    expect(Object.keys(registry.supervisor.getSnapshot().context.breakers)).toHaveLength(3)
    expect(Object.keys(registry.supervisor.getSnapshot().children)).toHaveLength(3)
  })

  it('a closed one without failures goes before a closed one with failures, that before an open one', () => {
    const { registry, clock } = setUp({ maxBuckets: 3 })
    registry.get('open').open()
    clock.advance(1)
    count(registry.get('failed'), 'failure')
    clock.advance(1)
    registry.get('clean')
    clock.advance(1)
    registry.get('d').open()
    expect(registry.names()).toEqual(['open', 'failed', 'd'])
    registry.get('e').open()
    expect(registry.names()).toEqual(['open', 'd', 'e'])
    registry.get('f')
    expect(registry.names()).toEqual(['d', 'e', 'f'])
  })

  it('a degraded one is closed: it goes before an open one', () => {
    const { registry, clock } = setUp({ maxBuckets: 2, degradation: {} })
    registry.get('open').open()
    clock.advance(1)
    count(registry.get('degraded'), 'failure', 3)
    expect(registry.get('degraded').state).toBe('degraded')
    clock.advance(1)
    registry.get('new')
    expect(registry.names()).toEqual(['open', 'new'])
  })

  it('a held one never goes, held open or held closed, used or not', () => {
    const { registry, clock } = setUp({ maxBuckets: 3 })
    registry.get('held open').open({ hold: true })
    clock.advance(1)
    registry.get('held closed').close({ hold: true })
    clock.advance(1)
    count(registry.get('c'), 'failure')
    clock.advance(1)
    for (const name of ['d', 'e']) {
      registry.get(name).open()
      clock.advance(1)
      expect(registry.names()).toEqual(['held open', 'held closed', name])
    }
  })

  it('full of held ones: the next name is refused with ERR_REGISTRY_FULL, the known ones are not', () => {
    const { registry, clock } = setUp({ maxBuckets: 2 })
    registry.get('a').open({ hold: true })
    registry.get('b').close({ hold: true, ttlMs: 100 })
    expect(() => registry.get('c')).toThrow(expect.objectContaining({ code: 'ERR_REGISTRY_FULL' }))
    expect(registry.get('a').state).toBe('open')
    clock.advance(100)
    expect(registry.get('c').state).toBe('closed')
    expect(registry.names()).toEqual(['a', 'c'])
  })
})

describe('idleMs', () => {
  it('idle closed ones go when room is looked for, those with evidence stay', () => {
    const { registry, clock } = setUp({ idleMs: 100 })
    registry.get('idle')
    count(registry.get('failed'), 'failure')
    registry.get('open').open()
    registry.get('held').close({ hold: true })
    clock.advance(99)
    registry.get('new')
    expect(registry.names()).toEqual(['idle', 'failed', 'open', 'held', 'new'])
    clock.advance(1)
    registry.get('newer')
    expect(registry.names()).toEqual(['failed', 'open', 'held', 'new', 'newer'])
  })

  it('a use starts it anew', () => {
    const { registry, clock } = setUp({ idleMs: 100 })
    registry.get('a')
    clock.advance(60)
    registry.get('a')
    clock.advance(60)
    registry.get('b')
    expect(registry.names()).toEqual(['a', 'b'])
  })
})

describe('an evicted breaker that somebody still holds', () => {
  it('warns once, names itself, fails open, and moves nothing', async () => {
    const { registry, clock, warned } = setUp({ maxBuckets: 1, threshold: 1 })
    const old = registry.get('a')
    clock.advance(1)
    registry.get('b')
    for (let i = 0; i < 5; i++) count(old, 'failure')
    await expect(old.execute(() => Promise.resolve('through'))).resolves.toBe('through')
    expect(old.canExecute()).toBe(true)
    expect(warned).toHaveLength(1)
    expect(warned[0]).toContain("'a'")
    expect(registry.names()).toEqual(['b'])
    old.open()
    old.close()
    old.dispose()
    expect(clock.pending).toBe(0)
  })

  it('one that was open fails open too, and says so beforehand', async () => {
    const { registry, clock } = setUp({ maxBuckets: 1, cooldownMs: 1000 })
    const old = registry.get('a')
    old.open()
    registry.get('b')
    expect(clock.pending).toBe(0)
    await expect(old.execute(() => Promise.resolve('through'))).resolves.toBe('through')
    expect(old.canExecute()).toBe(true)
  })

  it('the name gets a new breaker, with an empty meter', () => {
    const { registry, clock } = setUp({ maxBuckets: 1, threshold: 2 })
    const old = registry.get('a')
    count(old, 'failure')
    clock.advance(1)
    registry.get('b')
    clock.advance(1)
    const anew = registry.get('a')
    expect(anew).not.toBe(old)
    expect(anew.getStatus().failureCount).toBe(0)
  })
})

describe('forget() of a custom policy', () => {
  function policy(): TrippingPolicy & { readonly keys: Map<string, number> } {
    const keys = new Map<string, number>()
    return {
      keys,
      onSuccess: (key) => void keys.set(key, 0),
      onFailure: (key) => {
        keys.set(key, (keys.get(key) ?? 0) + 1)
        return false
      },
      reset: (key) => void keys.delete(key),
      forget: (key) => void keys.delete(key),
    }
  }
  const isolating = (tripping: TrippingPolicy) =>
    rig(
      [
        {
          invoke: (request) => (request === 'fail' ? Promise.reject(status(500)) : 'ok'),
          maxRetries: 0,
          circuitBreaker: { isolateByModel: true, tripping },
        },
      ],
      { maxBuckets: 2 },
    )

  it('is told of every evicted model, so that its own map is as bounded as the registry', async () => {
    const tripping = policy()
    const { gear, clock } = isolating(tripping)
    for (let i = 0; i < 20; i++) {
      await gear.call('ok', { model: `m${i}` })
      clock.advance(1)
    }
    expect([...tripping.keys.keys()]).toEqual(['m18', 'm19'])
  })

  it('an outcome that comes after it brings the key not back', async () => {
    const tripping = policy()
    const clock = new VirtualClock(1)
    const gate = Promise.withResolvers<string>()
    const { gear } = rig(
      [
        {
          invoke: (request) => (request === 'slow' ? gate.promise : 'ok'),
          maxRetries: 0,
          circuitBreaker: { isolateByModel: true, tripping },
        },
      ],
      { maxBuckets: 1, clock },
    )
    const slow = gear.call('slow', { model: 'old' })
    clock.advance(1)
    await gear.call('ok', { model: 'new' })
    gate.reject(status(500))
    await fate(slow)
    expect([...tripping.keys.keys()]).toEqual(['new'])
  })

  it('a forget() that throws hurts nobody', () => {
    const { registry } = setUp({
      maxBuckets: 1,
      tripping: {
        ...policy(),
        forget() {
          throw new Error('boom')
        },
      },
    })
    registry.get('a')
    expect(registry.get('b').state).toBe('closed')
  })
})

describe('close()', () => {
  it('leaves no timer, may be called twice, and is Symbol.dispose too', () => {
    const { registry, clock } = setUp({ degradation: {} })
    registry.get('open').open()
    registry.get('held').open({ hold: true, ttlMs: 1000 })
    count(registry.get('degraded'), 'failure', 3)
    expect(clock.pending).toBeGreaterThan(0)
    registry.close()
    registry.close()
    registry[Symbol.dispose]()
    expect(clock.pending).toBe(0)
    expect(registry.size).toBe(0)
  })

  it('afterwards a name is refused with an error of ours', () => {
    const { registry } = setUp()
    registry.close()
    expect(() => registry.get('a')).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
  })

  it('a switchgear too: commands on an isolating target after close() throw nothing strange', async () => {
    const { gear } = rig([{ invoke: failing('x'), circuitBreaker: { isolateByModel: true } }])
    await gear.close()
    let thrown: unknown
    try {
      gear.openCircuit({ model: 'm' })
    } catch (error) {
      thrown = error
    }
    expect(thrown === undefined || (thrown as { code?: string }).code === 'ERR_CLOSED').toBe(true)
  })
})
