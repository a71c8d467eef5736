import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../src/index.ts'
import { errorOf, fate, settle } from '../support/fate.ts'
import { answer, never, rig } from '../support/rig.ts'
import { counting, down, hanging, isolating, other, target } from '../support/targets.ts'

const retrying = { maxRetries: 1, retry: { baseMs: 100 } }

describe('a call under way while the rules change asks the circuits in force', () => {
  it('is refused by a circuit that is held open, also after a second change', async () => {
    const a = hanging()
    const b = counting(answer('b'))
    const { gear } = rig([target('a', a.invoke), target('b', b.invoke)])
    gear.openCircuit({ name: 'b' }, { hold: true })
    const call = gear.call('x')
    gear.reconfigure({ targets: [target('a', a.invoke), target('b', b.invoke, other(4))] })
    gear.reconfigure({ targets: [target('a', a.invoke), target('b', b.invoke, other(5))] })
    a.fail()
    await fate(call)
    expect(gear.getCircuitState({ name: 'b' })).toBe('open')
    expect(b.asked).toBe(0)
  })

  it('is refused by a circuit that its target was given meanwhile', async () => {
    const a = hanging()
    const b = counting(answer('b'))
    const { gear } = rig([target('a', a.invoke), target('b', b.invoke, { circuitBreaker: false })])
    const call = gear.call('x')
    gear.reconfigure({ targets: [target('a', a.invoke), target('b', b.invoke)] })
    gear.openCircuit({ name: 'b' }, { hold: true })
    a.fail()
    await errorOf(call)
    expect(b.asked).toBe(0)
  })

  it.each([
    ['isolates by model since', other(3), isolating()],
    ['isolates by model no more', isolating(), other(3)],
    ['has another bucket', other(3), { ...other(3), bucket: 'elsewhere' }],
  ])('is refused by the circuit of a target that %s', async (_what, before, after) => {
    const a = hanging()
    const b = counting(answer('b'))
    const { gear } = rig([target('a', a.invoke), target('b', b.invoke, before)])
    const call = gear.call('x', { model: 'm' })
    gear.reconfigure({ targets: [target('a', a.invoke), target('b', b.invoke, after)] })
    gear.openCircuit({ name: 'b', model: 'm' }, { hold: true })
    a.fail()
    await errorOf(call)
    expect(b.asked).toBe(0)
  })

  it('asks freely a target that has no circuit any more', async () => {
    const a = hanging()
    const { gear } = rig([target('a', a.invoke), target('b', answer('b'))])
    gear.openCircuit({ name: 'b' }, { hold: true })
    const call = gear.call('x')
    gear.reconfigure({
      targets: [target('a', a.invoke), target('b', answer('b'), { circuitBreaker: false })],
    })
    a.fail()
    expect(await fate(call)).toEqual({ value: 'b' })
  })

  it('puts no old rules in force for a model that nobody had used', async () => {
    const x = hanging()
    const { gear } = rig([target('x', x.invoke), target('a', down, isolating(9))])
    const call = gear.call('x', { model: 'm' })
    gear.reconfigure({ targets: [target('x', x.invoke), target('a', down, isolating(8))] })
    gear.reconfigure({ targets: [target('x', x.invoke), target('a', down, isolating(1))] })
    x.fail()
    await errorOf(call)
    await errorOf(gear.call('x', { model: 'm', targets: ['a'] }))
    expect(gear.getCircuitState({ name: 'a', model: 'm' })).toBe('open')
  })
})

