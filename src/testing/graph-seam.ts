import { getAdjacencyMap, getStateNodes } from '@xstate/graph'
import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  EventFromLogic,
  EventObject,
  InputFrom,
  InspectionEvent,
  SnapshotFrom,
} from 'xstate'

// Everything that leans on @xstate/graph or on half-private parts of XState stands in this file.

type Definition = ReturnType<AnyStateMachine['getTransitionData']>[number]
export type StateNodeOf = AnyStateMachine['root']

/** A transition as it stands in a machine. */
export interface WrittenTransition {
  readonly machine: string
  /** Id of the state that it stands in. */
  readonly source: string
  /** The event's type; `always` for one without an event. */
  readonly event: string
  /** Its place among those of the same source and event. */
  readonly index: number
  /** Ids of the states that it leads to; empty = it stays. */
  readonly targets: readonly string[]
  readonly description: string | undefined
  /** The definition itself: two are the same only if they are the same object. */
  readonly definition: object
}

/** Every state of a machine, the root first. */
export function stateNodes(machine: AnyStateMachine): readonly StateNodeOf[] {
  return [machine.root, ...getStateNodes(machine.root)] as StateNodeOf[]
}

/** Every transition that is written in a machine. */
export function writtenTransitions(machine: AnyStateMachine): WrittenTransition[] {
  return stateNodes(machine).flatMap((node) => [
    ...[...node.transitions].flatMap(([event, list]) => list.map(describe(machine.id, node.id, event))),
    ...(node.always ?? []).map(describe(machine.id, node.id, 'always')),
  ])
}

/** What a machine names and what it implements. */
export interface MachineNames {
  readonly guards: ReadonlySet<string>
  readonly actions: ReadonlySet<string>
  readonly delays: ReadonlySet<string>
  /** Guards, actions and delays that are written inline, by their place. */
  readonly inline: readonly string[]
}

/** XState puts a raise at the entry and a cancel at the exit of a state with a delay. */
const isDelayPlumbing = (action: unknown) =>
  typeof action === 'function' &&
  ['xstate.raise', 'xstate.cancel'].includes((action as unknown as { readonly type?: string }).type ?? '')

/** Every guard, action and delay that a machine's states and transitions refer to. */
export function usedNames(machine: AnyStateMachine): MachineNames {
  const [guards, actions, delays] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const inline: string[] = []
  const note = (names: Set<string>, place: string, used: unknown) => {
    const name = typeof used === 'string' ? used : (used as { readonly type?: unknown }).type
    if (typeof name === 'string' && typeof used !== 'function') names.add(name)
    else inline.push(place)
  }
  for (const node of stateNodes(machine)) {
    for (const action of [...node.entry, ...node.exit]) {
      if (!isDelayPlumbing(action)) note(actions, node.id, action)
    }
    for (const { delay } of node.after) note(delays, node.id, delay)
    for (const { guard, actions: done } of [...node.transitions.values(), node.always ?? []].flat()) {
      if (guard !== undefined) note(guards, node.id, guard)
      for (const action of done) note(actions, node.id, action)
    }
  }
  return { guards, actions, delays, inline }
}

/** Every guard, action and delay that a machine implements. */
export function implementedNames(machine: AnyStateMachine): Omit<MachineNames, 'inline'> {
  const { guards, actions, delays } = machine.implementations
  const names = (given: object) => new Set(Object.keys(given))
  return { guards: names(guards), actions: names(actions), delays: names(delays) }
}

const describe =
  (machine: string, source: string, event: string) =>
  (definition: Definition, index: number): WrittenTransition => ({
    machine,
    source,
    event,
    index,
    targets: (definition.target ?? []).map(({ id }) => id),
    description: definition.description,
    definition,
  })

/** True when `event` takes a transition from `snapshot`; false = it is refused. */
export function takesTransition(snapshot: AnyMachineSnapshot, event: EventObject): boolean {
  return (snapshot.machine as AnyStateMachine).getTransitionData(snapshot, event).length > 0
}

/** The definitions that a running actor has taken, as its inspector hears of them. */
export function takenTransitions(event: InspectionEvent): readonly object[] {
  return event.type === '@xstate.microstep' ? event._transitions : []
}

/** The events by which the delays of the active states end. */
export function delayEvents(snapshot: AnyMachineSnapshot): readonly EventObject[] {
  const nodes = (snapshot as unknown as { readonly _nodes: readonly StateNodeOf[] })._nodes
  return nodes.flatMap((node) => node.after.map(({ eventType }) => ({ type: eventType })))
}

export const isDelayEvent = ({ type }: EventObject) => type.startsWith('xstate.after.')

/** How a machine is explored. */
export interface Exploration<M extends AnyStateMachine> {
  readonly input: InputFrom<M>
  readonly events: (snapshot: SnapshotFrom<M>) => readonly EventFromLogic<M>[]
  /** Configurations with the same key count as one. */
  readonly key: (
    snapshot: SnapshotFrom<M>,
    event: EventFromLogic<M> | undefined,
    before: SnapshotFrom<M> | undefined,
  ) => string
  /** Edges after which the exploration gives up with an error. */
  readonly limit: number
}

export interface Adjacency<M extends AnyStateMachine> {
  readonly state: SnapshotFrom<M>
  readonly transitions: Readonly<
    Record<string, { readonly event: EventFromLogic<M>; readonly state: SnapshotFrom<M> }>
  >
}

/** Every configuration that can be reached, with what each event makes of it. */
export function adjacency<M extends AnyStateMachine>(
  machine: M,
  exploration: Exploration<M>,
): Readonly<Record<string, Adjacency<M>>> {
  const { input, events, key, limit } = exploration
  // a machine that emits does not fit the graph's types: the actor scope is invariant
  const walk = getAdjacencyMap as unknown as (machine: M, options: object) => Record<string, Adjacency<M>>
  // own events do not cover the machine's delays, and a root's transitions would leave a final state
  const all = (snapshot: SnapshotFrom<M>) => {
    const { status } = snapshot as AnyMachineSnapshot
    return status === 'active' ? [...events(snapshot), ...delayEvents(snapshot as AnyMachineSnapshot)] : []
  }
  return walk(machine, { input, events: all, serializeState: key, limit })
}
