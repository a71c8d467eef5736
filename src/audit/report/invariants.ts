import type { breakerMachine } from '../../../machines/breaker.machine.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { breakerModel } from '../../testing/paths/breaker-model.ts'
import { exploreModel } from '../../testing/paths/edge-graph.ts'
import type { Edge, EdgeGraph } from '../../testing/paths/edge-graph.ts'
import { longestOpenMs } from '../open-periods.ts'
import { lasting, plural } from '../words.ts'

type BreakerEdge = Edge<typeof breakerMachine>
type Graph = EdgeGraph<typeof breakerMachine>

/** A rule that must hold whatever happens. */
export interface CheckedInvariant {
  readonly sentence: string
  /** What it was asked of. */
  readonly asked: string
  /** Steps that break it. */
  readonly broken: number
}

/** What exploring a policy has shown. */
export interface Exploration {
  /** The places where the rules make a difference. */
  readonly situations: number
  readonly edges: number
  readonly invariants: readonly CheckedInvariant[]
}

interface Invariant {
  readonly sentence: string
  /** Undefined = the step is none of its business. */
  readonly holds: (edge: BreakerEdge) => boolean | undefined
}

const MOST_PROBES = 6

const leaf = ({ value }: BreakerEdge['before']): string =>
  typeof value === 'string' ? value : Object.entries(value).flat().join('.')
const isOpen = (edge: BreakerEdge) => leaf(edge.before).startsWith('open')
const isByHand = ({ event }: BreakerEdge) => event.type.startsWith('operator.') || event.type === 'resumed'
const asksForAdmission = ({ event }: BreakerEdge) => event.type === 'probe.requested'

function isLate({ before, event }: BreakerEdge): boolean {
  return 'generation' in event && event.generation !== before.context.generation
}

function invariantsOf(policy: BreakerPolicy): Invariant[] {
  const { halfOpenProbes, halfOpenConcurrency } = policy
  const longest = longestOpenMs(policy)
  return [
    {
      sentence:
        'An open circuit admits no call. (A caller may bypass it on purpose, and a last resort goes past it: what becomes of those decides nothing.)',
      holds: (edge) => (isOpen(edge) && asksForAdmission(edge) ? edge.after === edge.before : undefined),
    },
    {
      sentence: `A trial never has more than ${plural(halfOpenConcurrency, 'probe')} under way, and lets ${halfOpenProbes} pass at most.`,
      holds: ({ after: { context } }) => {
        if (context.trial === null) return undefined
        const { permits, succeeded, failed } = context.trial
        return permits.length <= halfOpenConcurrency && permits.length + succeeded + failed <= halfOpenProbes
      },
    },
    {
      sentence: 'A trial ends as soon as it is decided.',
      holds: ({ after: { context } }) => {
        if (context.trial === null) return undefined
        const { succeeded, failed } = context.trial
        return succeeded + failed < halfOpenProbes
      },
    },
    {
      sentence:
        'A call from before the last change between closed, open and half-open opens nothing, closes nothing and ends no trial.',
      holds: (edge) => (isLate(edge) ? leaf(edge.after) === leaf(edge.before) : undefined),
    },
    {
      sentence: 'No outcome makes an open period shorter.',
      holds: (edge) => {
        const [was, is] = [edge.before.context.openUntil, edge.after.context.openUntil]
        return was === null || is === null || edge.event.type === 'resumed' ? undefined : is >= was
      },
    },
    ...(longest === Infinity || typeof policy.backoff === 'function'
      ? []
      : [
          {
            sentence: `No open period begins longer than ${lasting(longest)}, unless an operator holds it.`,
            holds: (edge: BreakerEdge) => {
              const { openedAt, openUntil } = edge.after.context
              const begins = edge.after.context.generation !== edge.before.context.generation
              if (!begins || openUntil === null || openedAt === null || edge.event.type === 'resumed')
                return undefined
              return openUntil - openedAt <= longest
            },
          },
        ]),
    ...(policy.maxRetryAfterMs === 0
      ? []
      : [
          {
            sentence: `An answer that comes late lengthens an open period to ${lasting(policy.maxRetryAfterMs)} after it at most.`,
            holds: ({ before, event, after }: BreakerEdge) => {
              const [was, is] = [before.context.openUntil, after.context.openUntil]
              if (event.type !== 'call.failed' || was === null || is === null || is === was) return undefined
              return is - event.at <= policy.maxRetryAfterMs
            },
          },
        ]),
    {
      sentence: 'What an operator holds stays so, until an operator or its own time ends it.',
      holds: (edge) => {
        if (edge.before.context.hold === null || isByHand(edge) || edge.event.type === 'hold.ended')
          return undefined
        return leaf(edge.after) === leaf(edge.before)
      },
    },
    {
      sentence: 'A circuit that closes has forgotten the outage: no failed trial, no cause is left to count.',
      holds: ({ before, after }) => {
        if (!leaf(after).startsWith('closed') || leaf(before).startsWith('closed')) return undefined
        const { reopens, openUntil, trial } = after.context
        return reopens === 0 && openUntil === null && trial === null
      },
    },
    {
      sentence:
        'Every change between closed, open and half-open takes a new number, and none is used twice: by it a late answer is told from a current one.',
      holds: ({ before, after }) => {
        const region = (snapshot: BreakerEdge['before']) => leaf(snapshot).split('.')[0]
        if (region(before) === region(after)) return undefined
        return after.context.generation > before.context.generation
      },
    },
  ]
}

/** Explores everything that can happen to a circuit of this policy; undefined = it is too large for that. */
export function explorePolicy(policy: BreakerPolicy): Exploration | undefined {
  if (policy.halfOpenProbes > MOST_PROBES) return undefined
  const graph = exploreModel(breakerModel('policy', policy))
  const checked = invariantsOf(policy).map(({ sentence, holds }): CheckedInvariant => {
    const answers = graph.edges.map(holds).filter((answer) => answer !== undefined)
    return {
      sentence,
      asked: plural(answers.length, 'step'),
      broken: answers.filter((answer) => !answer).length,
    }
  })
  return {
    situations: graph.configurations.size,
    edges: graph.edges.length,
    invariants: [...checked, backToClosed(graph)],
  }
}

/** From everywhere there is a way back to closed on which no operator is needed. */
function backToClosed({ configurations, edges }: Graph): CheckedInvariant {
  const sources = Map.groupBy(
    edges.filter((edge) => edge.taken && !isByHand(edge)),
    ({ target }) => target,
  )
  const isClosed = (key: string) => leaf(configurations.get(key)!).startsWith('closed')
  const reached = new Set([...configurations.keys()].filter(isClosed))
  for (const key of reached) for (const { source } of sources.get(key) ?? []) reached.add(source)
  const free = [...configurations].filter(
    ([, { context }]) => context.hold === null || context.hold.until !== null,
  )
  return {
    sentence:
      'From everywhere there is a way back to closed without an operator, except from a hold without an end.',
    asked: plural(free.length, 'situation'),
    broken: free.filter(([key]) => !reached.has(key)).length,
  }
}
