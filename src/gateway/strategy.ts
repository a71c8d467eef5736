import type { Strategy } from './config/resolve-groups.ts'

/** A deployment at the moment of a call. */
export interface Deployment {
  readonly name: string
  /** Share under `weighted`, > 0. */
  readonly weight: number
  /** Calls under way there, under `least-busy`. */
  readonly busy: number
  /** What its circuit would say of the call. `refuses` = open, or no probe slot free. */
  readonly circuit: 'healthy' | 'degraded' | 'refuses'
}

/** What a choice needs besides the deployments. */
export interface Chance {
  /** How many calls the group has had: an integer ≥ 0. */
  readonly turn: number
  /** 0 ≤ roll < 1. */
  readonly roll: number
}

/**
 * The deployments in the order in which a call asks them. Whoever admits goes before whoever refuses, healthy before
 * degraded; the strategy decides among equals, so that each gets its share of what the others cannot take. `ordered`
 * keeps whoever refuses in its place: a refusal costs nothing, and what it saved is counted.
 *
 * @example chooseOrder('round-robin', [a, b, c], { turn: 1, roll: 0 }) // ['b', 'c', 'a']
 */
export function chooseOrder(
  strategy: Strategy,
  deployments: readonly Deployment[],
  chance: Chance,
): readonly string[] {
  if (strategy === 'ordered') {
    return [
      ...deployments.filter(({ circuit }) => circuit !== 'degraded'),
      ...deployments.filter(({ circuit }) => circuit === 'degraded'),
    ].map(({ name }) => name)
  }
  const rank = RANKS[strategy]
  const order = (['healthy', 'degraded', 'refuses'] as const).flatMap((circuit) =>
    rank(
      deployments.filter((deployment) => deployment.circuit === circuit),
      chance,
    ),
  )
  return order.map(({ name }) => name)
}

type Rank = (deployments: readonly Deployment[], chance: Chance) => readonly Deployment[]

const rotated: Rank = (deployments, { turn }) => {
  const start = deployments.length === 0 ? 0 : turn % deployments.length
  return [...deployments.slice(start), ...deployments.slice(0, start)]
}

/** Drawn one after the other without putting back; what is left of a roll within its share is the next roll. */
const drawn: Rank = (deployments, { roll }) => {
  const left = [...deployments]
  const order: Deployment[] = []
  let rest = roll
  while (left.length > 1) {
    let at = rest * left.reduce((sum, { weight }) => sum + weight, 0)
    // rounding may leave a crumb behind the last one
    const place = left.findIndex(({ weight }) => (at < weight ? true : ((at -= weight), false)))
    const [one] = left.splice(place < 0 ? left.length - 1 : place, 1)
    order.push(one!)
    rest = Math.min(Math.max(at / one!.weight, 0), 1 - Number.EPSILON)
  }
  return [...order, ...left]
}

/** Those that are equally busy take turns. */
const idlest: Rank = (deployments, chance) =>
  [...rotated(deployments, chance)].sort((a, b) => a.busy - b.busy)

const RANKS: Readonly<Record<Exclude<Strategy, 'ordered'>, Rank>> = {
  'round-robin': rotated,
  weighted: drawn,
  'least-busy': idlest,
}
