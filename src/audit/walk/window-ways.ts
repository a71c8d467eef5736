import type { TrippingRule } from '../../../machines/tripping.ts'
import { Imagined } from './imagined.ts'
import type { WalkRules } from './circuit-fields.ts'
import type { Ending, WalkStep } from './walk-step.ts'
import type { WalkNode } from './walk.ts'

type Windowed = Extract<TrippingRule, { readonly windowMs: number }>

const MOST_CALLS = 500
/** As many lengths of a window, and nothing of before is in it. */
const FORGOTTEN = 1.2
const GOOD: Ending = { outcome: 'succeed' }

const times = (n: number, ending: Ending): Ending[] => Array.from({ length: Math.max(0, n) }, () => ending)

/** As many bad calls as the rule asks for among as many calls as it needs, never so many in a row that another rule is met. */
function fill(rule: Windowed, inARow: number): { readonly start: Ending[]; readonly rest: Ending[] } {
  const calls = Math.max(1, rule.minCalls)
  const ratio = rule.kind === 'rolling' ? rule.failureRatio : rule.slowRatio
  const bad = Math.max(1, Math.ceil(ratio * calls - 1e-9))
  const BAD: Ending =
    rule.kind === 'rolling' ? { outcome: 'fail' } : { outcome: 'succeed', latencyMs: rule.slowMs + 1 }
  const most = rule.kind === 'rolling' ? Math.max(1, inARow - 1) : bad
  const rest: Ending[] = []
  for (let left = bad; left > 0; left -= most) {
    rest.push(...times(Math.min(most, left), BAD))
    if (left > most) rest.push(GOOD)
  }
  return { start: times(calls - rest.length, GOOD), rest }
}

/** Good calls enough for `bad` bad ones to be no matter to any of the windows. */
const goodBefore = (bad: number, windows: readonly Windowed[]) => {
  const least = Math.min(
    ...windows.map((rule) => (rule.kind === 'rolling' ? rule.failureRatio : rule.slowRatio)),
  )
  return times(Math.ceil(bad / least), GOOD)
}

/** Good calls first, that a longer window still knows when the rule's own has forgotten them. */
function afterGoodCalls(rule: Windowed, inARow: number, windows: readonly Windowed[]): WalkStep[][] {
  const { start, rest } = fill(rule, inARow)
  const longer = windows.filter(({ windowMs }) => windowMs > rule.windowMs * FORGOTTEN)
  if (longer.length === 0) return []
  const wait = { do: 'wait', ms: Math.ceil(rule.windowMs * FORGOTTEN) } as const
  return [[...calls(goodBefore(rest.length, longer)), wait, ...calls([...start, ...rest])]]
}

/** A count without a window is reached where good calls keep every window below its share. */
function countedBeside(windows: readonly Windowed[]) {
  return (rule: TrippingRule): WalkStep[][] => {
    if (!('threshold' in rule) || rule.threshold > MOST_CALLS || windows.length === 0) return []
    return [calls([...goodBefore(rule.threshold, windows), ...times(rule.threshold, { outcome: 'fail' })])]
  }
}

const calls = (endings: readonly Ending[]) => endings.map((ending) => ({ do: 'call', ...ending }) as const)

function follow(rules: WalkRules, steps: readonly WalkStep[]): WalkNode | undefined {
  let node: WalkNode = { circuits: [Imagined.start(rules, 0.5)], from: undefined, step: undefined }
  for (const step of steps) {
    const next = node.circuits[0]!.after(step)
    if (next === undefined) return undefined
    node = { circuits: [next], from: node, step }
  }
  return node
}

/** Ways that fill the window of a rule until it opens the circuit, by a bad call and by a good one. */
export function windowWays(rules: WalkRules): WalkNode[] {
  const all = rules.policy.rules
  const inARow = Math.min(Infinity, ...all.flatMap((rule) => ('threshold' in rule ? [rule.threshold] : [])))
  const windows = all.filter((rule): rule is Windowed => 'windowMs' in rule && rule.minCalls <= MOST_CALLS)
  const filling = windows.flatMap((rule) => {
    const { start, rest } = fill(rule, inARow)
    return [
      calls([...start, ...rest]),
      calls([...start.slice(1), ...rest, GOOD]),
      ...afterGoodCalls(rule, inARow, windows),
    ]
  })
  return [...filling, ...all.flatMap(countedBeside(windows))].flatMap((way) => follow(rules, way) ?? [])
}
