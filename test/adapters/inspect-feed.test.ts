import { describe, expect, it, vi } from 'vitest'
import type { AnyActorRef, InspectionEvent } from 'xstate'

import { ActorFeed } from '../../src/adapters/inspect/actor-feed.ts'
import type { BreakerEvent } from '../../machines/index.ts'
import type { News, Picture } from '../../src/adapters/inspect/wire.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { settle } from '../support/fate.ts'
import { answer, failing, never, rig, status } from '../support/rig.ts'
import type { Options, Target } from '../support/rig.ts'

const breaker = { circuitBreaker: { threshold: 1, cooldownMs: 1000 }, maxRetries: 0 }
const chain = (...invokes: NonNullable<Target['invoke']>[]): Target[] =>
  invokes.map((invoke, i) => ({ name: `target-${i}`, invoke, ...breaker }))

function watched(targets: readonly Target[], options: Options = {}) {
  const { gear, clock } = rig(targets, options)
  const faults: unknown[] = []
  const feed = new ActorFeed(gear.supervisor, clock, (error) => faults.push(error))
  return { gear, clock, feed, faults }
}

const find = ({ actors }: Pick<Picture, 'actors'> | News, name: string) =>
  actors.find((actor) => actor.name === name)

/** How many observe the system of this actor. */
function observersOf({ system }: AnyActorRef) {
  const count = { now: 0 }
  const inspect = system.inspect.bind(system)
  vi.spyOn(system, 'inspect').mockImplementation((observer) => {
    const subscription = inspect(observer as (event: InspectionEvent) => void)
    count.now++
    return {
      unsubscribe() {
        count.now--
        subscription.unsubscribe()
      },
    }
  })
  return count
}

describe('a viewer that comes late', () => {
  it('sees every live actor as it stands: supervisor, breakers, chains under way', async () => {
    const { gear, clock, feed } = watched(chain(failing(status(503)), never))
    void gear.call('request')
    await settle()
    clock.advance(1000)
    feed.open()
    const { actors, unshown } = feed.picture()
    expect(actors.map(({ name, machine, snapshot }) => [name, machine, snapshot.value])).toEqual([
      ['supervisor', 'supervisor', 'running'],
      ['target-0', 'breaker', 'halfOpen'],
      ['target-1', 'breaker', { closed: 'healthy' }],
      ['call-1', 'chain', { visiting: 'attempting' }],
    ])
    const [root, first, , call] = actors
    expect(first).toMatchObject({ parent: root?.id, root: root?.id, snapshot: { status: 'active' } })
    expect(first?.snapshot.context).toMatchObject({ generation: 3, trial: { succeeded: 0, permits: [] } })
    expect(call).toMatchObject({ parent: null, root: call?.id })
    expect(call?.snapshot.context).toMatchObject({ target: 'target-1', asked: ['target-0', 'target-1'] })
    expect(unshown).toBe(0)
    expect(feed.news()).toBeUndefined()
  })

  it('sees no chain that has ended', async () => {
    const { gear, feed } = watched(chain(failing(status(503)), answer('fine')))
    await gear.call('request')
    feed.open()
    expect(feed.picture().actors.map(({ machine }) => machine)).toEqual(['supervisor', 'breaker', 'breaker'])
  })
})

