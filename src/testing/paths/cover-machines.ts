import type { AnyStateMachine } from 'xstate'
import { breakerMachine } from '../../../machines/breaker.machine.ts'
import { chainMachine } from '../../../machines/chain.machine.ts'
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
    configurations: graphs.reduce((sum, { configurations }) => sum + configurations.size, 0),
    edges: graphs.reduce((sum, { edges }) => sum + edges.length, 0),
    steps,
    written: written.length,
    uncovered: written.filter(({ definition }) => !taken.has(definition)),
    faults,
  }
}
