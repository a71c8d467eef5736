import type { AnyStateMachine } from 'xstate'
import { pathTo } from './edge-graph.ts'
import type { Edge, EdgeGraph } from './edge-graph.ts'

/** A way through a machine, and what is refused where it ends. */
export interface CoverPath<M extends AnyStateMachine> {
  readonly steps: readonly Edge<M>[]
  readonly refusals: readonly Edge<M>[]
}

/**
 * Paths that together take every edge: the shortest path to its source, then the edge itself.
 * A path that only begins another one is left out.
 */
export function edgeCover<M extends AnyStateMachine>(graph: EdgeGraph<M>): CoverPath<M>[] {
  const outgoing = new Map<string, { taken: Edge<M>[]; refused: Edge<M>[] }>()
  for (const key of graph.configurations.keys()) outgoing.set(key, { taken: [], refused: [] })
  for (const edge of graph.edges) outgoing.get(edge.source)?.[edge.taken ? 'taken' : 'refused'].push(edge)
  const paths: CoverPath<M>[] = []
  for (const [key, { taken, refused }] of outgoing) {
    const before = pathTo(graph, key)
    if (refused.length > 0 || taken.length === 0) paths.push({ steps: before, refusals: refused })
    for (const edge of taken) {
      const goesOn = graph.arrivals.get(edge.target) === edge
      if (!goesOn) paths.push({ steps: [...before, edge], refusals: [] })
    }
  }
  return paths
}
