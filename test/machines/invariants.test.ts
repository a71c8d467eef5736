import { describe, expect, it, vi } from 'vitest'
import { createActor } from 'xstate'
import type { breakerMachine } from '../../machines/breaker.machine.ts'
import type { BreakerContext } from '../../machines/breaker-context.ts'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { chainMachine } from '../../machines/chain.machine.ts'
import type { ChainContext } from '../../machines/chain-context.ts'
import { exploreBreaker, exploreChain, replayAll } from '../../src/testing/paths/cover-machines.ts'
import { pathTo } from '../../src/testing/paths/edge-graph.ts'
import type { Edge, EdgeGraph } from '../../src/testing/paths/edge-graph.ts'

// Every rule here is written from the design, none from the machines.

const breaker = exploreBreaker()
const chain = exploreChain()

type BreakerEdge = Edge<typeof breakerMachine>
type ChainEdge = Edge<typeof chainMachine>
type Values = BreakerEdge['after']['value'] | ChainEdge['after']['value']

/** The leaf that a snapshot is in: `closed.healthy`. */
const leaf = ({ value }: { readonly value: Values }) =>
  typeof value === 'string' ? value : Object.entries(value).flat().join('.')
const region = (state: string) => state.split('.')[0] ?? state
const kindOf = ({ type }: { readonly type: string }) => (type.startsWith('xstate.after.') ? 'after' : type)

/** The first edges that break a rule, in words. */
function breaches<E extends BreakerEdge | ChainEdge>(
  graphs: readonly { readonly model: { readonly name: string }; readonly edges: readonly E[] }[],
  holds: (edge: E) => boolean,
): string[] {
  const found: string[] = []
  for (const { model, edges } of graphs) {
    for (const edge of edges) {
      if (holds(edge)) continue
      found.push(`${model.name}: ${edge.source} -- ${JSON.stringify(edge.event)} → ${edge.target}`)
      if (found.length === 5) return found
    }
  }
  return found
}

const broken = (holds: (edge: BreakerEdge) => boolean) => breaches(breaker.graphs, holds)
const brokenInChain = (holds: (edge: ChainEdge) => boolean) => breaches(chain.graphs, holds)

/** Configurations from which none of the wanted ones can be reached. */
function stranded<M extends typeof breakerMachine | typeof chainMachine>(
  { configurations, edges }: EdgeGraph<M>,
  wanted: (state: string) => boolean,
): string[] {
  const sources = Map.groupBy(edges, ({ target }) => target)
  const reached = new Set(
    [...configurations].filter(([, snapshot]) => wanted(leaf(snapshot))).map(([key]) => key),
  )
  for (const key of reached) for (const { source } of sources.get(key) ?? []) reached.add(source)
  return [...configurations.keys()].filter((key) => !reached.has(key))
}

const ANY_CLOSED = ['closed.healthy', 'closed.held']
const OPENED_BY_HAND = ['open.cooling', 'open.held']
const RESUMED = ['closed.healthy', 'closed.held', 'open.cooling', 'open.held', 'halfOpen']

/** By which events each state may be left, and where to. What is not here leaves nothing. */
const EXITS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'closed.healthy': {
    'call.failed': ['closed.degraded', 'open.cooling'],
    'call.succeeded': ['closed.degraded', 'open.cooling'],
    'operator.opened': OPENED_BY_HAND,
    'operator.closed': ['closed.held'],
    resumed: RESUMED,
  },
  'closed.degraded': {
    'call.failed': ['closed.healthy', 'open.cooling'],
    'call.succeeded': ['closed.healthy', 'open.cooling'],
    'reading.aged': ['closed.healthy'],
    'operator.opened': OPENED_BY_HAND,
    'operator.closed': ANY_CLOSED,
    resumed: RESUMED,
  },
  'closed.held': {
    'hold.ended': ['closed.healthy'],
    'operator.opened': ['open.held'],
    'operator.closed': ['closed.healthy'],
    resumed: RESUMED,
  },
  'open.cooling': {
    after: ['halfOpen'],
    'cooldown.elapsed': ['halfOpen'],
    'operator.opened': ['open.held'],
    'operator.closed': ANY_CLOSED,
  },
  'open.held': {
    'hold.ended': ['halfOpen'],
    'operator.closed': ANY_CLOSED,
  },
  halfOpen: {
    'probe.succeeded': ['closed.healthy', 'open.cooling'],
    'probe.failed': ['closed.healthy', 'open.cooling'],
    'probe.expired': ['closed.healthy', 'open.cooling'],
    'operator.opened': OPENED_BY_HAND,
    'operator.closed': ANY_CLOSED,
  },
}

