import { describe, expect, it } from 'vitest'
import { createActor } from 'xstate'
import type { AnyStateMachine } from 'xstate'
import { breakerMachine } from '../../machines/breaker.machine.ts'
import { breakerPolicies } from '../../src/testing/paths/breaker-policies.ts'
import { chainPlans } from '../../src/testing/paths/chain-plans.ts'
import {
  coverMachines,
  exploreBreaker,
  exploreChain,
  exploreSupervisor,
  placeOf,
  replayAll,
} from '../../src/testing/paths/cover-machines.ts'
import type { Explored } from '../../src/testing/paths/cover-machines.ts'
import { edgeCover } from '../../src/testing/paths/edge-cover.ts'
import { pathTo } from '../../src/testing/paths/edge-graph.ts'
import type { Edge } from '../../src/testing/paths/edge-graph.ts'
import { isDelayEvent } from '../../src/testing/graph-seam.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const breaker = exploreBreaker()
const chain = exploreChain()
const supervisor = exploreSupervisor()

function edgesOf<M extends AnyStateMachine>({ graphs }: Explored<M>): Edge<M>[] {
  return graphs.flatMap(({ edges }) => edges)
}

/** What covering one machine has to show. */
function covers<M extends AnyStateMachine>(explored: Explored<M>, written: number) {
  const coverage = replayAll(explored)
  expect(coverage.uncovered.map(placeOf)).toEqual([])
  expect(coverage.written).toBe(written)
  expect(coverage.faults.slice(0, 3)).toEqual([])
  expect(coverage.steps).toBeGreaterThan(coverage.edges)
  return coverage
}

describe('every written transition is taken on a real actor', () => {
  it('of the breaker, over the family of policies', () => {
    const { configurations, edges } = covers(breaker, 32)
    expect(breaker.graphs).toHaveLength(Object.keys(breakerPolicies).length)
    expect(configurations).toBeGreaterThan(400)
    expect(edges).toBeGreaterThan(20_000)
  })

  it('of the chain, over the family of plans', () => {
    const { configurations, edges } = covers(chain, 19)
    expect(chain.graphs).toHaveLength(Object.keys(chainPlans).length)
    expect(configurations).toBeGreaterThan(3000)
    expect(edges).toBeGreaterThan(20_000)
  })

  it('of the supervisor, with two buckets', () => {
    const { configurations } = covers(supervisor, 7)
    // two buckets there or not, chains up to two, replaced or not; nothing to replace where nothing was
    expect(configurations).toBeGreaterThan(12)
  })

  it('and one that no path takes is named by source, event, index and target', () => {
    const [only] = breaker.graphs.filter(({ model }) => model.name === 'threshold 1, 1 probe')
    const { uncovered } = replayAll({ machine: breaker.machine, graphs: only === undefined ? [] : [only] })
    expect(uncovered.map(placeOf)).toContain(
      'breaker: breaker.closed.degraded -- reading.aged[0] → breaker.closed.healthy',
    )
  })
})

describe.each([
  ['breaker', breaker],
  ['chain', chain],
  ['supervisor', supervisor],
] as const)('the edge cover of the %s', (_name, explored) => {
  const graphs = (explored as unknown as Explored<AnyStateMachine>).graphs

  it('holds every edge once as a step of its own or a refusal', () => {
    for (const graph of graphs) {
      const paths = edgeCover(graph)
      const held = new Set(paths.flatMap(({ steps, refusals }) => [...steps, ...refusals]))
      expect(held.size, graph.model.name).toBe(graph.edges.length)
    }
  })

  it('leads along its edges: each step begins where the one before has ended', () => {
    for (const graph of graphs) {
      for (const { steps, refusals } of edgeCover(graph)) {
        let here = graph.initial
        for (const { source, target } of steps) {
          expect(source).toBe(here)
          here = target
        }
        expect(refusals.every(({ source }) => source === here)).toBe(true)
      }
    }
  })

  it('refuses without leaving a trace: the snapshot stays the very same', () => {
    const refused = graphs.flatMap(({ edges }) => edges.filter(({ taken }) => !taken))
    expect(refused.length).toBeGreaterThan(10)
    expect(refused.filter(({ before, after }) => before !== after)).toEqual([])
  })
})

describe('the end of a cooldown', () => {
  const delayed = edgesOf(breaker).filter(({ event }) => isDelayEvent(event))

  it('is an edge of every configuration that cools down, and of no other', () => {
    const sources = new Set(delayed.map(({ before }) => before))
    for (const { configurations } of breaker.graphs) {
      for (const snapshot of configurations.values())
        expect(sources.has(snapshot)).toBe(snapshot.matches({ open: 'cooling' }))
    }
  })

  it('comes neither a millisecond early nor late, on an actor of its own', () => {
    let waited = 0
    for (const graph of breaker.graphs) {
      for (const [key, { context, value }] of graph.configurations) {
        const { openUntil } = context
        if (openUntil === null) continue
        const clock = new VirtualClock(graph.model.startAt)
        const actor = createActor(breakerMachine, { input: graph.model.input, clock }).start()
        for (const { event, at, before } of pathTo(graph, key)) {
          const end = before.context.openUntil ?? Infinity
          clock.set(Math.max(clock.now(), isDelayEvent(event) ? end : Math.min(at, end - 1)))
          if (!isDelayEvent(event)) actor.send(event)
        }
        const place = `${graph.model.name}: ${key}`
        expect(actor.getSnapshot().value, place).toEqual(value)
        if (openUntil > clock.now()) {
          waited++
          clock.set(openUntil - 1)
          expect(actor.getSnapshot().value, place).toEqual({ open: 'cooling' })
        }
        clock.set(Math.max(clock.now(), openUntil))
        expect(actor.getSnapshot().value, place).toBe('halfOpen')
        expect(actor.getSnapshot().context.since, place).toBe(openUntil)
        expect(clock.pending, place).toBe(0)
        actor.stop()
      }
    }
    expect(waited).toBeGreaterThan(20)
  })
})

describe('coverMachines', () => {
  it('sums up all three machines for the bench', () => {
    const report = coverMachines()
    expect(report.map(({ machine }) => machine)).toEqual(['breaker', 'chain', 'supervisor'])
    for (const { machine, edges, steps, transitions, faults } of report) {
      expect(transitions, machine).toEqual({
        written: transitions.written,
        covered: transitions.written,
        uncovered: [],
      })
      expect(faults, machine).toEqual([])
      expect(steps, machine).toBeGreaterThan(edges)
    }
  })
})
