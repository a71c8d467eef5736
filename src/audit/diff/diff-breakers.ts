import { isDeepStrictEqual } from 'node:util'
import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import type { Seen } from '../walk/circuit-fields.ts'
import { walk } from '../walk/walk.ts'
import type { WalkEdge, WalkNode, WalkResult } from '../walk/walk.ts'
import { canWalk } from '../walk/walk-words.ts'

/** A place at which two circuits that have lived through the same can be told apart. */
export interface BreakerDifference {
  readonly node: WalkNode
  /** By what. */
  readonly by: keyof Seen
}

/** What walking two sets of rules side by side has found. */
export interface BreakerComparison {
  /** The shortest of each sort, the shortest first. */
  readonly differences: readonly BreakerDifference[]
  /** `equal` = the same, number for number; `walked` = by walking; `code` = a policy of the user's own cannot be walked. */
  readonly how: 'equal' | 'walked' | 'code'
  readonly walks: readonly (WalkResult & { readonly roll: number })[]
  /** True = nothing within the bounds was left out. */
  readonly complete: boolean
}

const MOST_DIFFERENCES = 12
const MOST_PLACES = 10_000

/** Two sets of rules, number for number. */
function areEqual(a: ResolvedBreaker, b: ResolvedBreaker): boolean {
  const facts = ({ policy, probeLeaseMs, observe, custom }: ResolvedBreaker) => ({
    policy,
    probeLeaseMs,
    observe,
    custom,
  })
  return isDeepStrictEqual(facts(a), facts(b))
}

function rollsOf(rules: readonly ResolvedBreaker[]): readonly number[] {
  const draws = rules.some(
    ({ policy: { backoff } }) => backoff !== null && typeof backoff === 'object' && backoff.jitter !== 'none',
  )
  return draws ? [0.5, 0, 0.999] : [0.5]
}

/** Why the two are where they are: differences of one sort have the same causes. */
function sortOf(by: keyof Seen, { from, to }: WalkEdge): string {
  const before = by === 'retryAfterMs' ? [] : from.circuits.map(({ seen }) => seen.state)
  const why = to.circuits.map(({ snapshot, seen, rules: { policy } }) => {
    const { cause } = snapshot.context
    const { failure = '' } = cause
    // where one opens and the other does not, a kind matters only if it opens the circuit by itself
    const waits = by === 'retryAfterMs' && policy.kinds[failure]?.cooldownMs !== undefined
    const kind = cause.why === 'kind_tripped' || waits ? failure : ''
    return seen.state === 'open' ? [seen.state, cause.why, kind] : [seen.state]
  })
  return JSON.stringify([by, before, why])
}

/** By what the two can be told apart; the plainest first. */
function toldApartBy(a: Seen, b: Seen): keyof Seen | undefined {
  return (['state', 'canExecute', 'retryAfterMs'] as const).find((key) => a[key] !== b[key])
}

const seenAt = ({ circuits }: WalkNode) => circuits.map(({ seen }) => seen) as [Seen, Seen]
const isHalfOpen = ({ state }: Seen) => state === 'half-open'

/** The next call meets something else. */
const isHard = ([a, b]: readonly [Seen, Seen]) =>
  a.canExecute !== b.canExecute || isHalfOpen(a) !== isHalfOpen(b)

/** What only follows from a difference that is known is no other one. */
function isNew({ from, to }: WalkEdge, by: keyof Seen): boolean {
  const known = toldApartBy(...seenAt(from))
  return isHard(seenAt(to)) ? known !== 'retryAfterMs' : known !== by
}

const byOperator = (node: WalkNode): number => {
  let n = 0
  for (let at: WalkNode | undefined = node; at?.step !== undefined; at = at.from)
    if (at.step.do === 'open' || at.step.do === 'close') n++
  return n
}

const wayLength = (node: WalkNode): number => {
  let n = 0
  for (let at: WalkNode | undefined = node; at?.step !== undefined; at = at.from) n++
  return n
}

/** Walks two circuits side by side, and finds the shortest way to every sort of difference. */
export function diffBreakers(
  a: ResolvedBreaker,
  b: ResolvedBreaker,
  mostPlaces = MOST_PLACES,
): BreakerComparison {
  if (areEqual(a, b)) return { differences: [], how: 'equal', walks: [], complete: true }
  const rules = [a, b]
  const functions = rules.some(({ policy }) => typeof policy.backoff === 'function')
  if (functions || !rules.every(({ policy }) => canWalk(policy.rules)))
    return { differences: [], how: 'code', walks: [], complete: false }
  const found = new Map<string, BreakerDifference>()
  const walks = rollsOf(rules).map((roll) => {
    const result = walk(rules, {
      roll,
      mostPlaces,
      enough: () => found.size >= MOST_DIFFERENCES,
      visit: (edge) => {
        const seen = seenAt(edge.to)
        const by = toldApartBy(...seen)
        if (by === undefined) return true
        const sort = sortOf(by, edge)
        if (isNew(edge, by) && !found.has(sort)) found.set(sort, { node: edge.to, by })
        // another wait, or a word of warning: as long as the next call meets the same, the two go on side by side
        return !isHard(seen)
      },
    })
    return { ...result, roll }
  })
  const differences = [...found.values()].toSorted(
    (one, other) =>
      byOperator(one.node) - byOperator(other.node) || wayLength(one.node) - wayLength(other.node),
  )
  return { differences, how: 'walked', walks, complete: walks.every(({ complete }) => complete) }
}
