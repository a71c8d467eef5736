import { hash } from 'node:crypto'
import type { AnyStateMachine, EventObject } from 'xstate'
import { breakerMachine } from '../../../machines/breaker.machine.ts'
import { chainMachine } from '../../../machines/chain.machine.ts'
import { breakerSentences, chainSentences, supervisorSentences } from '../../../machines/sentences.ts'
import { supervisorMachine } from '../../../machines/supervisor.machine.ts'
import { failureTable } from '../../classify/failure-table.ts'
import { resolveBreaker } from '../../core/breaker-options.ts'
import { exploreBreaker, exploreChain, exploreSupervisor } from '../../testing/paths/cover-machines.ts'
import { asFact } from './facts.ts'

/** What the rules are made of, besides their numbers. */
export interface Law {
  /** The states, the transitions, the words of the guards, and what the machine does with every event. */
  readonly breaker: string
  readonly chain: string
  readonly supervisor: string
  /** What counts as a failure, and what follows from it. */
  readonly failures: string
}

/** How much was explored of one machine. */
export interface Explored {
  readonly machine: string
  readonly configurations: number
  readonly edges: number
}

export const sha256 = (value: unknown): string => hash('sha256', JSON.stringify(asFact(value)), 'hex')

interface Graph {
  readonly model: { readonly name: string }
  readonly configurations: { readonly size: number }
  readonly edges: readonly { readonly source: string; readonly event: EventObject; readonly target: string }[]
}

/**
 * What a machine does, whatever its source looks like: every step over a family of policies. An edited guard shows here,
 * a renamed variable does not.
 */
function behaviour(graphs: readonly Graph[]): string {
  const steps = graphs.map(({ model, edges }) => {
    const told = edges.map(({ source, event, target }) => `${source} ${plain(event)} ${target}`)
    return [model.name, hash('sha256', told.join('\n'), 'hex')]
  })
  return sha256(steps)
}

/** An event may carry an actor or an error. */
const plain = (event: EventObject) =>
  JSON.stringify(event, (_key, value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.getPrototypeOf(value) !== Object.prototype
      ? ''
      : value,
  )

const ofMachine = (machine: AnyStateMachine, words: unknown, graphs: readonly Graph[]) =>
  sha256([machine.config, words, behaviour(graphs)])

let known: { readonly law: Law; readonly explored: readonly Explored[] } | undefined

/** The law in force, and how much was explored for it. Explores all three machines the first time: a few seconds. */
export function exploredLaw(): NonNullable<typeof known> {
  if (known !== undefined) return known
  const { policy } = resolveBreaker({ degradation: {} })
  const graphs = {
    breaker: exploreBreaker().graphs,
    chain: exploreChain().graphs,
    supervisor: exploreSupervisor().graphs,
  }
  const law = {
    breaker: ofMachine(breakerMachine, breakerSentences(policy), graphs.breaker),
    chain: ofMachine(chainMachine, chainSentences, graphs.chain),
    supervisor: ofMachine(supervisorMachine, supervisorSentences, graphs.supervisor),
    failures: sha256(failureTable),
  }
  const explored = Object.entries(graphs).map(([machine, all]: [string, readonly Graph[]]) => ({
    machine,
    configurations: all.reduce((sum, { configurations }) => sum + configurations.size, 0),
    edges: all.reduce((sum, { edges }) => sum + edges.length, 0),
  }))
  return (known = { law, explored })
}
