import type { Explanation } from '../core/explain.ts'
import type { Switchgear, TargetSelector, TargetState } from '../core/switchgear.ts'

/** What reading circuits needs of a switchgear, whatever it sends. */
export type ReadableGear = Pick<
  Switchgear<unknown, unknown, unknown>,
  'explain' | 'getCircuitStates' | 'snapshots'
>

/** A circuit that exists. */
export interface Circuit {
  readonly circuit: string
  /** The targets behind it, in the order of the chain. */
  readonly targets: readonly string[]
  /** Their places in the chain. */
  readonly places: readonly number[]
  /** The way to it. */
  readonly selector: TargetSelector
  readonly told: Explanation
}

interface Declared {
  readonly bucket?: string | undefined
}

/** Every circuit, in the order of the chain; a saved one counts, too. Reading changes nothing. */
export function listCircuits(gear: ReadableGear, targets: readonly Declared[]): Circuit[] {
  const circuits = new Map<string, Circuit & { readonly targets: string[]; readonly places: number[] }>()
  const states = gear.getCircuitStates()
  const known = states.some(({ isolateByModel }) => isolateByModel) ? Object.keys(gear.snapshots()) : []
  for (const state of states) {
    for (const selector of selectors(state, targets[state.index], known)) {
      const told = gear.explain(selector)
      if (told === undefined) continue
      const { bucket: circuit } = told
      const seen = circuits.get(circuit) ?? { circuit, targets: [], places: [], selector, told }
      seen.targets.push(state.provider)
      seen.places.push(state.index)
      circuits.set(circuit, seen)
    }
  }
  return [...circuits.values()]
}

/** A target has one circuit, or one for every model that was asked for. */
function selectors(
  { index, provider, isolateByModel }: TargetState,
  target: Declared | undefined,
  known: readonly string[],
): TargetSelector[] {
  if (!isolateByModel) return [{ index }]
  const prefix = `${target?.bucket ?? provider}/`
  return known
    .filter((bucket) => bucket.startsWith(prefix))
    .map((bucket) => ({ index, model: bucket.slice(prefix.length) }))
}
