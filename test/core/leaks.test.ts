import { describe, expect, it } from 'vitest'
import { createBreaker } from '../../src/index.ts'
import { Gear } from '../../src/core/gear.ts'
import { Switchgear } from '../../src/core/switchgear.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { collected, heapUsed } from '../support/collected.ts'
import { settle } from '../support/fate.ts'
import { PartSource } from '../support/part-source.ts'
import { answer, failing, never, rig, status } from '../support/rig.ts'
import type { Options, Target } from '../support/rig.ts'

function inside(targets: Target[], options: Options = {}) {
  const clock = new VirtualClock(1_000_000)
  const gear = new Gear<string, string, string>({ targets, clock, random: () => 0, ...options })
  return { clock, gear, switchgear: new Switchgear(gear) }
}

describe('after many calls of every kind', () => {
  it('no chain, nobody waiting, and no more timers than one a limit', async () => {
    let n = 0
    const { clock, gear, switchgear } = inside(
      [
        {
          name: 'a',
          invoke: (request) => {
            n++
            if (request === 'hang') return never()
            return n % 3 === 0 ? 'ok' : Promise.reject(status(n % 2 === 0 ? 500 : 429))
          },
          stream: () => new PartSource('c'),
          timeoutMs: 2000,
          maxRetries: 1,
          circuitBreaker: { threshold: 3, cooldownMs: 500 },
        },
        {
          name: 'b',
          invoke: (request) => (request === 'hang' ? never() : 'from b'),
          stream: async function* () {
            yield 'from b'
          },
          timeoutMs: 2000,
          circuitBreaker: { threshold: 2, cooldownMs: 300 },
        },
      ],
      { whenAllOpen: { waitMs: 1000 } },
    )
    const ends: Promise<unknown>[] = []
    for (let i = 0; i < 500; i++) {
      const controller = new AbortController()
      const options = {
        ...(i % 2 === 0 && { signal: controller.signal }),
        ...(i % 3 === 0 && { deadlineMs: 700 }),
      }
      const request = i % 5 === 0 ? 'hang' : 'x'
      if (i % 7 === 0) {
        const stream = switchgear.stream(request, options)
        const read = stream.next().catch(() => {})
        ends.push(i % 2 === 0 ? read : read.then(() => stream.return?.()))
        if (i % 2 === 0) await stream.return?.()
      } else ends.push(switchgear.call(request, options).catch(() => {}))
      if (i % 4 === 0) controller.abort('enough')
      if (i % 50 === 0) switchgear.openCircuit({ name: 'b' })
      if (i % 10 === 0) {
        await settle()
        clock.advance(40)
      }
    }
    for (let i = 0; i < 50; i++) {
      await settle()
      clock.advance(200)
    }
    await Promise.all(ends)
    expect(gear.waiters.size).toBe(0)
    expect(switchgear.supervisor.getSnapshot().context.chains).toBe(0)
    // first content, idle: their heads have been taken out, the timers look once more
    expect(clock.pending).toBeLessThanOrEqual(2)
    clock.advance(100_000)
    expect(clock.pending).toBe(0)
  })

  it('a call that ends leaves at most one timer a limit, however many there were', async () => {
    const { gear, clock } = rig([{ invoke: answer('ok'), circuitBreaker: true }])
    for (let i = 0; i < 1000; i++) await gear.call('x', { deadlineMs: 1000 })
    expect(clock.pending).toBeLessThanOrEqual(2)
  })

  it('20 000 failing calls do not grow the heap', async () => {
    const { gear, clock } = rig([
      {
        name: 'a',
        invoke: failing(status(500)),
        maxRetries: 0,
        circuitBreaker: { threshold: 3, cooldownMs: 10 },
      },
      { name: 'b', invoke: failing(status(503)), maxRetries: 0, circuitBreaker: true },
    ])
    const some = async (calls: number) => {
      for (let i = 0; i < calls; i++) {
        await gear.call('x').catch(() => {})
        if (i % 10 === 0) clock.advance(20)
      }
    }
    await some(2000)
    const before = await heapUsed()
    await some(20_000)
    expect((await heapUsed()) - before).toBeLessThan(2_000_000)
  })

  it('20 000 failing calls through one signal, one deadline and a wait do not either', async () => {
    const { gear, clock } = rig(
      [
        {
          name: 'a',
          invoke: failing(status(500)),
          maxRetries: 1,
          circuitBreaker: { threshold: 2, cooldownMs: 5 },
        },
      ],
      {
        whenAllOpen: { waitMs: 10 },
      },
    )
    const { signal } = new AbortController()
    const some = async (calls: number) => {
      for (let i = 0; i < calls; i += 100) {
        const batch = Array.from({ length: 100 }, () =>
          gear.call('x', { signal, deadlineMs: 100 }).catch(() => {}),
        )
        for (let j = 0; j < 6; j++) {
          await settle()
          clock.advance(5)
        }
        clock.advance(100)
        await Promise.all(batch)
      }
    }
    await some(1000)
    const before = await heapUsed()
    await some(10_000)
    expect((await heapUsed()) - before).toBeLessThan(2_000_000)
    expect(gear.supervisor.getSnapshot().context.chains).toBe(0)
  })
})

describe('nothing holds on to', () => {
  it('the request, the answer and the options of a call that has ended', async () => {
    const { gear } = rig([
      { name: 'a', invoke: failing(status(500)), maxRetries: 0, circuitBreaker: true },
      { name: 'b', invoke: (request) => request },
    ])
    const kept = await collected(() => {
      const request = { prompt: 'secret' }
      const options = { report() {} }
      const answered = gear.call(request as unknown as string, options)
      return { request, options, answered }
    })
    expect(kept).toEqual({ request: false, options: false, answered: false })
  })

  it('an error that was forgiven, once the circuit has forgotten the failure', async () => {
    const breaker = createBreaker({ clock: new VirtualClock(1) })
    const kept = await collected(() => {
      const error = status(500, { body: 'provider text' })
      breaker.execute(() => Promise.reject(error)).catch(() => {})
      breaker.execute(() => Promise.resolve('ok')).catch(() => {})
      return { error }
    })
    expect(breaker.getFailureBreakdown()).toEqual({})
    expect(kept).toEqual({ error: false })
  })

  it('a bucket that was evicted', async () => {
    const { gear, clock } = rig([{ invoke: answer('ok'), circuitBreaker: { isolateByModel: true } }], {
      maxBuckets: 5,
    })
    for (let i = 0; i < 2000; i++) {
      await gear.call('x', { model: `m${i}` })
      clock.advance(1)
    }
    const { context, children } = gear.supervisor.getSnapshot()
    expect(Object.keys(context.breakers)).toHaveLength(5)
    expect(Object.keys(children)).toHaveLength(5)
    expect(Object.keys(gear.snapshots())).toHaveLength(5)
  })
})