describe('whoever watches', () => {
  it('is told every event in order, with what it led to', async () => {
    const { gear, feed } = watched(chain(failing(status(503)), answer('fine')))
    feed.open()
    await gear.call('request')
    const news = feed.news()!
    const names = new Map([...feed.picture().actors, ...news.actors].map(({ id, name }) => [id, name]))
    const told = news.rows.map(({ id, event, snapshot }) => [names.get(id), event.type, snapshot?.value])
    expect(told).toEqual([
      ['supervisor', 'chain.started', 'running'],
      ['call-1', 'target.admitted', { visiting: 'attempting' }],
      ['call-1', 'attempt.failed', 'choosing'],
      ['target-0', 'call.failed', { open: 'cooling' }],
      ['call-1', 'target.admitted', { visiting: 'attempting' }],
      ['call-1', 'attempt.succeeded', 'succeeded'],
      ['supervisor', 'chain.ended', 'running'],
    ])
    expect(find(news, 'call-1')?.snapshot.value).toBe('choosing')
    expect(news.gone).toEqual([find(news, 'call-1')?.id])
    expect(feed.news()).toBeUndefined()
  })

  it('sees which events changed nothing, and who sent them', () => {
    const { gear, feed } = watched(chain(answer('fine')))
    feed.open()
    gear.openCircuit({}, { hold: true })
    gear.openCircuit({}, { hold: true, ttlMs: 5 })
    const { rows } = feed.news()!
    const [supervisor] = feed.picture().actors
    expect(rows.map(({ event, source }) => [event.type, source])).toEqual([
      ['operator.commanded', null],
      ['operator.opened', supervisor?.id],
      ['operator.commanded', null],
      ['operator.opened', supervisor?.id],
    ])
    expect(rows.map(({ snapshot }) => snapshot !== undefined)).toEqual([false, true, false, true])
  })

  it('sees breakers come and go', async () => {
    const isolating = {
      name: 'a',
      invoke: answer('fine'),
      circuitBreaker: { isolateByModel: true },
      model: 'm',
    }
    const { gear, clock, feed } = watched([isolating], { maxBuckets: 1, idleMs: 1 })
    await gear.call('x', { model: 'one' })
    feed.open()
    const one = find(feed.picture(), 'a/one')
    clock.advance(10)
    await gear.call('x', { model: 'two' })
    const news = feed.news()!
    expect(find(news, 'a/two')?.snapshot.value).toEqual({ closed: 'healthy' })
    expect(news.gone).toEqual([one?.id])
    expect(feed.picture().actors.map(({ name }) => name)).toEqual(['supervisor', 'a/two'])
  })

  it('is shown a breaker that failed and the one in its place as two', () => {
    const { gear, feed, faults } = watched(chain(answer('fine')))
    feed.open()
    const before = find(feed.picture(), 'target-0')
    const poisoned: BreakerEvent = Object.defineProperty({ type: 'hold.ended', at: 0 } as const, 'at', {
      get: () => {
        throw new Error('poisoned')
      },
    })
    gear.closeCircuit({}, { hold: true })
    gear.supervisor.getSnapshot().children['target-0']?.send(poisoned)
    const news = feed.news()!
    // it cannot be shown either
    expect(faults).toEqual([new Error('poisoned')])
    expect(news.rows.map(({ event }) => event.type)).toContain('xstate.error.actor.target-0')
    expect(news.gone).toEqual([before?.id])
    expect(news.snapshots.find(({ id }) => id === before?.id)?.snapshot.status).toBe('error')
    expect(find(news, 'target-0')?.id).not.toBe(before?.id)
  })
})

describe('what it costs', () => {
  it('observes nobody before it is opened, and nobody after it is shut', async () => {
    const { gear, feed } = watched(chain(failing(status(503)), never))
    const observers = [observersOf(gear.supervisor)]
    gear.supervisor.on('chain.started', ({ chain: ref }) => observers.push(observersOf(ref)))
    const count = () => observers.map(({ now }) => now)
    void gear.call('request')
    await settle()
    expect(count()).toEqual([0, 0])
    feed.open()
    void gear.call('request')
    await settle()
    expect(count()).toEqual([1, 1])
    feed.shut()
    expect(count()).toEqual([0, 0])
    gear.openCircuit()
    expect(feed.news()).toBeUndefined()
    expect(feed.picture().actors).toEqual([])
  })

  it('keeps so many events between two looks, and says how many it dropped', () => {
    const { gear, feed } = watched(chain(answer('fine')))
    feed.open()
    // two events each: one for the supervisor, one for the breaker
    for (let i = 0; i < 1000; i++) gear.openCircuit({}, { hold: true, reason: `number ${i}` })
    const { rows, dropped, snapshots } = feed.news()!
    expect(rows).toHaveLength(256)
    expect(dropped).toBe(2000 - 256)
    expect(snapshots.map(({ snapshot }) => snapshot.context)).toMatchObject([
      { hold: { reason: 'number 999' } },
    ])
    expect(feed.news()).toBeUndefined()
  })

  it('shows so many chains, and says how many it does not', async () => {
    const { gear, feed } = watched([
      { name: 'fails', invoke: failing(status(503)), maxRetries: 0 },
      { name: 'hangs', invoke: never },
    ])
    const begin = async (calls: number) => {
      for (let i = 0; i < calls; i++) void gear.call('request')
      await settle()
    }
    await begin(70)
    feed.open()
    await begin(20)
    feed.news()
    await begin(60)
    const news = feed.news()!
    const { actors, unshown } = feed.picture()
    expect(actors.filter(({ machine }) => machine === 'chain')).toHaveLength(100)
    expect([unshown, news.unshown]).toEqual([50, 50])
  })
})

describe('a fault while it looks on', () => {
  it('reaches no call', async () => {
    const { gear } = rig(chain(failing(status(503)), answer('fine')))
    const faults: unknown[] = []
    const clock = new VirtualClock()
    vi.spyOn(clock, 'wall').mockImplementation(() => {
      throw new Error('no time')
    })
    new ActorFeed(gear.supervisor, clock, (error) => faults.push(error)).open()
    expect(await gear.call('request')).toBe('fine')
    expect(faults.length).toBeGreaterThan(0)
    expect(gear.getCircuitState()).toBe('open')
  })
})
