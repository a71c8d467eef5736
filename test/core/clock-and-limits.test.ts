import { performance } from 'node:perf_hooks'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { LimitQueue, Limits, TimeLimit } from '../../src/core/limits.ts'
import { Notifier } from '../../src/core/notifier.ts'
import { DURATION_BOUNDS_MS, DurationHistogram } from '../../src/core/stats.ts'
import { SlicedWindow } from '../../src/core/window.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** Timers and the monotonic clock move together, as the test says. */
function useFakeTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 0 })
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now())
}

const LONGEST_TIMER = 2 ** 31 - 1

describe('the real clock', () => {
  it.each([[1], [1000], [LONGEST_TIMER], [LONGEST_TIMER + 1], [3 * LONGEST_TIMER + 5]])(
    'a timer of %d ms fires once, not earlier, and not much later',
    async (ms) => {
      useFakeTime()
      const start = systemClock.now()
      let fired = 0
      systemClock.setTimeout(() => fired++, ms)
      await vi.advanceTimersByTimeAsync(ms - 1)
      expect([fired, systemClock.now() - start]).toEqual([0, ms - 1])
      await vi.advanceTimersByTimeAsync(1)
      expect(fired).toBe(1)
      await vi.advanceTimersByTimeAsync(10)
      expect(fired).toBe(1)
      expect(vi.getTimerCount()).toBe(0)
    },
  )

  it('no timer asks Node for more than it can do', () => {
    useFakeTime()
    const spy = vi.spyOn(globalThis, 'setTimeout')
    for (const ms of [0, -5, LONGEST_TIMER * 10, Infinity]) systemClock.setTimeout(() => {}, ms)
    for (const [, ms] of spy.mock.calls) {
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(ms).toBeLessThanOrEqual(LONGEST_TIMER)
    }
  })

  it('a timer cleared after it was chained never fires', async () => {
    useFakeTime()
    let fired = 0
    const timer = systemClock.setTimeout(() => fired++, LONGEST_TIMER + 1000)
    await vi.advanceTimersByTimeAsync(LONGEST_TIMER + 500)
    systemClock.clearTimeout(timer)
    await vi.advanceTimersByTimeAsync(LONGEST_TIMER)
    expect([fired, vi.getTimerCount()]).toEqual([0, 0])
  })

  it('clearing nothing does nothing', () => {
    expect(() => systemClock.clearTimeout(undefined)).not.toThrow()
  })

  it('never goes back, and is on the scale of the wall clock', () => {
    let last = systemClock.now()
    for (let i = 0; i < 1000; i++) {
      const now = systemClock.now()
      expect(now).toBeGreaterThanOrEqual(last)
      expect(Number.isInteger(now)).toBe(true)
      last = now
    }
    expect(Math.abs(last - systemClock.wall())).toBeLessThan(60_000)
  })

  it('reads as performance.now() does', () => {
    const before = performance.timeOrigin + performance.now()
    const now = systemClock.now()
    const after = performance.timeOrigin + performance.now()
    expect(now).toBeGreaterThanOrEqual(Math.floor(before))
    expect(now).toBeLessThanOrEqual(Math.floor(after))
  })

  it('follows fake timers, and the real clock once they are gone', () => {
    const real = systemClock.now()
    vi.useFakeTimers({ now: 5_000 })
    const start = systemClock.now()
    vi.advanceTimersByTime(1_234)
    expect(systemClock.now() - start).toBe(1_234)
    vi.useRealTimers()
    expect(systemClock.now() - real).toBeLessThan(1_000)
    expect(systemClock.now()).toBeGreaterThanOrEqual(real)
  })

  it('follows fake timers that were there before it', async () => {
    vi.useFakeTimers({ now: 5_000 })
    vi.resetModules()
    const { systemClock: late } = await import('../../src/core/clock.ts')
    const start = late.now()
    vi.advanceTimersByTime(1_234)
    expect(late.now() - start).toBe(1_234)
  })

  it.each([
    ['is missing', undefined],
    ['is another clock', { duration: -1 }],
  ])('does without the age of the process where that %s', async (_name, nodeTiming) => {
    vi.resetModules()
    vi.doMock('node:perf_hooks', () => ({
      performance: { timeOrigin: 0, now: () => performance.now(), nodeTiming },
    }))
    const { systemClock: late } = await import('../../src/core/clock.ts')
    vi.doUnmock('node:perf_hooks')
    expect(Math.abs(late.now() - performance.now())).toBeLessThan(1_000)
  })
})