describe('on every edge of the breaker', () => {
  it('a state is left by its own exits only', () => {
    expect(
      broken(({ before, after, event }) => {
        const [from, to] = [leaf(before), leaf(after)]
        return from === to || EXITS[from]?.[kindOf(event)]?.includes(to) === true
      }),
    ).toEqual([])
  })

  it('and every exit of the table is taken somewhere', () => {
    const taken = new Set(
      breaker.graphs
        .flatMap(({ edges }) => edges)
        .map(({ before, event, after }) => `${leaf(before)} -- ${kindOf(event)} → ${leaf(after)}`),
    )
    const written = Object.entries(EXITS).flatMap(([from, exits]) =>
      Object.entries(exits).flatMap(([event, targets]) => targets.map((to) => `${from} -- ${event} → ${to}`)),
    )
    expect(written.filter((exit) => !taken.has(exit))).toEqual([])
  })

  it('slots are conserved', () => {
    expect(
      broken(({ after: { context } }) => {
        const { trial, policy } = context
        if (trial === null) return true
        const { permits, succeeded, failed } = trial
        return (
          permits.length <= policy.halfOpenConcurrency &&
          permits.length + succeeded + failed <= policy.halfOpenProbes &&
          new Set(permits).size === permits.length
        )
      }),
    ).toEqual([])
  })

  it('a probe takes one slot, a report or a release gives back its own and no other', () => {
    expect(
      broken(({ before, after, event }) => {
        const [a, b] = [before.context.trial, after.context.trial]
        if (a === null || b === null || after === before) return true
        if (event.type === 'probe.requested') {
          const issued = [...a.permits, event.permit]
          return JSON.stringify({ ...a, permits: issued }) === JSON.stringify(b)
        }
        if (!('permit' in event)) return false
        const reported = event.type === 'probe.released' ? 0 : 1
        return (
          a.permits.includes(event.permit) &&
          JSON.stringify(a.permits.filter((id) => id !== event.permit)) === JSON.stringify(b.permits) &&
          b.succeeded - a.succeeded === (event.type === 'probe.succeeded' ? 1 : 0) &&
          b.succeeded + b.failed === a.succeeded + a.failed + reported
        )
      }),
    ).toEqual([])
  })

  it('a probe is admitted where a slot is free, and nowhere else', () => {
    expect(
      broken(({ before, after, event }) => {
        if (event.type !== 'probe.requested') return true
        const { trial, policy } = before.context
        if (trial === null) return after === before
        const used = trial.permits.length + trial.succeeded + trial.failed
        const free = trial.permits.length < policy.halfOpenConcurrency && used < policy.halfOpenProbes
        return (after !== before) === free
      }),
    ).toEqual([])
  })

  it('open admits nothing', () => {
    const open = breaker.graphs.flatMap(({ edges }) =>
      edges.filter(({ before, event }) => region(leaf(before)) === 'open' && event.type.startsWith('probe.')),
    )
    expect(open.length).toBeGreaterThan(100)
    expect(open.filter(({ before, after, taken }) => taken || after !== before)).toEqual([])
  })

  it('the verdict is given exactly when the trial is decided', () => {
    expect(
      broken(({ after: { context } }) => {
        const { trial, policy } = context
        if (trial === null) return true
        const needed = Math.ceil(policy.halfOpenSuccessRatio * policy.halfOpenProbes - 1e-9)
        const complete = trial.succeeded + trial.failed === policy.halfOpenProbes
        const certain = trial.succeeded >= needed || policy.halfOpenProbes - trial.failed < needed
        // a decided trial does not linger
        return !(policy.halfOpenVerdict === 'early' ? certain : complete)
      }),
    ).toEqual([])
  })

  it('a trial recovers on enough successes and reopens on too few', () => {
    expect(
      broken(({ before, after, event }) => {
        const { trial, policy } = before.context
        if (trial === null || after.context.trial !== null || !event.type.startsWith('probe.')) return true
        const succeeded = trial.succeeded + (event.type === 'probe.succeeded' ? 1 : 0)
        const enough = succeeded >= policy.halfOpenSuccessRatio * policy.halfOpenProbes - 1e-9
        const found = JSON.stringify({
          succeeded,
          failed: trial.failed + (event.type === 'probe.succeeded' ? 0 : 1),
        })
        return (
          leaf(after) === (enough ? 'closed.healthy' : 'open.cooling') &&
          JSON.stringify(after.context.cause.trial) === found
        )
      }),
    ).toEqual([])
  })

  it('the generation grows by one at each entry of closed, open and half-open and at a manual close, and never else', () => {
    expect(
      broken(({ before, after, event }) => {
        const [a, b] = [before.context.generation, after.context.generation]
        if (after === before) return a === b
        // a restart enters its state anew, above whatever was saved
        if (event.type === 'resumed') return b === Math.max(a, event.saved.generation) + 1
        const entered = region(leaf(before)) !== region(leaf(after))
        const anew =
          event.type === 'operator.closed' || (event.type === 'hold.ended' && leaf(before) === 'closed.held')
        return b === a + (entered || anew ? 1 : 0)
      }),
    ).toEqual([])
  })

  it('an outcome of another generation moves nothing, but that its Retry-After may lengthen an open period', () => {
    expect(
      broken(({ before, after, event }) => {
        if (!('generation' in event) || event.generation === before.context.generation) return true
        if (after === before) return true
        const { openUntil: from, ...rest } = before.context
        const { openUntil: to, ...now } = after.context
        return (
          event.type === 'call.failed' &&
          event.retryAfterMs !== undefined &&
          event.generation > 0 &&
          leaf(before) === 'open.cooling' &&
          leaf(after) === 'open.cooling' &&
          (to ?? 0) > (from ?? Infinity) &&
          JSON.stringify(rest) === JSON.stringify(now)
        )
      }),
    ).toEqual([])
  })

  it('a probe that is unknown to the trial moves nothing', () => {
    expect(
      broken(({ before, after, event }) => {
        if (!('permit' in event) || event.type === 'probe.requested') return true
        const known =
          before.context.trial?.permits.includes(event.permit) === true &&
          event.generation === before.context.generation
        return (after !== before) === known
      }),
    ).toEqual([])
  })

  it('a state keeps what it needs; everything else is null', () => {
    const needs: Readonly<Record<string, readonly string[]>> = {
      'closed.healthy': [],
      'closed.degraded': [],
      'closed.held': ['hold'],
      'open.cooling': ['openedAt', 'cooldownMs', 'openUntil'],
      'open.held': ['openedAt', 'hold'],
      halfOpen: ['trial'],
    }
    const fields = ['openedAt', 'cooldownMs', 'openUntil', 'hold', 'trial'] as const
    expect(
      broken(({ after }) =>
        fields.every((field) => (after.context[field] !== null) === needs[leaf(after)]?.includes(field)),
      ),
    ).toEqual([])
  })

  it('a hold is ended by an operator or its own time, never by an outcome or a cooldown', () => {
    const allowed = new Set(['operator.opened', 'operator.closed', 'hold.ended', 'resumed'])
    expect(
      broken(
        ({ before, after, event }) =>
          before.context.hold === null || after === before || allowed.has(kindOf(event)),
      ),
    ).toEqual([])
  })

  it('a plain manual open lifts no hold', () => {
    expect(
      broken(
        ({ before, after, event }) =>
          event.type !== 'operator.opened' ||
          event.hold === true ||
          before.context.hold === null ||
          after === before,
      ),
    ).toEqual([])
  })

  it('a command leads where it says, from everywhere', () => {
    expect(
      broken(({ before, after, event }) => {
        if (event.type === 'operator.closed')
          return leaf(after) === (event.hold === true ? 'closed.held' : 'closed.healthy')
        if (event.type !== 'operator.opened') return true
        if (event.hold === true) return leaf(after) === 'open.held'
        return before.context.hold !== null || leaf(after) === 'open.cooling'
      }),
    ).toEqual([])
  })

  it('a hold carries the words and the end that its operator gave', () => {
    expect(
      broken(({ after, event }) => {
        if (event.type !== 'operator.opened' && event.type !== 'operator.closed') return true
        if (event.hold !== true) return true
        const { by, reason, until = null } = event
        return JSON.stringify(after.context.hold) === JSON.stringify({ until, by, reason })
      }),
    ).toEqual([])
  })

  it('the reopen count grows by one with a failed trial, is zero in closed, and otherwise stays', () => {
    expect(
      broken(({ before, after, event }) => {
        const [a, b] = [before.context.reopens, after.context.reopens]
        if (region(leaf(after)) === 'closed') return b === 0
        if (event.type === 'resumed' && after !== before) return b === event.saved.reopens
        const missed =
          leaf(before) === 'halfOpen' && leaf(after) === 'open.cooling' && event.type.startsWith('probe.')
        return b === a + (missed ? 1 : 0)
      }),
    ).toEqual([])
  })

  it('closed can be reached from everywhere, without an operator too unless one holds it', () => {
    for (const graph of breaker.graphs) {
      const isClosed = (state: string) => region(state) === 'closed'
      expect(stranded(graph, isClosed), graph.model.name).toEqual([])
      const alone = graph.edges.filter(
        ({ event }) => !event.type.startsWith('operator.') && event.type !== 'resumed',
      )
      expect(stranded({ ...graph, edges: alone }, isClosed), graph.model.name).toEqual([])
    }
  })
})

