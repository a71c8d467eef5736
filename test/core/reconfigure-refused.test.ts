import { describe, expect, it } from 'vitest'
import { errorOf, fate } from '../support/fate.ts'
import { answer, rig } from '../support/rig.ts'
import { down, isolating, other, target } from '../support/targets.ts'

const streaming = (text: string) =>
  async function* stream() {
    yield await Promise.resolve(text)
  }

describe('a reconfigure that is refused for want of room', () => {
  const crowded = () => {
    const setup = rig([target('a', undefined, { stream: streaming('old'), ...isolating() })], {
      maxBuckets: 1,
    })
    setup.gear.openCircuit({ name: 'a', model: 'm' }, { hold: true })
    const targets = [
      target('a', undefined, { stream: streaming('new'), ...isolating() }),
      target('b', answer('b')),
    ]
    return { ...setup, reconfigure: () => setup.gear.reconfigure({ targets }) }
  }

  it('leaves streams under the rules in force', async () => {
    const { gear, reconfigure } = crowded()
    expect(reconfigure).toThrow(/maxBuckets/)
    const stream = gear.stream('x', { model: 'm', bypassCircuit: true })
    expect(await stream.next()).toEqual({ done: false, value: 'old' })
  })

  it('leaves close() waiting for every stream', async () => {
    const { gear, reconfigure } = crowded()
    expect(reconfigure).toThrow(/maxBuckets/)
    const stream = gear.stream('x', { model: 'm', bypassCircuit: true })
    await stream.next()
    expect(gear.stats().running).toBe(1)
    expect(await fate(gear.close())).toBe('pending')
  })

  it('leaves the way to stop an observer working', () => {
    const { gear, reconfigure } = crowded()
    const observer = { begin: () => undefined as never }
    const stop = gear.observe(observer)
    expect(reconfigure).toThrow(/maxBuckets/)
    stop()
    expect(() => gear.observe(observer)).not.toThrow()
  })

  it('leaves an open circuit refusing', async () => {
    const targets = [target('a', answer('a'), isolating()), target('b', answer('b'))]
    const { gear } = rig(targets, { maxBuckets: 2 })
    gear.openCircuit({ name: 'a', model: 'm' }, { hold: true })
    gear.openCircuit({ name: 'b' }, { hold: true })
    const wanted = [target('a', answer('a'), isolating()), target('c', down), target('d', down)]
    expect(() => gear.reconfigure({ targets: wanted })).toThrow(/maxBuckets/)
    const error = await errorOf(gear.call('x', { targets: ['b'] }))
    expect(error).toMatchObject({ code: 'ERR_CIRCUIT_OPEN' })
  })

  it('leaves counters, saved circuits and the retry budget as they were', async () => {
    const before = rig([target('a', down, isolating())])
    before.gear.openCircuit({ name: 'a', model: 'saved' }, { hold: true })
    const { gear } = rig([target('a', down, isolating())], {
      maxBuckets: 1,
      snapshots: before.gear.snapshots(),
    })
    gear.openCircuit({ name: 'a', model: 'm' }, { hold: true })
    await errorOf(gear.call('x', { model: 'm', bypassCircuit: true }))
    const seen = () => JSON.stringify([gear.stats(), gear.snapshots()])
    const was = seen()
    const targets = [target('a', down, isolating(1)), target('b', down)]
    expect(() => gear.reconfigure({ targets, retryBudget: false })).toThrow(/maxBuckets/)
    expect(seen()).toBe(was)
  })
})

describe('a reconfigure that has room', () => {
  it('makes it where circuits of models are in the way, and keeps the held ones', () => {
    const { gear } = rig([target('a', answer('a'), isolating())], { maxBuckets: 3 })
    for (const model of ['m', 'n', 'o']) gear.openCircuit({ model })
    gear.openCircuit({ model: 'm' }, { hold: true })
    gear.reconfigure({
      targets: [target('a', answer('a'), isolating(4)), target('b', down), target('c', down)],
    })
    expect(gear.stats().breakers.map(({ bucket }) => bucket)).toEqual(['a/m', 'b', 'c'])
  })

  it('needs none for circuits that calls under way still ask', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const { gear } = rig([target('a', () => promise)], { maxBuckets: 1 })
    const call = gear.call('x')
    gear.reconfigure({ targets: [target('b', answer('b'))] })
    expect(await gear.call('x')).toBe('b')
    resolve('a')
    expect(await call).toBe('a')
  })
})

describe('listeners that call back while the rules change', () => {
  /** An open circuit whose overdue trial is noticed, and told, in the middle of the next reconfigure. */
  const overdue = () => {
    const setup = rig([target('a', answer('one'))])
    setup.gear.openCircuit()
    setup.clock.dropTimers()
    setup.clock.advance(20_000)
    return setup
  }

  it('close() stays closed', async () => {
    const { gear } = overdue()
    let closed: Promise<void> | undefined
    gear.on('transition', () => (closed ??= gear.close()))
    gear.reconfigure({ targets: [target('a', answer('two'), other(7))] })
    await closed
    expect(await fate(gear.call('x'))).toMatchObject({ error: { code: 'ERR_CLOSED' } })
  })

  it('the later reconfigure is in force', async () => {
    const { gear } = overdue()
    const stop = gear.on('transition', () => {
      stop()
      gear.reconfigure({ targets: [target('a', answer('three'), other(7))] })
    })
    gear.reconfigure({ targets: [target('a', answer('two'), other(7))] })
    expect(await fate(gear.call('x'))).toEqual({ value: 'three' })
  })

  it('find the new rules in force, all of them', () => {
    const { gear } = overdue()
    const seen: unknown[] = []
    gear.on('transition', () => seen.push(gear.getCircuitStates().map(({ provider }) => provider)))
    gear.reconfigure({ targets: [target('a', answer('two'), other(7)), target('b', answer('b'))] })
    expect(seen).toEqual([['a', 'b']])
  })

  it('that ask for a circuit while it is made find that one', () => {
    const before = rig([target('a', down, isolating())])
    before.gear.openCircuit({ model: 'm' })
    const { gear, clock } = rig([target('a', down, isolating())], { snapshots: before.gear.snapshots() })
    clock.advance(20_000)
    gear.on('transition', () => gear.openCircuit({ model: 'm' }, { hold: true }))
    gear.closeCircuit({ model: 'm' }, { reason: 'first use' })
    expect(gear.stats().breakers).toHaveLength(1)
    expect(gear.getStatus({ model: 'm' })).toMatchObject({ held: true, cause: { why: 'operator' } })
  })
})