describe('a retry while the rules change', () => {
  const backingOff = async (more = {}) => {
    const a = counting(down)
    const setup = rig([target('a', a.invoke, { ...retrying, ...more })], { random: () => 0.9 })
    const call = setup.gear.call('x')
    expect(await fate(call)).toBe('pending')
    return { ...setup, a, call }
  }

  it('is sent, and counts, where calls flow under the new rules, too', async () => {
    const { gear, clock, a, call } = await backingOff()
    gear.reconfigure({ targets: [target('a', answer('new'), other(1))] })
    clock.advance(1000)
    expect(await errorOf(call)).toMatchObject({ status: 500 })
    expect(a.asked).toBe(2)
    expect(gear.getCircuitState()).toBe('open')
    expect(gear.stats().breakers[0]?.stats).toMatchObject({ failure: 1, late: 0 })
  })

  it.each([
    ['that was opened meanwhile', other(4)],
    ['that is another one now', { bucket: 'elsewhere' }],
    ['of its model', isolating()],
  ])('is not sent to a circuit %s', async (_what, more) => {
    const { gear, clock, a, call } = await backingOff()
    gear.reconfigure({ targets: [target('a', a.invoke, { ...retrying, ...more })] })
    gear.openCircuit({}, { hold: true })
    clock.advance(1000)
    await errorOf(call)
    expect(a.asked).toBe(1)
  })

  it('is not sent where the target got a circuit meanwhile, and it is open', async () => {
    const { gear, clock, a, call } = await backingOff({ circuitBreaker: false })
    gear.reconfigure({ targets: [target('a', a.invoke)] })
    gear.openCircuit({}, { hold: true })
    clock.advance(1000)
    await errorOf(call)
    expect(a.asked).toBe(1)
  })

  it('is not sent to a circuit that was evicted, made anew and opened meanwhile', async () => {
    const a = counting(down)
    const { gear, clock } = rig([target('a', a.invoke, { ...retrying, ...isolating() })], {
      random: () => 0.9,
      maxBuckets: 1,
    })
    const call = gear.call('x', { model: 'm' })
    await settle()
    gear.openCircuit({ model: 'n' })
    gear.openCircuit({ model: 'm' }, { hold: true })
    clock.advance(1000)
    await errorOf(call)
    expect(a.asked).toBe(1)
  })
})

describe('an outcome of before the rules changed', () => {
  it('of a probe decides nothing in the trial that has begun afresh', async () => {
    const a = hanging()
    const { gear, clock } = rig([target('a', a.invoke)])
    gear.openCircuit()
    clock.advance(10_000)
    const probe = gear.call('x')
    gear.reconfigure({ targets: [target('a', answer('new'), other(4))] })
    a.fail()
    await errorOf(probe)
    expect(gear.getStatus()).toMatchObject({ state: 'half-open', probes: { failed: 0, inFlight: 0 } })
    expect(gear.stats().breakers[0]?.stats.late).toBe(1)
  })

  it('of a call that flowed decides nothing once the circuit has opened', async () => {
    const a = hanging()
    const { gear } = rig([target('a', a.invoke)])
    const call = gear.call('x')
    gear.openCircuit()
    gear.reconfigure({ targets: [target('a', answer('new'), other(1))] })
    gear.closeCircuit()
    a.fail()
    await errorOf(call)
    expect(gear.getStatus()).toMatchObject({ state: 'closed', failureCount: 0 })
  })
})

