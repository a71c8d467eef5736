import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

/** What happens to a clock; timers are named by the order in which they were armed. */
type Step =
  | { readonly kind: 'arm'; readonly ms: number; readonly during: readonly Step[] }
  | { readonly kind: 'clear'; readonly timer: number }
  | { readonly kind: 'advance'; readonly ms: number }

const ms = fc.oneof(fc.integer({ min: -2, max: 12 }), fc.constantFrom(0.5, 3.2, Infinity))
const clear = fc.record({ kind: fc.constant('clear' as const), timer: fc.nat(20) })
const later = fc.record({ kind: fc.constant('arm' as const), ms, during: fc.constant([]) })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('arm' as const),
      ms,
      during: fc.array(fc.oneof(later, clear), { maxLength: 2 }),
    }),
  },
  clear,
  fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(8) }),
)

/** What fires when, on the clock. */
function played(steps: readonly Step[]) {
  const clock = new VirtualClock(1000)
  const fired: [number, number][] = []
  const ids: number[] = []
  const take = (step: Step) => {
    if (step.kind === 'clear') clock.clearTimeout(ids[step.timer])
    else if (step.kind === 'advance') clock.advance(step.ms)
    else {
      const name = ids.length
      const run = () => {
        fired.push([name, clock.now()])
        step.during.forEach(take)
      }
      ids.push(clock.setTimeout(run, step.ms))
    }
  }
  steps.forEach(take)
  return { fired, pending: clock.pending, nextAt: clock.nextAt, now: clock.now() }
}

/** The same by looking through all timers for the next one, over and over. */
function expected(steps: readonly Step[]) {
  const fired: [number, number][] = []
  let timers: { readonly name: number; readonly at: number; readonly during: readonly Step[] }[] = []
  let [now, names] = [1000, 0]
  const first = () => timers.toSorted((a, b) => a.at - b.at || a.name - b.name)[0]
  const take = (step: Step) => {
    if (step.kind === 'clear') timers = timers.filter(({ name }) => name !== step.timer)
    else if (step.kind === 'arm')
      timers.push({ name: names++, at: now + Math.max(0, Math.ceil(step.ms)), during: step.during })
    else {
      const until = now + step.ms
      for (let next = first(); next !== undefined && next.at <= until; next = first()) {
        const { name, at, during } = next
        timers = timers.filter((timer) => timer.name !== name)
        now = at
        fired.push([name, now])
        during.forEach(take)
      }
      now = until
    }
  }
  steps.forEach(take)
  return { fired, pending: timers.length, nextAt: first()?.at, now }
}

describe('a virtual clock', () => {
  it('fires what is due in order of its deadline, each at its instant, and in the order of arming at one', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        expect(played(steps)).toEqual(expected(steps))
      }),
      { numRuns: 300 },
    )
  })

  it('goes on beyond the last timer, and never back', () => {
    const clock = new VirtualClock(5)
    clock.set(100)
    clock.set(50)
    expect(clock.now()).toBe(100)
  })

  it('forgets every timer with the process it belonged to', () => {
    const clock = new VirtualClock()
    const timer = clock.setTimeout(() => expect.unreachable(), 10)
    clock.dropTimers()
    clock.clearTimeout(timer)
    clock.advance(20)
    expect({ pending: clock.pending, nextAt: clock.nextAt }).toEqual({ pending: 0, nextAt: undefined })
  })
})