describe('the sliced window against a plain list', () => {
  const steps = fc.array(
    fc.record({
      wait: fc.oneof(fc.nat(30), fc.nat(400), fc.nat(5000)),
      bad: fc.boolean(),
      look: fc.boolean(),
    }),
    { maxLength: 60 },
  )

  it('counts what is younger than the window but one slice, and nothing older than the window plus one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 3000 }), fc.nat(10_000), steps, (windowMs, start, all) => {
        const window = new SlicedWindow(windowMs)
        const slice = windowMs / 10
        const samples: { at: number; bad: boolean }[] = []
        let now = start
        for (const { wait, bad, look } of all) {
          now += wait
          if (look) window.expire(now)
          else {
            window.sample(bad, now)
            samples.push({ at: now, bad })
          }
          const age = ({ at }: { at: number }) => now - at
          const must = samples.filter((sample) => age(sample) < windowMs - slice)
          const may = samples.filter((sample) => age(sample) <= windowMs + slice)
          const exact = samples.filter(({ at }) => Math.floor(now / slice) - Math.floor(at / slice) < 10)
          expect(window.calls).toBe(exact.length)
          expect(window.count).toBe(exact.filter((sample) => sample.bad).length)
          expect(window.calls).toBeGreaterThanOrEqual(must.length)
          expect(window.calls).toBeLessThanOrEqual(may.length)
        }
      }),
    )
  })

  it('a clock that steps back writes to the newest slice and loses nothing', () => {
    const window = new SlicedWindow(1000)
    window.sample(true, 5000)
    window.sample(false, 4000)
    expect([window.calls, window.count]).toEqual([2, 1])
    window.expire(5999)
    expect(window.calls).toBe(2)
    window.expire(6000)
    expect(window.calls).toBe(0)
  })

  it('reset empties it at once', () => {
    const window = new SlicedWindow(1000)
    for (let i = 0; i < 20; i++) window.sample(true, i * 90)
    window.reset()
    expect([window.calls, window.count]).toEqual([0, 0])
    window.sample(true, 1800)
    expect([window.calls, window.count]).toEqual([1, 1])
  })
})