describe('a target that is gone', () => {
  it('is not asked where its circuit was held open', async () => {
    const a = hanging()
    const b = counting(answer('b'))
    const { gear } = rig([target('a', a.invoke), target('b', b.invoke)])
    gear.openCircuit({ name: 'b' }, { hold: true })
    const call = gear.call('x')
    gear.reconfigure({ targets: [target('a', a.invoke)] })
    gear.reconfigure({ targets: [target('a', a.invoke)] })
    a.fail()
    await fate(call)
    expect(b.asked).toBe(0)
  })

  it.each([
    ['one circuit', {}],
    ['a circuit a model', isolating()],
  ])('with %s gets one probe of all calls that wait for it', async (_what, more) => {
    const a = counting(never)
    const { gear, clock } = rig([target('a', a.invoke, more)], { whenAllOpen: { waitMs: 60_000 } })
    gear.openCircuit({ name: 'a' })
    for (let i = 0; i < 10; i++) gear.call('x').catch(() => {})
    gear.reconfigure({ targets: [target('b', answer('b'))] })
    clock.advance(10_000)
    await settle()
    expect(a.asked).toBe(1)
  })

  it('leaves no circuit behind, whoever still asks it', async () => {
    const x = hanging()
    const heard: string[] = []
    const { gear } = rig([target('x', x.invoke), target('a', down, isolating(1))])
    gear.on('transition', ({ bucket }) => heard.push(bucket))
    const call = gear.call('x', { model: 'm' })
    gear.reconfigure({ targets: [target('x', x.invoke)] })
    x.fail()
    await errorOf(call)
    expect(gear.stats().breakers.map(({ bucket }) => bucket)).toEqual(['x'])
    expect(Object.keys(gear.snapshots())).toEqual(['x'])
    expect(Object.keys(gear.supervisor.getSnapshot().children)).toEqual(['x'])
    expect(heard).toEqual([])
  })

  it('has left the journal when it is gone, though calls under way still ask its circuit', async () => {
    const entries: JournalEntry[] = []
    const x = hanging()
    const { gear, clock } = rig([target('x', x.invoke), target('a', down)], {
      journal: { append: (entry) => void entries.push(entry) },
    })
    gear.openCircuit({ name: 'a' })
    const call = gear.call('x')
    gear.reconfigure({ targets: [target('x', x.invoke)] })
    clock.advance(10_000)
    x.fail()
    await errorOf(call)
    const types = entries.filter(({ bucket }) => bucket === 'a').map(({ event }) => event.type)
    expect(types).toEqual(['breaker.started', 'operator.opened', 'breaker.evicted'])
  })

  it('and comes back while calls under way still ask its circuit goes on in its state', async () => {
    const entries: JournalEntry[] = []
    const x = hanging()
    const b = counting(answer('b'))
    const { gear, clock } = rig([target('x', x.invoke), target('b', b.invoke)], {
      journal: { append: (entry) => void entries.push(entry) },
    })
    gear.openCircuit({ name: 'b' }, { hold: true })
    const call = gear.call('x')
    gear.reconfigure({ targets: [target('x', x.invoke)] })
    gear.reconfigure({ targets: [target('x', x.invoke), target('b', b.invoke, other(2))] })
    expect(gear.getStatus({ name: 'b' })).toMatchObject({ state: 'open', held: true })
    expect(entries.at(-1)).toMatchObject({ bucket: 'b', saved: { hold: { until: null } } })
    gear.closeCircuit({ name: 'b' })
    x.fail()
    expect(await fate(call)).toEqual({ value: 'b' })
    await gear.close()
    expect(clock.pending).toBe(0)
  })

  it('leaves its name to another failure domain, which begins closed', async () => {
    const x = hanging()
    const z = counting(answer('z'))
    const { gear } = rig([target('x', x.invoke), target('z', z.invoke, { bucket: 'a/m' })])
    gear.openCircuit({ name: 'z' }, { hold: true })
    const call = gear.call('x')
    gear.reconfigure({ targets: [target('x', x.invoke), target('a', answer('a'), isolating())] })
    expect(gear.getStatus({ name: 'a', model: 'm' })).toMatchObject({ state: 'closed', held: false })
    // one name is one circuit: who still comes for the old one asks the one that is there
    gear.openCircuit({ name: 'a', model: 'm' }, { hold: true })
    x.fail()
    await errorOf(call)
    expect(z.asked).toBe(0)
    expect(gear.stats().breakers).toMatchObject([
      { bucket: 'x', model: undefined },
      { bucket: 'a/m', model: 'm', targets: ['a'], stats: { refused: { held: 1 } } },
    ])
  })

  it('leaves nothing behind when the last of its calls has ended', async () => {
    const [first, second] = [hanging(), hanging()]
    const { gear, clock } = rig([target('a', first.invoke), target('b', answer('b'))])
    gear.openCircuit({ name: 'b' }, { hold: true, ttlMs: 60_000 })
    const call = gear.call('x')
    gear.reconfigure({ targets: [target('c', second.invoke)] })
    const later = gear.call('x')
    gear.reconfigure({ targets: [target('d', answer('d'))] })
    const children = () => Object.keys(gear.supervisor.getSnapshot().children).toSorted()
    expect(children()).toEqual(['a', 'b', 'c', 'd'])
    first.answer()
    await call
    expect(children()).toEqual(['c', 'd'])
    second.answer()
    await later
    expect(children()).toEqual(['d'])
    await settle()
    expect(gear.stats().running).toBe(0)
    await gear.close()
    expect(clock.pending).toBe(0)
  })
})

describe('a call that waits for a circuit', () => {
  it.each([
    ['loses its circuit', { circuitBreaker: false }],
    ['is given another one', { bucket: 'b' }],
    ['is given one a model', isolating()],
  ])('goes on when its target %s', async (_what, change) => {
    const a = counting(answer('a'))
    const waiting = { whenAllOpen: { waitMs: 60_000 } }
    const { gear } = rig([target('a', a.invoke)], waiting)
    gear.openCircuit({ name: 'a' }, { hold: true, ttlMs: 30_000 })
    const call = gear.call('x')
    expect(await fate(call)).toBe('pending')
    gear.reconfigure({ targets: [target('a', a.invoke, change)], ...waiting })
    expect(await fate(call)).toEqual({ value: 'a' })
  })
})
