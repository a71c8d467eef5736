import type { AnyMachineSnapshot, AnyStateMachine, EventFromLogic, SnapshotFrom } from 'xstate'
import { adjacency, isDelayEvent, takesTransition } from '../graph-seam.ts'
import type { Adjacency } from '../graph-seam.ts'
import type { Model } from './model.ts'

// far above the largest policy of the family
const LIMIT = 500_000

/** What one event makes of one configuration. */
export interface Edge<M extends AnyStateMachine> {
  readonly source: string
  readonly target: string
  readonly event: EventFromLogic<M>
  readonly before: SnapshotFrom<M>
  readonly after: SnapshotFrom<M>
  /** When it happens, in ms. */
  readonly at: number
  /** False = the event is refused and changes nothing. */
  readonly taken: boolean
}

export interface EdgeGraph<M extends AnyStateMachine> {
  readonly model: Model<M>
  readonly initial: string
  readonly configurations: ReadonlyMap<string, SnapshotFrom<M>>
  readonly edges: readonly Edge<M>[]
  /** The shortest way to each configuration, as its last edge; the initial one has none. */
  readonly arrivals: ReadonlyMap<string, Edge<M>>
}

/** Explores everything that a model can do. */
export function exploreModel<M extends AnyStateMachine>(model: Model<M>): EdgeGraph<M> {
  // time is no part of a configuration, so the moment of each snapshot is kept beside it
  const moments = new Map<SnapshotFrom<M>, number>()
  const momentOf = (snapshot: SnapshotFrom<M>) => moments.get(snapshot) ?? model.startAt
  const atOf = (before: SnapshotFrom<M>, event: EventFromLogic<M>): number =>
    isDelayEvent(event)
      ? Math.max(momentOf(before), model.deadline(before) ?? 0)
      : (event as { readonly at: number }).at
  const map = adjacency(model.machine, {
    input: model.input,
    limit: LIMIT,
    events: (snapshot) => model.events(snapshot, momentOf(snapshot)),
    key: (snapshot, event, before) => {
      const isNew =
        event !== undefined && before !== undefined && !moments.has(snapshot) && snapshot !== before
      if (isNew) moments.set(snapshot, atOf(before, event))
      return model.key(snapshot)
    },
  })
  return graphOf(model, map, atOf)
}

function graphOf<M extends AnyStateMachine>(
  model: Model<M>,
  map: Readonly<Record<string, Adjacency<M>>>,
  atOf: (before: SnapshotFrom<M>, event: EventFromLogic<M>) => number,
): EdgeGraph<M> {
  const edges: Edge<M>[] = []
  const configurations = new Map<string, SnapshotFrom<M>>()
  const arrivals = new Map<string, Edge<M>>()
  for (const [source, { state: before, transitions }] of Object.entries(map)) {
    configurations.set(source, before)
    for (const { event, state: after } of Object.values(transitions)) {
      const target = model.key(after)
      const taken = takesTransition(before as AnyMachineSnapshot, event)
      const edge = { source, target, event, before, after, at: atOf(before, event), taken }
      edges.push(edge)
      // the explorer goes on from the first snapshot of each configuration, so the path must lead to that very one
      if (map[target]?.state === after && target !== source) arrivals.set(target, edge)
    }
  }
  if (arrivals.size !== configurations.size - 1) {
    throw new Error(`The model '${model.name}' offers the same event twice: its paths cannot be followed.`)
  }
  return { model, initial: Object.keys(map)[0] ?? '', configurations, edges, arrivals }
}

/** The shortest path to a configuration. */
export function pathTo<M extends AnyStateMachine>(graph: EdgeGraph<M>, key: string): Edge<M>[] {
  const path: Edge<M>[] = []
  for (let edge = graph.arrivals.get(key); edge !== undefined; edge = graph.arrivals.get(edge.source)) {
    path.unshift(edge)
  }
  return path
}
