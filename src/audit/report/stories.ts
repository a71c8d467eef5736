import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { ruleInWords } from '../../../machines/sentences.ts'
import { reaches, shareOf } from '../../../machines/tripping.ts'
import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import { asScenario } from '../walk/as-scenario.ts'
import { playedRight } from '../walk/play-walk.ts'
import { walk } from '../walk/walk.ts'
import type { WalkNode, WalkResult } from '../walk/walk.ts'
import { canWalk, storyOf } from '../walk/walk-words.ts'
import type { Story } from '../walk/walk-words.ts'
import { windowWays } from '../walk/window-ways.ts'

/** The shortest ways of one policy. */
export interface Stories {
  /** By what opens the circuit, in words. */
  readonly opening: ReadonlyMap<string, Story>
  /** By the id of a written transition. */
  readonly transitions: ReadonlyMap<string, Story>
  readonly walked: WalkResult
  /** Stories that were played on a breaker of the library, and those that came out otherwise. */
  readonly played: number
  readonly failed: number
}

const MOST_PLACES = 3000

/** What has opened the circuit here: a rule or a kind, in words; undefined = nothing has. */
function openedBy({ circuits }: WalkNode): string | undefined {
  const [circuit] = circuits
  const { opened: cause, snapshot } = circuit!
  const { policy } = snapshot.context
  if (cause?.why !== 'tripped' && cause?.why !== 'kind_tripped') return undefined
  if (cause.why === 'kind_tripped') return kindInWords(policy, cause.failure ?? '')
  const rule = policy.rules.find((rule, i) => reaches(shareOf(rule, cause.reading?.rules[i]), 1))
  return rule && ruleInWords(rule)
}

function kindInWords({ kinds }: BreakerPolicy, kind: string): string {
  const { immediateOpen, threshold = 1 } = kinds[kind] ?? {}
  return immediateOpen === true || threshold === 1
    ? `one ${kind}`
    : `${threshold} × ${kind} without a success between`
}

/** How many ways of opening there are to be found. */
const waysOf = ({ rules, kinds }: BreakerPolicy) =>
  rules.filter((rule) => !('threshold' in rule && rule.threshold === Infinity)).length +
  Object.values(kinds).filter(
    ({ immediateOpen, threshold }) => immediateOpen === true || threshold !== undefined,
  ).length

/** Walks a policy for the shortest way to everything; undefined = code of the user's own decides. */
export async function storiesOf(
  rules: ResolvedBreaker,
  expected: ReadonlySet<string>,
): Promise<Stories | undefined> {
  const { policy } = rules
  if (!canWalk(policy.rules)) return undefined
  const opening = new Map<string, WalkNode>()
  const transitions = new Map<string, WalkNode>()
  const missing = new Set(expected)
  const note = (node: WalkNode) => {
    const by = openedBy(node)
    if (by !== undefined && !opening.has(by)) opening.set(by, node)
    for (const id of node.circuits[0]!.taken) {
      missing.delete(id)
      if (!transitions.has(id)) transitions.set(id, node)
    }
    return true
  }
  const walked = walk([rules], {
    mostPlaces: MOST_PLACES,
    enough: () => missing.size === 0 && opening.size >= waysOf(policy),
    visit: ({ to }) => note(to),
  })
  // a large window fills too slowly for a walk
  for (const node of windowWays(rules)) note(node)
  const nodes = [...opening.values(), ...transitions.values()]
  let failed = 0
  for (const node of nodes) if (!(await playedRight(asScenario(node, rules, 'story')))) failed++
  return {
    opening: told(opening),
    transitions: told(transitions),
    walked,
    played: nodes.length,
    failed,
  }
}

const told = (nodes: ReadonlyMap<string, WalkNode>): Map<string, Story> =>
  new Map([...nodes].map(([key, node]) => [key, storyOf(node)]))
