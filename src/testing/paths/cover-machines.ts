import type { AnyStateMachine } from 'xstate'
import { breakerMachine } from '../../../machines/breaker.machine.ts'
import { chainMachine } from '../../../machines/chain.machine.ts'
import { supervisorMachine } from '../../../machines/supervisor.machine.ts'
import { writtenTransitions } from '../graph-seam.ts'
import type { WrittenTransition } from '../graph-seam.ts'
import { breakerModel } from './breaker-model.ts'
import { breakerPolicies } from './breaker-policies.ts'
import { chainModel } from './chain-model.ts'
import { chainPlans } from './chain-plans.ts'
import { edgeCover } from './edge-cover.ts'
import { exploreModel } from './edge-graph.ts'
import type { EdgeGraph } from './edge-graph.ts'
import { replayPath } from './replay-path.ts'
import type { PathFault, Stop } from './replay-path.ts'
import { supervisorModel } from './supervisor-model.ts'

/** Everything that a machine can do over its family of policies or plans. */
export interface Explored<M extends AnyStateMachine> {
  readonly machine: M
  readonly graphs: readonly EdgeGraph<M>[]
}

/** What taking every edge on real actors has shown. */
export interface Coverage {
  readonly machine: string
  readonly configurations: number
  readonly edges: number
  readonly steps: number
  readonly written: number
  /** Written transitions that no edge takes. */
  readonly uncovered: readonly WrittenTransition[]
  readonly faults: readonly PathFault[]
}

export function exploreBreaker(): Explored<typeof breakerMachine> {
  const graphs = Object.entries(breakerPolicies).map(([name, policy]) =>
    exploreModel(breakerModel(name, policy)),
  )
  return { machine: breakerMachine, graphs }
}

export function exploreChain(): Explored<typeof chainMachine> {
  const graphs = Object.entries(chainPlans).map(([name, plan]) => exploreModel(chainModel(name, plan)))
  return { machine: chainMachine, graphs }
}

export function exploreSupervisor(): Explored<typeof supervisorMachine> {
  return { machine: supervisorMachine, graphs: [exploreModel(supervisorModel())] }
}

/** Takes every edge on real actors under a virtual clock; `check` sees each stop. */
export function replayAll<M extends AnyStateMachine>(
  { machine, graphs }: Explored<M>,
  check?: (stop: Stop<M>) => void,
): Coverage {
  const taken = new Set<object>()
  const faults: PathFault[] = []
  let steps = 0
  for (const graph of graphs) {
    for (const path of edgeCover(graph)) {
      const replay = replayPath(graph.model, path, check)
      for (const definition of replay.taken) taken.add(definition)
      faults.push(...replay.faults)
      steps += replay.steps
    }
  }
  const written = writtenTransitions(machine)
  return {
    machine: machine.id,
    ...sizeOf({ machine, graphs }),
    steps,
    written: written.length,
    uncovered: written.filter(({ definition }) => !taken.has(definition)),
    faults,
  }
}

/** What covering one machine has shown. */
export interface MachineCoverage {
  readonly machine: string
  readonly configurations: number
  readonly edges: number
  /** Events sent to real actors, refused ones included. */
  readonly steps: number
  readonly transitions: {
    readonly written: number
    readonly covered: number
    /** Written transitions that no edge takes. */
    readonly uncovered: readonly WrittenTransition[]
  }
  /** Where a real actor went another way than its model. */
  readonly faults: readonly PathFault[]
}

/** One machine, explored. */
export interface MachinePaths {
  readonly machine: string
  readonly configurations: number
  readonly edges: number
  /** Takes every edge on real actors under a virtual clock. */
  readonly replay: () => MachineCoverage
}

const sizeOf = <M extends AnyStateMachine>({ graphs }: Explored<M>) => ({
  configurations: graphs.reduce((sum, { configurations }) => sum + configurations.size, 0),
  edges: graphs.reduce((sum, { edges }) => sum + edges.length, 0),
})

function pathsOf<M extends AnyStateMachine>(explored: Explored<M>): MachinePaths {
  const replay = () => {
    const { machine, configurations, edges, steps, written, uncovered, faults } = replayAll(explored)
    const transitions = { written, covered: written - uncovered.length, uncovered }
    return { machine, configurations, edges, steps, transitions, faults }
  }
  return { machine: explored.machine.id, ...sizeOf(explored), replay }
}

/** Explores all machines over their families of policies and plans; nothing is replayed yet. */
export function exploreMachines(): MachinePaths[] {
  return [pathsOf(exploreBreaker()), pathsOf(exploreChain()), pathsOf(exploreSupervisor())]
}

/**
 * Explores all machines and takes every edge on real actors.
 *
 * @example
 * ```ts
 * const missed = coverMachines().flatMap(({ transitions }) => transitions.uncovered)
 * ```
 */
export function coverMachines(): MachineCoverage[] {
  return exploreMachines().map(({ replay }) => replay())
}

/** A written transition by its place: source, event, index, target. */
export function placeOf({ machine, source, event, index, targets }: WrittenTransition): string {
  return `${machine}: ${source} -- ${event}[${index}] → ${targets.join(', ') || '(stays)'}`
}