/** The longest open period that a policy of the family may give; the cooldown function is asked itself. */
function ceilingOf({ cooldownMs, backoff, kinds, maxRetryAfterMs }: BreakerPolicy): number {
  const own = [cooldownMs, maxRetryAfterMs, ...Object.values(kinds).map((kind) => kind.cooldownMs ?? 0)]
  if (backoff === null) return Math.max(...own)
  if (typeof backoff === 'object') return Math.max(...own, backoff.maxMs, backoff.minMs)
  const asked = Array.from({ length: 10 }, (_, reopens) => {
    try {
      return backoff(reopens)
    } catch {
      return cooldownMs
    }
  })
  return Math.max(...own, ...asked.filter((ms) => Number.isFinite(ms)))
}

describe('the cooldown, on every edge that draws one', () => {
  const draws = ({ before, after, event }: BreakerEdge) =>
    after !== before && leaf(after) === 'open.cooling' && event.type !== 'resumed'

  it('never ends before it begins', () => {
    expect(
      broken((edge) => {
        const { openUntil, cooldownMs, openedAt } = edge.after.context
        if (!draws(edge)) return true
        return (
          openUntil !== null &&
          openUntil >= edge.at &&
          cooldownMs !== null &&
          cooldownMs >= 0 &&
          openedAt !== null &&
          [openUntil, cooldownMs, openedAt].every(Number.isSafeInteger)
        )
      }),
    ).toEqual([])
  })

  it('begins with the event, and lasts as long as was drawn', () => {
    expect(
      broken((edge) => {
        // a straggler moves the end alone
        if (!draws(edge) || edge.event.type === 'call.failed') return true
        const { openUntil, cooldownMs, openedAt } = edge.after.context
        return openedAt === edge.at && openUntil === edge.at + (cooldownMs ?? NaN)
      }),
    ).toEqual([])
  })

  it('is never longer than the policy allows', () => {
    expect(
      broken((edge) => {
        const { openUntil, policy } = edge.after.context
        return !draws(edge) || (openUntil ?? Infinity) - edge.at <= ceilingOf(policy)
      }),
    ).toEqual([])
  })

  it('is cut after a restart to what the policy could have given', () => {
    expect(
      broken(({ before, after, at, event }) => {
        const { openUntil, policy } = after.context
        if (event.type !== 'resumed' || after === before || openUntil === null) return true
        // a function has no ceiling: the figure that was saved counts
        const own = typeof policy.backoff === 'function' ? (event.saved.cooldownMs ?? 0) : 0
        return openUntil <= Math.min(event.saved.openUntil ?? at, at + Math.max(ceilingOf(policy), own))
      }),
    ).toEqual([])
  })

  it('is never shortened while the circuit stays open', () => {
    expect(
      broken(({ before, after }) => {
        if (leaf(before) !== 'open.cooling' || leaf(after) !== 'open.cooling') return true
        return (after.context.openUntil ?? 0) >= (before.context.openUntil ?? Infinity)
      }),
    ).toEqual([])
  })

  it('ends no earlier than the last date among the failed probes, and the trial remembers only later ones', () => {
    expect(
      broken(({ before, after, event, at }) => {
        const trial = before.context.trial
        if (trial === null || !event.type.startsWith('probe.')) return true
        const asked = event.type === 'probe.failed' ? (event.retryAfterMs ?? 0) : 0
        const capped = Math.min(asked, before.context.policy.maxRetryAfterMs)
        const latest = Math.max(trial.retryUntil ?? 0, after !== before && capped > 0 ? at + capped : 0)
        if (leaf(after) === 'open.cooling') return (after.context.openUntil ?? 0) >= latest
        return after.context.trial === null || (after.context.trial.retryUntil ?? 0) === latest
      }),
    ).toEqual([])
  })

  it('starts the trial at its deadline, whoever noticed that it is over', () => {
    expect(
      broken(({ before, after }) => {
        if (leaf(before) !== 'open.cooling' || leaf(after) !== 'halfOpen') return true
        return after.context.since === before.context.openUntil && after.context.cause.why === 'cooldown_over'
      }),
    ).toEqual([])
  })
})

