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
import type { Model } from './model.ts'
import { replayPath } from './replay-path.ts'
import type { PathFault, Stop } from './replay-path.ts'
import { driveSupervisor } from './supervisor-drive.ts'

/** What exploring one machine over its family of policies or plans came to. */
export interface PathReport {
  readonly machine: string
  /** How many policies or plans. */
  readonly models: number
  readonly configurations: number
  readonly edges: number
  readonly paths: number
  readonly transitions: {
    readonly written: number
    readonly covered: number
    readonly uncovered: readonly WrittenTransition[]
  }
  /** Where a real actor went another way. */
  readonly faults: readonly PathFault[]
  readonly ms: { readonly explored: number; readonly replayed: number }
}

export interface ExploreOptions {
  /** Time for the report, in ms; default: none is taken. */
  readonly now?: () => number
  /** Sees every step of every path on the real actor. */
  readonly check?: <M extends AnyStateMachine>(model: Model<M>, stop: Stop<M>) => void
}

/** Every policy of the family, as a model. */
export const breakerModels = () =>
  Object.entries(breakerPolicies).map(([name, policy]) => breakerModel(name, policy))

/** Every plan of the family, as a model. */
export const chainModels = () => Object.entries(chainPlans).map(([name, plan]) => chainModel(name, plan))

function coverage(machine: AnyStateMachine, taken: ReadonlySet<object>): PathReport['transitions'] {
  const written = writtenTransitions(machine)
  const uncovered = written.filter(({ definition }) => !taken.has(definition))
  return { written: written.length, covered: written.length - uncovered.length, uncovered }
}

function exploreMachine<M extends AnyStateMachine>(
  machine: M,
  models: readonly Model<M>[],
  { now = () => 0, check }: ExploreOptions,
): PathReport {
  const taken = new Set<object>()
  const faults: PathFault[] = []
  const sum = { configurations: 0, edges: 0, paths: 0 }
  const ms = { explored: 0, replayed: 0 }
  for (const model of models) {
    const started = now()
    const graph = exploreModel(model)
    const cover = edgeCover(graph)
    const explored = now()
    for (const path of cover) {
      const replay = replayPath(model, path, check && ((stop) => check(model, stop)))
      for (const definition of replay.taken) taken.add(definition)
      faults.push(...replay.faults)
    }
    sum.configurations += graph.configurations.size
    sum.edges += graph.edges.length
    sum.paths += cover.length
    ms.explored += explored - started
    ms.replayed += now() - explored
  }
  const transitions = coverage(machine, taken)
  return { machine: machine.id, models: models.length, ...sum, transitions, faults, ms }
}

function exploreSupervisor({ now = () => 0 }: ExploreOptions): PathReport {
  const started = now()
  const { configurations, steps, taken, faults } = driveSupervisor()
  const ms = { explored: 0, replayed: now() - started }
  const transitions = coverage(supervisorMachine, taken)
  return { machine: 'supervisor', models: 1, configurations, edges: steps, paths: 1, transitions, faults, ms }
}

/**
 * Explores the three machines over the family of policies and takes every edge on a real actor under a virtual clock.
 * A transition that is written but never taken stands in `uncovered`.
 *
 * @example
 * ```ts
 * for (const { machine, transitions } of explorePaths()) console.log(machine, transitions.uncovered)
 * ```
 */
export function explorePaths(options: ExploreOptions = {}): PathReport[] {
  return [
    exploreMachine(breakerMachine, breakerModels(), options),
    exploreMachine(chainMachine, chainModels(), options),
    exploreSupervisor(options),
  ]
}
