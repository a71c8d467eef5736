import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { errorOf, settle } from '../support/fate.ts'
import { answer, rig } from '../support/rig.ts'
import { RULES, counting, down, isolating, other, target } from '../support/targets.ts'

describe('a circuit goes on when its rules change', () => {
  it('with its numbers', async () => {
    const { gear } = rig([target('a', down)])
    await errorOf(gear.call('x'))
    gear.reconfigure({ targets: [target('a', down, other(4))] })
    expect(gear.stats().breakers[0]?.stats.failure).toBe(1)
  })

  it('and is shown, also where it is that of one model and held', () => {
    const { gear } = rig([target('a', down, isolating())])
    gear.openCircuit({ name: 'a', model: 'm' }, { hold: true })
    gear.reconfigure({ targets: [target('a', down, isolating(4))] })
    expect(gear.stats().breakers).toMatchObject([{ bucket: 'a/m', status: { state: 'open', held: true } }])
  })

  it('and a hold ends on time, although the wall clock jumped', () => {
    class Jumping extends VirtualClock {
      skew = 0
      override wall(): number {
        return this.now() + this.skew
      }
    }
    const clock = new Jumping(1_000_000_000)
    const { gear } = rig([target('a', down, isolating())], { clock })
    gear.openCircuit({ name: 'a', model: 'm' }, { hold: true, ttlMs: 5000 })
    gear.reconfigure({ targets: [target('a', down, isolating(4))] })
    clock.skew = -86_400_000
    clock.advance(5000)
    expect(gear.getCircuitState({ name: 'a', model: 'm' })).toBe('half-open')
  })

  it('and so does a saved one that waits for its first use', () => {
    const before = rig([target('a', down, isolating())])
    before.gear.openCircuit({ name: 'a', model: 'm' }, { hold: true, ttlMs: 5000 })
    class Jumping extends VirtualClock {
      skew = 0
      override wall(): number {
        return this.now() + this.skew
      }
    }
    const clock = new Jumping(1_000_000)
    const { gear } = rig([target('a', down, isolating())], { clock, snapshots: before.gear.snapshots() })
    clock.skew = -86_400_000
    clock.advance(5000)
    expect(gear.getCircuitState({ name: 'a', model: 'm' })).toBe('half-open')
  })

  it('with all it has counted, where only a hook or the mode is another', async () => {
    const entries: JournalEntry[] = []
    const { gear } = rig([target('a', down)], { journal: { append: (entry) => void entries.push(entry) } })
    await errorOf(gear.call('x'))
    await errorOf(gear.call('x'))
    const heard: string[] = []
    const onStateChange = (_from: string, to: string) => void heard.push(to)
    gear.reconfigure({ targets: [target('a', down, { circuitBreaker: { ...RULES, onStateChange } })] })
    expect(gear.getStatus()).toMatchObject({ consecutiveFailures: 2, generation: 1 })
    await errorOf(gear.call('x'))
    expect(heard).toEqual(['open'])
    gear.reconfigure({
      targets: [target('a', answer('ok'), { circuitBreaker: { ...RULES, mode: 'observe' } })],
    })
    expect(await gear.call('x')).toBe('ok')
    expect(entries.map(({ event }) => event.type)).toEqual(['breaker.started', 'call.failed'])
  })

  it('under a policy of the user’s own that looks the same and is another', async () => {
    class Nth {
      readonly #n: number
      #failures = 0
      constructor(n: number) {
        this.#n = n
      }
      onSuccess(): void {}
      onFailure(): boolean {
        return ++this.#failures >= this.#n
      }
      reset(): void {
        this.#failures = 0
      }
    }
    const ruled = (n: number) => target('a', down, { circuitBreaker: { tripping: new Nth(n) } })
    const { gear } = rig([ruled(9)])
    gear.reconfigure({ targets: [ruled(1)] })
    await errorOf(gear.call('x'))
    expect(gear.getCircuitState()).toBe('open')
  })
})

describe('what is bounded stays bounded', () => {
  it('reconfigure keeps no more circuits than maxBuckets', async () => {
    const { gear } = rig([target('a', answer('ok'), isolating())], { maxBuckets: 5 })
    for (let i = 0; i < 10; i++) {
      for (let j = 0; j < 5; j++) await gear.call('x', { model: `m${i}-${j}` })
      gear.reconfigure({ targets: [target('a', answer('ok'), isolating(4 + i))] })
    }
    expect(Object.keys(gear.snapshots()).length).toBeLessThanOrEqual(5)
    expect(Object.keys(gear.supervisor.getSnapshot().children).length).toBeLessThanOrEqual(5)
  })

  type Budget = { readonly capacity: number; readonly perCall: number } | false

  /** How often a target that is down is asked by each call, under one retry budget after the other. */
  const asked = async (...budgets: Budget[]) => {
    const a = counting(down)
    const targets = [target('a', a.invoke, { maxRetries: 1, circuitBreaker: false })]
    const { gear, clock } = rig(targets, { retryBudget: budgets[0]! })
    const counts: number[] = []
    for (const retryBudget of budgets) {
      gear.reconfigure({ targets, retryBudget })
      const before = a.asked
      const call = gear.call('x')
      call.catch(() => {})
      await settle()
      clock.advance(1000)
      await errorOf(call)
      counts.push(a.asked - before)
    }
    return counts
  }
  const once = { capacity: 1, perCall: 0 }

  it('a reconfigure that leaves the retry budget as it was does not refill it', async () => {
    expect(await asked(once, once, once)).toEqual([2, 1, 1])
  })

  it.each<[string, Budget, number]>([
    ['a larger one gives the difference', { capacity: 2, perCall: 0 }, 2],
    ['a smaller one gives nothing', { capacity: 0, perCall: 0 }, 1],
    ['a larger share is paid in from now on', { capacity: 1, perCall: 1 }, 2],
    ['none at all sets no bound', false, 2],
  ])('what is spent stays spent: %s', async (_what, budget, count) => {
    expect(await asked(once, once, budget)).toEqual([2, 1, count])
  })
})

it('a trial that goes on under other rules keeps its reason', () => {
  const { gear, clock } = rig([target('a', down)])
  gear.openCircuit({ name: 'a' })
  clock.advance(10_000)
  const before = gear.explain({ name: 'a' })?.sentence
  gear.reconfigure({ targets: [target('a', down, other(4))] })
  expect(before).toContain('the cooldown is over')
  expect(gear.explain({ name: 'a' })?.sentence).toBe(before)
})