describe('the timers of a real breaker', () => {
  it('are exactly one while it cools down, armed for the end of the cooldown, and none elsewhere', () => {
    const wrong = new Set<string>()
    const seen = new Set<string>()
    replayAll(breaker, ({ edge, snapshot, pending, nextAt, now }) => {
      const state = leaf(snapshot)
      seen.add(state)
      if (pending !== (state === 'open.cooling' ? 1 : 0))
        wrong.add(`${state} after ${edge.event.type}: ${pending} pending`)
      const { openUntil } = snapshot.context
      const due = openUntil === null ? undefined : Math.max(openUntil, now)
      if (nextAt !== due) wrong.add(`${state} after ${edge.event.type}: due at ${due}, armed for ${nextAt}`)
    })
    expect([...wrong].slice(0, 5)).toEqual([])
    expect([...seen].sort()).toEqual(Object.keys(EXITS).sort())
  })
})

const FINAL = ['aborted', 'exhausted', 'interrupted', 'outOfTime', 'stopped', 'succeeded']
const isFinal = (state: string) => FINAL.includes(state)

describe('on every edge of the chain', () => {
  it('no target is visited twice', () => {
    expect(
      brokenInChain(({ after: { context } }) => new Set(context.asked).size === context.asked.length),
    ).toEqual([])
  })

  it('what was visited stays visited, and a visit adds one', () => {
    expect(
      brokenInChain(({ before, after }) => {
        const [a, b] = [before.context.asked, after.context.asked]
        const begun = after !== before && after.context.attempt === 1 && leaf(before) === 'choosing'
        const more = b.length - a.length
        if (more === 1 && b.at(-1) !== after.context.target) return false
        return a.every((name, i) => b[i] === name) && (begun || more === 0) && more <= 1
      }),
    ).toEqual([])
  })

  it('it waits for a circuit only when nobody was asked and every target of its own chain refused', () => {
    expect(
      brokenInChain(({ after }) => {
        const { asked, ahead, list, plan, refused } = after.context
        if (leaf(after) !== 'waiting') return true
        return (
          asked.length === 0 &&
          ahead.length === 0 &&
          list === 'chain' &&
          plan.whenAllOpen.kind === 'wait' &&
          refused.map(({ target }) => target).join() === plan.targets.join()
        )
      }),
    ).toEqual([])
  })

  it('no wait ends later than patience and the deadline allow', () => {
    expect(
      brokenInChain(({ after, before, at }) => {
        const { waitUntil, patienceUntil, plan } = after.context
        if (waitUntil === null || after === before || isFinal(leaf(after))) return true
        if (leaf(after) === 'waiting')
          return (
            waitUntil <= (patienceUntil ?? 0) && (patienceUntil ?? Infinity) <= (plan.deadlineAt ?? Infinity)
          )
        const planned = plan.known[after.context.target ?? '']
        return waitUntil - at <= (planned?.retry.maxMs ?? 0) && waitUntil < (plan.deadlineAt ?? Infinity)
      }),
    ).toEqual([])
  })

  it('patience is fixed by the first wait', () => {
    expect(
      brokenInChain(
        ({ before, after }) =>
          before.context.patienceUntil === null ||
          after.context.patienceUntil === before.context.patienceUntil,
      ),
    ).toEqual([])
  })

  it('a target gets one attempt and its retries, one asked against its refusal gets one', () => {
    expect(
      brokenInChain(({ after: { context } }) => {
        const { attempt, target, plan, lastResort, bypassed } = context
        const most = lastResort || bypassed ? 1 : (plan.known[target ?? '']?.maxRetries ?? 0) + 1
        return attempt <= most
      }),
    ).toEqual([])
  })

  it('without fallback, nobody else is asked once somebody was', () => {
    const bound = chain.graphs
      .flatMap(({ edges }) => edges)
      .filter(({ after }) => after.context.plan.noFallback)
    expect(bound.filter(({ after }) => after.context.asked.length === 1).length).toBeGreaterThan(0)
    expect(bound.filter(({ after }) => after.context.asked.length > 1)).toEqual([])
  })

  it('a last resort is never a circuit that an operator holds, and comes only when nobody was asked', () => {
    const begun = chain.graphs
      .flatMap(({ edges }) => edges)
      .filter(({ before, after }) => after.context.lastResort && !before.context.lastResort)
    expect(begun.length).toBeGreaterThan(0)
    for (const { before, after } of begun) {
      const { target, refused, asked } = after.context
      expect(before.context.asked).toEqual([])
      expect(asked).toEqual([target])
      const refusal = refused.find((entry) => entry.target === target)
      expect(refusal?.reason).not.toBe('held')
      const earliest = Math.min(
        ...refused
          .filter(({ reason, retryAt }) => reason !== 'held' && retryAt !== null)
          .map(({ retryAt }) => retryAt ?? Infinity),
      )
      expect(refusal?.retryAt).toBe(earliest)
    }
  })

  it('a list of its own is entered once and never left for the ordinary chain', () => {
    expect(
      brokenInChain(({ before, after }) => {
        const [a, b] = [before.context.list, after.context.list]
        return a === b || a === 'chain'
      }),
    ).toEqual([])
  })

  it('a state keeps what it needs; everything else is null, and a call that is over waits for nothing', () => {
    const visiting = (state: string) => region(state) === 'visiting'
    const waits = (state: string) => state === 'waiting' || state === 'visiting.backingOff'
    expect(
      brokenInChain(({ after }) => {
        const state = leaf(after)
        const { target, attempt, waitUntil, lastResort, bypassed }: ChainContext = after.context
        // who was asked last is still told when the call is over
        if (isFinal(state)) return waitUntil === null
        if ((lastResort || bypassed) && !visiting(state)) return false
        return (
          (target !== null) === visiting(state) &&
          attempt > 0 === visiting(state) &&
          (waitUntil !== null) === waits(state)
        )
      }),
    ).toEqual([])
  })

  it('an abort and the deadline end it from everywhere', () => {
    expect(
      brokenInChain(({ after, event }) => {
        if (event.type === 'caller.aborted') return leaf(after) === 'aborted'
        return event.type !== 'deadline.passed' || leaf(after) === 'outOfTime'
      }),
    ).toEqual([])
  })

  it('after the first content nothing but this stream, the caller and the deadline decide', () => {
    expect(
      brokenInChain(({ before, after, event }) => {
        if (leaf(before) !== 'visiting.committed') return true
        const ends: Readonly<Record<string, string>> = {
          'stream.completed': 'succeeded',
          'stream.failed': 'interrupted',
          'caller.aborted': 'aborted',
          'deadline.passed': 'outOfTime',
        }
        return leaf(after) === (ends[event.type] ?? leaf(before))
      }),
    ).toEqual([])
  })

  it('it ends in exactly one final state: each is reached, all lead there, none leads on', () => {
    const ends = new Set<string>()
    for (const graph of chain.graphs) {
      expect(stranded(graph, isFinal), graph.model.name).toEqual([])
      for (const snapshot of graph.configurations.values()) {
        expect(snapshot.status).toBe(isFinal(leaf(snapshot)) ? 'done' : 'active')
        if (isFinal(leaf(snapshot))) ends.add(leaf(snapshot))
      }
      expect(graph.edges.filter(({ before }) => isFinal(leaf(before)))).toEqual([])
    }
    expect([...ends].sort()).toEqual(FINAL)
  })

  it('it goes round in circles only through a wait', () => {
    for (const graph of chain.graphs) {
      const ways = Map.groupBy(
        graph.edges.filter(({ before, taken }) => taken && leaf(before) !== 'waiting'),
        ({ source }) => source,
      )
      const open = new Set<string>()
      const done = new Set<string>()
      const circles: string[] = []
      const visit = (key: string) => {
        if (done.has(key)) return
        if (open.has(key)) return void circles.push(key)
        open.add(key)
        for (const { target } of ways.get(key) ?? []) visit(target)
        open.delete(key)
        done.add(key)
      }
      for (const key of graph.configurations.keys()) visit(key)
      expect(circles, graph.model.name).toEqual([])
    }
  })
})

