import { describe, expect, it } from 'vitest'
import type { BreakerContext } from '../../machines/breaker-context.ts'
import { longestCooldown } from '../../machines/cooldown.ts'
import type { BreakerSnapshot } from '../../machines/circuit-state.ts'
import { exploreBreaker, exploreChain, replayAll } from '../../src/testing/paths/cover-machines.ts'
import type { Coverage } from '../../src/testing/paths/cover-machines.ts'
import type { breakerMachine } from '../../machines/breaker.machine.ts'
import type { Edge } from '../../src/testing/paths/edge-graph.ts'

const named = ({ uncovered }: Coverage) =>
  uncovered.map(
    ({ source, event, index, targets }) => `${source} -- ${event}[${index}] → ${targets.join(' ')}`,
  )

const breaker = exploreBreaker()
const chain = exploreChain()

/** The leaf that a snapshot is in, in words of this file. */
function leaf({ value }: Pick<BreakerSnapshot, 'value'>): string {
  return typeof value === 'string' ? value : Object.entries(value).flat().join('.')
}
const parent = (state: string) => state.split('.')[0]

/** Written from the design, not from the machine: by which events each state may be left, and where to. */
const EXITS: Record<string, Record<string, readonly string[]>> = {
  'closed.healthy': {
    'call.failed': ['open.cooling', 'closed.degraded'],
    'call.succeeded': ['open.cooling', 'closed.degraded'],
    'operator.opened': ['open.cooling', 'open.held'],
    'operator.closed': ['closed.healthy', 'closed.held'],
    resumed: ['closed.healthy', 'closed.held', 'open.cooling', 'open.held', 'halfOpen'],
  },
  'closed.degraded': {
    'call.failed': ['open.cooling', 'closed.healthy'],
    'call.succeeded': ['open.cooling', 'closed.healthy'],
    'reading.aged': ['closed.healthy'],
    'operator.opened': ['open.cooling', 'open.held'],
    'operator.closed': ['closed.healthy', 'closed.held'],
    resumed: ['closed.healthy', 'closed.held', 'open.cooling', 'open.held', 'halfOpen'],
  },
  'closed.held': {
    'hold.ended': ['closed.healthy'],
    'operator.opened': ['open.held'],
    'operator.closed': ['closed.healthy', 'closed.held'],
    resumed: ['closed.healthy', 'closed.held', 'open.cooling', 'open.held', 'halfOpen'],
  },
  'open.cooling': {
    'cooldown.elapsed': ['halfOpen'],
    after: ['halfOpen'],
    'operator.opened': ['open.held'],
    'operator.closed': ['closed.healthy', 'closed.held'],
  },
  'open.held': {
    'hold.ended': ['halfOpen'],
    'operator.closed': ['closed.healthy', 'closed.held'],
  },
  halfOpen: {
    'probe.succeeded': ['closed.healthy', 'open.cooling'],
    'probe.failed': ['closed.healthy', 'open.cooling'],
    'probe.expired': ['closed.healthy', 'open.cooling'],
    'operator.opened': ['open.cooling', 'open.held'],
    'operator.closed': ['closed.healthy', 'closed.held'],
  },
}

/** Which fields a state needs; all others are null in it. */
const NEEDS: Record<string, readonly (keyof BreakerContext)[]> = {
  'closed.healthy': [],
  'closed.degraded': [],
  'closed.held': ['hold'],
  'open.cooling': ['openedAt', 'cooldownMs', 'openUntil'],
  'open.held': ['openedAt', 'hold'],
  halfOpen: ['trial'],
}
const OPTIONAL = ['openedAt', 'cooldownMs', 'openUntil', 'hold', 'trial'] as const

type BreakerEdge = Edge<typeof breakerMachine>
const edges = breaker.graphs.flatMap((graph) => graph.edges.map((edge) => [graph.model.name, edge] as const))
const told = (policy: string, { source, event, target }: BreakerEdge) =>
  `${policy}: ${source} -- ${JSON.stringify(event)} → ${target}`

function broken(rule: (edge: BreakerEdge) => boolean): string[] {
  return edges
    .filter(([, edge]) => !rule(edge))
    .slice(0, 5)
    .map(([policy, edge]) => told(policy, edge))
}

describe('every edge', () => {
  it('of the breaker is taken on a real actor, and every written transition with it', () => {
    const coverage = replayAll(breaker)
    expect(named(coverage)).toEqual([])
    expect(coverage.faults).toEqual([])
    expect(coverage.written).toBeGreaterThanOrEqual(32)
    expect(coverage.edges).toBeGreaterThan(10_000)
  })

  it('of the chain is taken on a real actor, and every written transition with it', () => {
    const coverage = replayAll(chain)
    expect(named(coverage)).toEqual([])
    expect(coverage.faults).toEqual([])
    expect(coverage.written).toBe(19)
  })

  it('leaves exactly one timer behind while a circuit cools down, and none elsewhere', () => {
    const wrong = new Set<string>()
    replayAll(breaker, ({ snapshot, pending }) => {
      const state = leaf(snapshot)
      if (pending !== (state === 'open.cooling' ? 1 : 0)) wrong.add(`${state}: ${pending}`)
    })
    expect([...wrong]).toEqual([])
  })
})

