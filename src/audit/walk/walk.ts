import { Imagined } from './imagined.ts'
import type { WalkRules } from './circuit-fields.ts'
import { walkKey } from './walk-key.ts'
import { boundsFor, naturalSteps, operatorSteps } from './walk-steps.ts'
import type { Bounds } from './walk-steps.ts'
import type { WalkStep } from './walk-step.ts'

/** A place that circuits of different rules can come to by the same steps. */
export interface WalkNode {
  /** One circuit for each of the rules. */
  readonly circuits: readonly Imagined[]
  /** The step before; the first place has none. */
  readonly from: WalkNode | undefined
  readonly step: WalkStep | undefined
}

/** A step from one place to another. */
export interface WalkEdge {
  readonly from: WalkNode
  readonly step: WalkStep
  readonly to: WalkNode
  /** The place was known: another way leads there, no longer one. */
  readonly known: boolean
}

export interface WalkOptions {
  readonly roll?: number
  readonly bounds?: Bounds
  /** Places after which the walk gives up. Default 20 000. */
  readonly mostPlaces?: number
  /** Hears every step; false = nothing behind it is of interest. */
  readonly visit?: (edge: WalkEdge) => boolean
  /** True = what was looked for has been found. */
  readonly enough?: () => boolean
}

/** How far a walk came. */
export interface WalkResult {
  readonly places: number
  readonly steps: number
  readonly bounds: Bounds
  /** False = there is more than was walked. */
  readonly complete: boolean
}

const MOST_PLACES = 20_000
const FOR_OPERATORS = 1.2

/**
 * Walks circuits of different rules through everything that can happen to them, side by side, the shortest ways first.
 * What an operator does comes last, so that a way without one is found where there is one.
 */
export function walk(rules: readonly WalkRules[], options: WalkOptions = {}): WalkResult {
  const {
    roll = 0.5,
    bounds = boundsFor(rules),
    mostPlaces = MOST_PLACES,
    visit = () => true,
    enough = () => false,
  } = options
  const first: WalkNode = {
    circuits: rules.map((each) => Imagined.start(each, roll)),
    from: undefined,
    step: undefined,
  }
  const keyOf = ({ circuits }: WalkNode) =>
    circuits.map((circuit) => walkKey(circuit, bounds.reopens)).join(' ')
  const known = new Set([keyOf(first)])
  const open: WalkNode[] = [first]
  let steps = 0
  let complete = true

  const go = (from: WalkNode, list: readonly WalkStep[], most: number): void => {
    for (const step of list) {
      const circuits = from.circuits.flatMap((circuit) => circuit.after(step) ?? [])
      if (circuits.length < rules.length) continue
      steps++
      const to: WalkNode = { circuits, from, step }
      const key = keyOf(to)
      const isKnown = known.has(key)
      if (!visit({ from, step, to, known: isKnown }) || isKnown) continue
      if (known.size >= most) {
        complete = false
        continue
      }
      known.add(key)
      open.push(to)
    }
  }
  const natural = (from: number, most: number): void => {
    for (let i = from; i < open.length && !enough(); i++) {
      go(open[i]!, naturalSteps(open[i]!.circuits, bounds), most)
    }
  }
  natural(0, mostPlaces)
  // where nature alone was too much, something is left for the operator
  const most = Math.ceil(mostPlaces * FOR_OPERATORS)
  for (let done = 0; done < open.length && !enough();) {
    const end = open.length
    for (; done < end && !enough(); done++) go(open[done]!, operatorSteps(open[done]!.circuits), most)
    natural(end, most)
  }
  return { places: known.size, steps, bounds, complete: complete && !enough() }
}

/** The steps that lead to a place. */
export function wayTo(node: WalkNode): WalkNode[] {
  const way: WalkNode[] = []
  for (let at: WalkNode | undefined = node; at?.step !== undefined; at = at.from) way.unshift(at)
  return way
}
