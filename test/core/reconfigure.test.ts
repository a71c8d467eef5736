import { describe, expect, it } from 'vitest'
import { errorOf, fate } from '../support/fate.ts'
import { answer, failing, rig, status } from '../support/rig.ts'
import type { Target } from '../support/rig.ts'

const RULES = { threshold: 3, cooldownMs: 10_000 }
const target = (name: string, invoke: Target['invoke'], more: Partial<Target> = {}): Target => ({
  name,
  ...(invoke !== undefined && { invoke }),
  maxRetries: 0,
  circuitBreaker: RULES,
  ...more,
})
const down = failing(status(500))

describe('a switchgear is given other rules while it runs', () => {
  it('a circuit whose options did not change keeps state and counters', async () => {
    const { gear } = rig([target('a', down), target('b', answer('from b'))])
    await gear.call('x')
    await gear.call('x')
    gear.reconfigure({ targets: [target('new', answer('from new')), target('a', down)] })
    expect(gear.getStatus({ name: 'a' })).toMatchObject({ state: 'closed', consecutiveFailures: 2 })
    expect(await gear.call('x', { targets: ['a', 'new'] })).toBe('from new')
    expect(gear.getCircuitState({ name: 'a' })).toBe('open')
    expect(() => gear.getStatus({ name: 'b' })).toThrow(RangeError)
  })

  it('a circuit with other options goes on in its state, under the new ones', async () => {
    const { gear, clock } = rig([target('a', down)])
    gear.openCircuit()
    gear.reconfigure({ targets: [target('a', answer('ok'), { circuitBreaker: { ...RULES, threshold: 1 } })] })
    expect(gear.getCircuitState()).toBe('open')
    clock.advance(10_000)
    expect(await gear.call('x')).toBe('ok')
    gear.reconfigure({ targets: [target('a', down, { circuitBreaker: { ...RULES, threshold: 1 } })] })
    await errorOf(gear.call('x'))
    expect(gear.getCircuitState()).toBe('open')
  })

  it('a call under way ends where it began, its retry included', async () => {
    let asked = 0
    const slow = () => (++asked === 1 ? Promise.reject(status(503)) : Promise.resolve('from the old one'))
    const { gear, clock } = rig([target('a', slow, { maxRetries: 1, retry: { baseMs: 100 } })])
    const call = gear.call('x')
    expect(await fate(call)).toBe('pending')
    gear.reconfigure({ targets: [target('a', answer('from the new one'))] })
    expect(await gear.call('y')).toBe('from the new one')
    clock.advance(1000)
    expect(await fate(call)).toEqual({ value: 'from the old one' })
  })

  it('a call under way whose target is gone ends all the same, and close() waits for it', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const { gear } = rig([target('a', () => promise)])
    const call = gear.call('x')
    gear.reconfigure({ targets: [target('b', answer('from b'))] })
    const closed = gear.close()
    expect(await fate(closed)).toBe('pending')
    resolve('from a')
    expect(await fate(call)).toEqual({ value: 'from a' })
    expect(await fate(closed)).toEqual({ value: undefined })
  })

  it('a stream that was not read yet begins under the rules in force', async () => {
    const part = (text: string) =>
      async function* stream() {
        yield await Promise.resolve(text)
      }
    const { gear } = rig([target('a', undefined, { stream: part('old') })])
    const stream = gear.stream('x')
    gear.reconfigure({ targets: [target('a', undefined, { stream: part('new') })] })
    expect(await stream.next()).toEqual({ done: false, value: 'new' })
  })

  it('isolated circuits go on, too, and those of a target that is gone are let go', async () => {
    const isolating = { circuitBreaker: { ...RULES, isolateByModel: true } }
    const { gear } = rig([target('a', down, isolating), target('b', down, isolating)])
    await errorOf(gear.call('x', { model: 'm' }))
    gear.reconfigure({ targets: [target('a', down, isolating)] })
    expect(gear.getStatus({ name: 'a', model: 'm' })).toMatchObject({ consecutiveFailures: 1 })
    expect(Object.keys(gear.snapshots())).toEqual(['a/m'])
  })

  it('listeners and metrics go on', async () => {
    const { gear } = rig([target('a', down)])
    const heard: string[] = []
    gear.on('transition', ({ to }) => heard.push(to))
    await errorOf(gear.call('x'))
    gear.reconfigure({ targets: [target('a', down)] })
    await errorOf(gear.call('x'))
    await errorOf(gear.call('x'))
    expect(heard).toEqual(['open'])
    const { breakers, targets, calls } = gear.stats()
    expect(targets[0]?.stats.attempts.failure).toBe(3)
    expect(breakers).toMatchObject([{ bucket: 'a', targets: ['a'], stats: { failure: 3 } }])
    expect(calls.failed).toBe(3)
  })

  it.each([
    ['no target', { targets: [] }, /targets is empty/],
    ['a number out of its range', { targets: [target('a', down, { maxRetries: -1 })] }, /maxRetries/],
    ['a runtime option', { targets: [target('a', down)], maxBuckets: 3 }, /maxBuckets cannot be changed/],
  ])('refuses %s, and everything stays as it was', async (_what, options, text) => {
    const { gear } = rig([target('a', answer('ok'))])
    expect(() => gear.reconfigure(options)).toThrow(text)
    expect(await gear.call('x')).toBe('ok')
  })

  it('refuses more declared circuits than there is room for', async () => {
    const { gear } = rig([target('a', answer('ok'))], { maxBuckets: 1 })
    expect(() => gear.reconfigure({ targets: [target('a', down), target('b', down)] })).toThrow(/maxBuckets/)
    expect(await gear.call('x')).toBe('ok')
  })

  it('refuses after close()', async () => {
    const { gear } = rig([target('a', answer('ok'))])
    await gear.close()
    expect(() => gear.reconfigure({ targets: [target('a', down)] })).toThrow('The switchgear is closed.')
  })
})