describe('on every edge of the breaker', () => {
  it('slots are conserved', () => {
    const fits = ({ trial, policy }: BreakerContext) =>
      trial === null ||
      (trial.permits.length <= policy.halfOpenConcurrency &&
        trial.permits.length + trial.succeeded + trial.failed <= policy.halfOpenProbes &&
        new Set(trial.permits).size === trial.permits.length)
    expect(broken(({ after }) => fits(after.context))).toEqual([])
  })

  it('the generation grows by one at an entry of closed, open or half-open and at a manual close, and at nothing else', () => {
    const rule = ({ before, after, event }: BreakerEdge) => {
      if (event.type === 'resumed' && after !== before)
        return after.context.generation > before.context.generation
      const entered = parent(leaf(before)) !== parent(leaf(after))
      const anew =
        event.type === 'operator.closed' || (event.type === 'hold.ended' && leaf(before) === 'closed.held')
      const grows = entered || (anew && after !== before) ? 1 : 0
      return after.context.generation === before.context.generation + grows
    }
    expect(broken(rule)).toEqual([])
  })

  it('a state is left by nothing but its own exits', () => {
    const rule = ({ before, after, event }: BreakerEdge) => {
      if (leaf(before) === leaf(after)) return true
      const type = event.type.startsWith('xstate.after') ? 'after' : event.type
      return EXITS[leaf(before)]?.[type]?.includes(leaf(after)) === true
    }
    expect(broken(rule)).toEqual([])
  })

  it('a state keeps what it needs and nothing else', () => {
    const rule = ({ after }: BreakerEdge) => {
      const needed = NEEDS[leaf(after)] ?? []
      return OPTIONAL.every((field) => (after.context[field] !== null) === needed.includes(field))
    }
    expect(broken(rule)).toEqual([])
  })

  it('an outcome or a probe of another generation moves nothing, but that a Retry-After may lengthen an open period', () => {
    const rule = ({ before, after, event }: BreakerEdge) => {
      if (!('generation' in event) || event.generation === before.context.generation) return true
      if (after === before) return true
      const [a, b] = [before.context, after.context]
      return (
        event.type === 'call.failed' &&
        leaf(before) === 'open.cooling' &&
        leaf(after) === 'open.cooling' &&
        (b.openUntil ?? 0) > (a.openUntil ?? Infinity)
      )
    }
    expect(broken(rule)).toEqual([])
  })

  it('a cooldown ends later than it begins and never later than the policy allows', () => {
    const rule = ({ after, before, at, event }: BreakerEdge) => {
      const { openUntil, cooldownMs, policy } = after.context
      if (openUntil === null || after === before) return true
      const ceiling = Math.max(longestCooldown(policy, cooldownMs ?? 0), (before.context.openUntil ?? 0) - at)
      // a cooldown that ended while the process was down is over when it comes back
      return (openUntil >= at || event.type === 'resumed') && openUntil - at <= ceiling
    }
    expect(broken(rule)).toEqual([])
  })

  it('an open circuit admits nothing, a closed one counts no trial', () => {
    const rule = ({ before, after, event }: BreakerEdge) =>
      event.type !== 'probe.requested' || leaf(before) === 'halfOpen' || after === before
    expect(broken(rule)).toEqual([])
  })

  it('a hold ends by an operator or its own time only', () => {
    const rule = ({ before, after, event }: BreakerEdge) =>
      before.context.hold === null ||
      after.context.hold === before.context.hold ||
      ['operator.opened', 'operator.closed', 'hold.ended', 'resumed'].includes(event.type)
    expect(broken(rule)).toEqual([])
  })

  it('the reopen count grows with a failed trial only, and is zero in closed', () => {
    const rule = ({ before, after, event }: BreakerEdge) => {
      const [a, b] = [before.context.reopens, after.context.reopens]
      if (parent(leaf(after)) === 'closed') return b === 0
      if (event.type === 'resumed') return true
      const failed =
        leaf(before) === 'halfOpen' && leaf(after) === 'open.cooling' && event.type.startsWith('probe.')
      return b === a + (failed ? 1 : 0)
    }
    expect(broken(rule)).toEqual([])
  })

  it('closed can be reached from every configuration', () => {
    for (const graph of breaker.graphs) {
      const reached = new Set(
        [...graph.configurations]
          .filter(([, snapshot]) => parent(leaf(snapshot)) === 'closed')
          .map(([key]) => key),
      )
      for (let size = -1; size !== reached.size;) {
        size = reached.size
        for (const { source, target } of graph.edges) if (reached.has(target)) reached.add(source)
      }
      expect(
        [...graph.configurations.keys()].filter((key) => !reached.has(key)),
        graph.model.name,
      ).toEqual([])
    }
  })
})

describe('on every edge of the chain', () => {
  const chainEdges = chain.graphs.flatMap(({ edges: all }) => all)

  it('no target is visited twice', () => {
    expect(
      chainEdges.filter(({ after }) => new Set(after.context.asked).size !== after.context.asked.length),
    ).toEqual([])
  })

  it('nobody waits for a circuit once somebody was asked', () => {
    expect(
      chainEdges.filter(({ after }) => after.value === 'waiting' && after.context.asked.length > 0),
    ).toEqual([])
  })

  it('what is asked as a last resort is asked once, and never where an operator holds the circuit', () => {
    const resorts = chainEdges.filter(
      ({ after, before }) => after.context.lastResort && !before.context.lastResort,
    )
    expect(resorts.length).toBeGreaterThan(0)
    for (const { after } of resorts) {
      const refusal = after.context.refused.find(({ target }) => target === after.context.target)
      expect(refusal?.reason).not.toBe('held')
    }
    expect(chainEdges.filter(({ after }) => after.context.lastResort && after.context.attempt > 1)).toEqual(
      [],
    )
  })

  it('an ended chain has no way on', () => {
    expect(chainEdges.filter(({ before, after }) => before.status === 'done' && after !== before)).toEqual([])
  })
})
