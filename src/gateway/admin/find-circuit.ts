import leven from 'leven'

import type { TargetSelector } from '../../core/switchgear.ts'
import { AdminError } from './admin-error.ts'
import type { AdminGear, AdminTarget, SeenCircuit } from './circuit-view.ts'
import { cleanWords } from './words.ts'

const MOST_TOLD = 10

/**
 * The circuit of this name.
 *
 * @throws AdminError, 404 with the names that may be meant
 */
export function findCircuit(
  circuit: string,
  circuits: readonly SeenCircuit[],
  gear: AdminGear,
  targets: readonly AdminTarget[],
): SeenCircuit {
  const found = circuits.find((seen) => seen.circuit === circuit)
  if (found !== undefined) return found
  if (unusedCircuits(gear, targets).has(circuit)) {
    throw unknown(circuit, [], 'It has not been used yet: its first call, or opening it, makes it.')
  }
  throw notThere(circuit, circuits, gear)
}

/**
 * The way to the circuit of this name, also to that of a configured model that nobody has asked for yet.
 *
 * @throws AdminError, 404 with the names that may be meant
 */
export function wayTo(
  circuit: string,
  circuits: readonly SeenCircuit[],
  gear: AdminGear,
  targets: readonly AdminTarget[],
): TargetSelector {
  const found =
    circuits.find((seen) => seen.circuit === circuit)?.selector ?? unusedCircuits(gear, targets).get(circuit)
  if (found !== undefined) return found
  throw notThere(circuit, circuits, gear)
}

/** Circuits per model appear with their first call; those of the configured models can be named before. */
function unusedCircuits(gear: AdminGear, targets: readonly AdminTarget[]): Map<string, TargetSelector> {
  const isolating = gear.getCircuitStates().filter(({ isolateByModel }) => isolateByModel)
  return new Map(
    isolating.map(({ index, provider }) => {
      const { bucket = provider, model = '' } = targets[index] ?? {}
      return [`${bucket}/${model}`, { index, model }]
    }),
  )
}

function notThere(circuit: string, circuits: readonly SeenCircuit[], gear: AdminGear): AdminError {
  const behind = circuits.filter(({ targets }) => targets.includes(circuit)).map((seen) => seen.circuit)
  const target = gear.getCircuitStates().find(({ provider }) => provider === circuit)
  if (behind.length > 0) {
    return unknown(circuit, behind, `The target of that name has another circuit: ${list(behind)}.`)
  }
  if (target !== undefined) {
    const why = target.isolateByModel
      ? 'The target of that name has one for each model, made by the first call.'
      : 'The target of that name has no circuit breaker.'
    return unknown(circuit, [], why)
  }
  const names = circuits.map((seen) => seen.circuit)
  const wrong = circuit.slice(0, 200)
  const distance = new Map(names.map((name) => [name, leven(wrong, name.slice(0, 200))]))
  const near = names
    .filter((name) => distance.get(name)! <= Math.max(2, wrong.length / 3))
    .sort((a, b) => distance.get(a)! - distance.get(b)!)
    .slice(0, 3)
  if (near.length > 0) return unknown(circuit, near, `Did you mean ${list(near, ' or ')}?`)
  return unknown(circuit, [], names.length === 0 ? 'There is none at all.' : `Known: ${list(names)}.`)
}

function list(names: readonly string[], glue = ', '): string {
  const shown = names.slice(0, MOST_TOLD).map((name) => `'${cleanWords(name, 100)}'`)
  const more = names.length - shown.length
  return `${shown.join(glue)}${more > 0 ? ` and ${more} more` : ''}`
}

function unknown(circuit: string, didYouMean: readonly string[], hint: string): AdminError {
  const text = `There is no circuit '${cleanWords(circuit, 100)}'. ${hint}`
  return new AdminError(404, 'unknown_circuit', text, didYouMean.length === 0 ? {} : { didYouMean })
}