describe('a call chooses among the targets', () => {
  const three = () => rig([target('a', answer('from a')), target('b', down), target('c', answer('from c'))])

  it('goes along its own chain, in its own order', async () => {
    const { gear } = three()
    let place: number | undefined
    const report = ({ fallbackIndex }: { fallbackIndex: number }) => (place = fallbackIndex)
    expect(await gear.call('x', { targets: ['b', 'c'], report })).toBe('from c')
    expect(place).toBe(1)
    expect(await errorOf(gear.call('x', { targets: ['b'] }))).toMatchObject({ status: 500 })
  })

  it.each([
    [['nobody'], /There is no target 'nobody'/],
    [['a', 'a'], /names a target twice/],
    [[], /targets is empty/],
  ])('refuses the chain %j', async (targets, text) => {
    const { gear } = three()
    const error = await errorOf(gear.call('x', { targets }))
    expect(error).toBeInstanceOf(RangeError)
    expect(String(error)).toMatch(text)
  })

  it('noFallback asks one target and no other; a refusal passes on', async () => {
    const { gear } = three()
    expect(await errorOf(gear.call('x', { targets: ['b', 'a'], noFallback: true }))).toMatchObject({
      status: 500,
    })
    gear.openCircuit({ name: 'b' })
    expect(await gear.call('x', { targets: ['b', 'a'], noFallback: true })).toBe('from a')
  })

  it('bypassCircuit asks an open target; what comes of it decides nothing', async () => {
    const { gear } = three()
    gear.openCircuit({ name: 'a' })
    expect(await gear.call('x', { targets: ['a'], bypassCircuit: true })).toBe('from a')
    expect(gear.getCircuitState({ name: 'a' })).toBe('open')
    gear.openCircuit({ name: 'b' })
    expect(await gear.call('x', { targets: ['b', 'c'], bypassCircuit: true })).toBe('from c')
    expect(gear.stats().breakers.find(({ bucket }) => bucket === 'b')?.stats.refused.open).toBe(0)
  })

  it('bypassCircuit on a closed target is an ordinary call', async () => {
    const { gear } = three()
    for (let i = 0; i < 3; i++) await errorOf(gear.call('x', { targets: ['b'], bypassCircuit: true }))
    expect(gear.getCircuitState({ name: 'b' })).toBe('open')
  })
})
