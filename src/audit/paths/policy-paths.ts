import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import { asScenario } from '../walk/as-scenario.ts'
import type { WalkedScenario } from '../walk/walk-scenario.ts'
import { walk } from '../walk/walk.ts'
import type { WalkEdge, WalkNode, WalkResult } from '../walk/walk.ts'
import { canWalk, storyOf } from '../walk/walk-words.ts'
import type { Story } from '../walk/walk-words.ts'
import { windowWays } from '../walk/window-ways.ts'

/** One way through a circuit, as a test and as a story. */
export interface PolicyPath {
  readonly name: string
  readonly scenario: WalkedScenario
  readonly story: Story
}

/** Ways that together take every step there is, or a sample that takes every sort of step. */
export interface PolicyPaths {
  readonly paths: readonly PolicyPath[]
  /** `edges` = every step of everything that can happen; `sample` = every sort of step once. */
  readonly cover: 'edges' | 'sample'
  /** Paths that the whole would have, as far as it was walked. */
  readonly all: number
  readonly walked: WalkResult
}

const MOST_PATHS = 500
// beyond that the steps are too many for tests anyway
const MOST_PLACES = 5000

/** Transitions, states and kind of step: of one sort one path is enough for a sample. */
function sortOf({ from, step, to }: WalkEdge): string {
  const {
    outcome = '',
    failure = '',
    hold = false,
  } = { outcome: undefined, failure: undefined, hold: undefined, ...step }
  const [before, after] = [from.circuits[0]!, to.circuits[0]!]
  return JSON.stringify([
    before.snapshot.value,
    after.snapshot.value,
    after.taken,
    step.do,
    outcome,
    failure,
    hold,
    'retryAfterMs' in step,
  ])
}

/** Paths through a circuit of these rules; undefined = code of the user's own decides. */
export function policyPaths(rules: ResolvedBreaker, most = MOST_PATHS): PolicyPaths | undefined {
  if (!canWalk(rules.policy.rules)) return undefined
  const ends: WalkNode[] = []
  const sample = new Map<string, WalkNode>()
  const walked = walk([rules], {
    mostPlaces: MOST_PLACES,
    visit: (edge) => {
      const sort = sortOf(edge)
      if (!sample.has(sort)) sample.set(sort, edge.to)
      // a way on begins with what leads to it, so only where it ends is a path of its own
      if (edge.known) ends.push(edge.to)
      return true
    },
  })
  const isWhole = walked.complete && ends.length <= most
  const nodes = isWhole ? ends : withoutPrefixes([...sample.values(), ...windowWays(rules)])
  return {
    paths: nodes.map((node, i) => toPath(node, rules, i + 1)),
    cover: isWhole ? 'edges' : 'sample',
    all: ends.length,
    walked,
  }
}

/** A path that only begins another one shows nothing of its own. */
function withoutPrefixes(nodes: readonly WalkNode[]): WalkNode[] {
  const passed = new Set<WalkNode>()
  for (const node of nodes) for (let at = node.from; at !== undefined; at = at.from) passed.add(at)
  return nodes.filter((node) => !passed.has(node))
}

function toPath(node: WalkNode, rules: ResolvedBreaker, n: number): PolicyPath {
  const story = storyOf(node)
  const name = `${n}: ${story.when}: ${story.result}`
  return { name, story, scenario: asScenario(node, rules, name) }
}