describe('a real chain that has ended', () => {
  it('takes nothing more', () => {
    // XState warns of each
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const tried = new Map<string, number>()
    for (const graph of chain.graphs) {
      const everything = [...new Map(graph.edges.map(({ event }) => [event.type, event])).values()]
      expect(everything).toHaveLength(12)
      for (const [key, snapshot] of graph.configurations) {
        const state = leaf(snapshot)
        if (!isFinal(state) || (tried.get(state) ?? 0) >= 5) continue
        tried.set(state, (tried.get(state) ?? 0) + 1)
        const actor = createActor(chainMachine, { input: graph.model.input }).start()
        for (const { event } of pathTo(graph, key)) actor.send(event)
        const end = actor.getSnapshot()
        expect(leaf(end)).toBe(state)
        for (const event of everything) actor.send(event)
        expect(actor.getSnapshot()).toBe(end)
      }
    }
    expect([...tried.keys()].sort()).toEqual(FINAL)
    expect(warned).toHaveBeenCalled()
  })
})

/** A family that leaves a field untouched proves nothing about it. */
describe('the family of policies', () => {
  it('reaches every state, and every field of the context with more than one value', () => {
    const contexts: BreakerContext[] = breaker.graphs.flatMap(({ configurations }) =>
      [...configurations.values()].map(({ context }) => context),
    )
    const kinds = <K extends keyof BreakerContext>(field: K) =>
      new Set(contexts.map((context) => JSON.stringify(context[field]))).size
    for (const field of [
      'reopens',
      'generation',
      'openUntil',
      'cooldownMs',
      'hold',
      'trial',
      'cause',
    ] as const)
      expect(kinds(field), field).toBeGreaterThan(2)
  })
})