describe('the queue of limits against a plain list', () => {
  type Step = { kind: 'begin' } | { kind: 'remove'; which: number } | { kind: 'advance'; ms: number }
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.constant({ kind: 'begin' } as const),
    fc.record({ kind: fc.constant('remove' as const), which: fc.nat(30) }),
    fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(150) }),
  )

  it('each ends exactly at its own instant, in order, once, unless it was taken out', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.array(step, { maxLength: 80 }), (ms, steps) => {
        const clock = new VirtualClock(1000)
        const queue = new LimitQueue(ms, clock)
        const ended: [id: number, at: number][] = []
        const expected: [id: number, at: number][] = []
        const entries: TimeLimit[] = []
        let running: { id: number; due: number }[] = []
        const settle = (now: number) => {
          for (const { id, due } of running) if (due <= now) expected.push([id, due])
          running = running.filter(({ due }) => due > now)
        }
        for (const action of steps) {
          if (action.kind === 'begin') {
            const id = entries.length
            const entry = new TimeLimit(() => ended.push([id, clock.now()]))
            entries.push(entry)
            queue.begin(entry, clock.now())
            running.push({ id, due: clock.now() + ms })
          } else if (action.kind === 'remove') {
            entries[action.which]?.end()
            running = running.filter(({ id }) => id !== action.which)
          } else {
            clock.advance(action.ms)
            settle(clock.now())
          }
          expect(ended).toEqual(expected)
          expect(clock.pending).toBeLessThanOrEqual(1)
        }
        clock.advance(2 * ms)
        settle(clock.now())
        expect(ended).toEqual(expected)
        expect(clock.pending).toBe(0)
      }),
    )
  })

  it('what ends may take others out and begin new ones', () => {
    const clock = new VirtualClock()
    const queue = new LimitQueue(100, clock)
    const ended: string[] = []
    const second = new TimeLimit(() => ended.push('second'))
    const third = new TimeLimit(() => ended.push('third'))
    const first = new TimeLimit(() => {
      ended.push('first')
      second.end()
      queue.begin(first, clock.now())
    })
    for (const entry of [first, second, third]) queue.begin(entry, 0)
    clock.advance(100)
    expect(ended).toEqual(['first', 'third'])
    clock.advance(100)
    expect(ended).toEqual(['first', 'third', 'first'])
    queue.close()
    expect(clock.pending).toBe(0)
  })

  it('one queue a duration, none for Infinity, and a bound for what calls bring along', () => {
    const limits = new Limits(new VirtualClock())
    expect(limits.of(Infinity)).toBeUndefined()
    expect(limits.of(5)).toBe(limits.of(5))
    const queues = Array.from({ length: 400 }, (_, i) => limits.ofCall(1000 + i))
    expect(queues.filter((queue) => queue !== undefined)).toHaveLength(255)
    expect(limits.ofCall(5)).toBe(limits.of(5))
  })
})

describe('the notifier', () => {
  const collect = () => {
    const logged: string[] = []
    const logger = { info() {}, warn() {}, error: (_fields: object, text: string) => void logged.push(text) }
    return { logged, notifier: new Notifier(logger) }
  }

  it('runs notices in order, those they cause afterwards, and isolates what throws', () => {
    const { logged, notifier } = collect()
    const told: number[] = []
    notifier.add(() => {
      told.push(1)
      notifier.add(() => void told.push(4))
      notifier.flush()
      told.push(2)
    })
    notifier.add(() => {
      throw new Error('boom')
    })
    notifier.add(() => void told.push(3))
    expect(told).toEqual([])
    notifier.flush()
    expect(told).toEqual([1, 2, 3, 4])
    expect(logged).toHaveLength(1)
    notifier.add(() => void told.push(5))
    notifier.flush()
    expect(told).toEqual([1, 2, 3, 4, 5])
  })

  it('survives a logger that throws, and things thrown that have no text', () => {
    const bad = () => {
      throw new Error('logger')
    }
    const notifier = new Notifier({ info: bad, warn: bad, error: bad })
    for (const thrown of [null, undefined, Symbol('x'), Object.create(null)]) {
      expect(() =>
        notifier.guard('it', () => {
          throw thrown
        }),
      ).not.toThrow()
    }
    const told: number[] = []
    notifier.add(bad)
    notifier.add(() => void told.push(1))
    notifier.flush()
    expect(told).toEqual([1])
  })
})

describe('the histogram of durations', () => {
  it('a duration falls into the first bucket whose bound it does not exceed', () => {
    const durations = fc.oneof(
      fc.double({ min: 0, max: 200_000, noNaN: true }),
      fc.nat(1_000_000_000),
      fc.constantFrom(...DURATION_BOUNDS_MS),
      fc.constantFrom(...DURATION_BOUNDS_MS.map((bound) => bound + 1)),
    )
    fc.assert(
      fc.property(durations, (ms) => {
        const histogram = new DurationHistogram()
        histogram.add(ms)
        const found = DURATION_BOUNDS_MS.findIndex((bound) => ms <= bound)
        const place = found === -1 ? DURATION_BOUNDS_MS.length : found
        expect(histogram.counts.map((n, i) => (n > 0 ? i : -1)).filter((i) => i >= 0)).toEqual([place])
        expect(histogram.sumMs).toBe(ms)
      }),
    )
  })
})
