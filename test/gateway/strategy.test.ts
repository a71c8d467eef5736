import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { chooseOrder } from '../../src/gateway/strategy.ts'
import type { Deployment } from '../../src/gateway/strategy.ts'

type Circuit = Deployment['circuit']

const one = (name: string, circuit: Circuit = 'healthy', rest: Partial<Deployment> = {}): Deployment => ({
  name,
  circuit,
  weight: 1,
  busy: 0,
  ...rest,
})
const order = (
  strategy: Parameters<typeof chooseOrder>[0],
  deployments: Deployment[],
  turn = 0,
  roll = 0,
): string => chooseOrder(strategy, deployments, { turn, roll }).join('')

const circuits = (a: Circuit, b: Circuit, c: Circuit) => [one('a', a), one('b', b), one('c', c)]

describe('the order of the deployments', () => {
  it.each([
    // all healthy
    ['ordered', circuits('healthy', 'healthy', 'healthy'), 5, 'abc'],
    ['round-robin', circuits('healthy', 'healthy', 'healthy'), 0, 'abc'],
    ['round-robin', circuits('healthy', 'healthy', 'healthy'), 1, 'bca'],
    ['round-robin', circuits('healthy', 'healthy', 'healthy'), 5, 'cab'],
    // a degraded one is asked last of those who admit
    ['ordered', circuits('degraded', 'healthy', 'healthy'), 0, 'bca'],
    ['round-robin', circuits('healthy', 'degraded', 'healthy'), 1, 'cab'],
    // whoever refuses keeps its place in an order, and is asked last in a round
    ['ordered', circuits('refuses', 'healthy', 'healthy'), 0, 'abc'],
    ['ordered', circuits('refuses', 'degraded', 'healthy'), 0, 'acb'],
    ['round-robin', circuits('refuses', 'healthy', 'healthy'), 0, 'bca'],
    ['round-robin', circuits('refuses', 'healthy', 'healthy'), 1, 'cba'],
    ['round-robin', circuits('refuses', 'healthy', 'healthy'), 2, 'bca'],
    ['round-robin', circuits('refuses', 'refuses', 'refuses'), 2, 'cab'],
  ] as const)('%s %#', (strategy, deployments, turn, expected) => {
    expect(order(strategy, [...deployments], turn)).toBe(expected)
  })

  it('by the load: the idlest first, equals in turn', () => {
    const busy = (a: number, b: number, c: number) => [
      one('a', 'healthy', { busy: a }),
      one('b', 'healthy', { busy: b }),
      one('c', 'healthy', { busy: c }),
    ]
    expect(order('least-busy', busy(2, 1, 0))).toBe('cba')
    expect(order('least-busy', busy(1, 0, 0), 1)).toBe('bca')
    expect(order('least-busy', busy(1, 0, 0), 2)).toBe('cba')
    expect(order('least-busy', [one('a', 'degraded'), one('b', 'healthy', { busy: 9 })])).toBe('ba')
  })

  it('by weight: each has its share of the rolls', () => {
    const heavy = [one('a', 'healthy', { weight: 1 }), one('b', 'healthy', { weight: 3 })]
    expect(order('weighted', heavy, 0, 0)).toBe('ab')
    expect(order('weighted', heavy, 0, 0.249)).toBe('ab')
    expect(order('weighted', heavy, 0, 0.25)).toBe('ba')
    expect(order('weighted', heavy, 0, 0.999)).toBe('ba')
  })

  it('by weight: the second is drawn as fairly as the first', () => {
    const three = [
      one('a', 'healthy', { weight: 2 }),
      one('b', 'healthy', { weight: 1 }),
      one('c', 'healthy', { weight: 1 }),
    ]
    const counts: Record<string, number> = {}
    const rolls = 4000
    for (let i = 0; i < rolls; i++) {
      const way = order('weighted', three, 0, (i + 0.5) / rolls)
      counts[way] = (counts[way] ?? 0) + 1
    }
    // P(first) · P(second among the rest)
    const share = (way: string) => (counts[way] ?? 0) / rolls
    expect(share('abc')).toBeCloseTo(1 / 4, 2)
    expect(share('acb')).toBeCloseTo(1 / 4, 2)
    expect(share('bac')).toBeCloseTo(1 / 6, 2)
    expect(share('bca')).toBeCloseTo(1 / 12, 2)
  })
})

describe('whatever is chosen', () => {
  const deployments = fc
    .array(
      fc.record({
        weight: fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
        busy: fc.nat(5),
        circuit: fc.constantFrom<Circuit>('healthy', 'degraded', 'refuses'),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((list) => list.map((rest, i) => ({ ...rest, name: `t${i}` })))
  const strategies = fc.constantFrom('ordered', 'round-robin', 'weighted', 'least-busy')
  const chances = fc.record({
    turn: fc.nat(),
    roll: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  })

  it('everybody is there once, and nobody is asked before a healthier one but whoever refuses', () => {
    const rank = { healthy: 0, degraded: 1, refuses: 2 }
    fc.assert(
      fc.property(strategies, deployments, chances, (strategy, list, chance) => {
        const names = chooseOrder(strategy, list, chance)
        expect([...names].sort()).toEqual(list.map(({ name }) => name).sort())
        const admitting = names
          .map((name) => list.find((deployment) => deployment.name === name)!.circuit)
          .filter((circuit) => circuit !== 'refuses')
        expect(admitting).toEqual([...admitting].sort((a, b) => rank[a] - rank[b]))
      }),
    )
  })

  it('a round gives each healthy one the same number of first turns, whoever else refuses', () => {
    fc.assert(
      fc.property(deployments, (list) => {
        const healthy = list.filter(({ circuit }) => circuit === 'healthy')
        fc.pre(healthy.length > 0)
        const firsts = new Map<string, number>()
        const turns = list.length * healthy.length
        for (let turn = 0; turn < turns; turn++) {
          const names = chooseOrder('round-robin', list, { turn, roll: 0 })
          const first = names.find((name) => healthy.some((deployment) => deployment.name === name))!
          firsts.set(first, (firsts.get(first) ?? 0) + 1)
        }
        expect(new Set(firsts.values())).toEqual(new Set([list.length]))
      }),
    )
  })
})
