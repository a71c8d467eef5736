import type { TrippingRule } from '../../../machines/tripping.ts'
import { drawCooldown } from '../../../machines/cooldown.ts'
import { openPeriod } from '../open-periods.ts'
import { lasting, plural, sentence } from '../words.ts'
import type { Imagined } from './imagined.ts'
import { wayTo } from './walk.ts'
import type { WalkNode } from './walk.ts'
import type { Ending, WalkStep } from './walk-step.ts'

/** A way as a product owner reads it. */
export interface Story {
  readonly given: readonly string[]
  readonly when: string
  readonly result: string
}

const STATES: Readonly<Record<string, string>> = {
  closed: 'closed: calls flow',
  degraded: 'degraded: calls flow, near the threshold',
  open: 'open: calls are refused',
  'half-open': 'half-open: the trial runs',
}

const kindOf = ({ failure }: Ending) => (failure === undefined ? '' : ` (${failure})`)

/** The pause that a provider asks for, where it does. */
const askedFor = ({ retryAfterMs }: Ending) =>
  retryAfterMs === undefined ? '' : `, and the provider asks for ${lasting(retryAfterMs)} of patience`

function ends(who: string, ending: Ending): string {
  const { outcome, latencyMs = 0 } = ending
  if (outcome === 'ignore') return `${who} says nothing about the target (its caller hung up)`
  if (outcome === 'succeed')
    return latencyMs > 0 ? `${who} succeeds after ${lasting(latencyMs)}` : `${who} succeeds`
  return `${who} fails${kindOf(ending)}${askedFor(ending)}`
}

function callsInWords(times: number, step: Ending, before: Imagined): string {
  const isProbe = before.seen.state === 'half-open'
  if (times === 1) return ends(isProbe ? 'a call passes as a probe and' : 'a call', step)
  const { outcome, latencyMs = 0 } = step
  const what =
    outcome === 'fail'
      ? `fail${kindOf(step)}`
      : latencyMs > 0
        ? `succeed after ${lasting(latencyMs)} each`
        : 'succeed'
  return `${plural(times, isProbe ? 'probe' : 'call')}, one after the other, ${what}`
}

function settled(step: Extract<WalkStep, { do: 'settle' }>, before: Imagined): string {
  const inside = before.inside.find(({ name }) => name === step.permit)
  if (inside === undefined) return ''
  if (inside.permit.probe && before.isCurrent(inside)) return ends('the probe under way', step)
  return ends(before.isCurrent(inside) ? 'the call under way' : 'a call from before the last change', step)
}

function commanded({ do: verb, hold, ttlMs }: Extract<WalkStep, { do: 'open' | 'close' }>): string {
  const what = `an operator ${verb === 'open' ? 'opens' : 'closes'} the circuit`
  if (hold !== true) return `${what} by hand`
  return `${what} and holds it${ttlMs === undefined ? '' : ` for ${lasting(ttlMs)}`}`
}

function inWords(step: WalkStep, times: number, before: Imagined): string {
  switch (step.do) {
    case 'call':
      return callsInWords(times, step, before)
    case 'admit':
      return before.seen.state === 'half-open'
        ? 'a call passes as a probe and is still under way'
        : 'a call begins and is still under way'
    case 'settle':
      return settled(step, before)
    case 'wait':
      return `${lasting(step.ms)} pass`
    default:
      return commanded(step)
  }
}

/** That chance drew it, and between what. */
function drawnBetween({ rules: { policy }, roll, snapshot }: Imagined, ms: number): string {
  const { reopens, cause } = snapshot.context
  const { leastMs, mostMs } = openPeriod(policy, reopens, cause.failure)
  if (leastMs === mostMs || drawCooldown(policy, reopens, roll, cause.failure) !== ms) return ''
  return ` (by chance, ${lasting(leastMs)} to ${lasting(mostMs)})`
}

/** What can be seen after a step. */
function outcome(after: Imagined, before: Imagined): string {
  const { state, retryAfterMs } = after.seen
  const { hold, trial } = after.snapshot.context
  const held = hold === null ? '' : ', and an operator holds it there'
  const wait =
    state === 'open' && hold === null && retryAfterMs !== null
      ? ` for ${lasting(retryAfterMs)}${drawnBetween(after, retryAfterMs)}`
      : ''
  const same = state === before.seen.state
  if (trial !== null && same) {
    const { succeeded, failed, permits } = trial
    return `the trial goes on: ${succeeded} succeeded, ${failed} failed, ${permits.length} under way`
  }
  return `the circuit is ${same ? 'still ' : ''}${STATES[state]}${wait}${held}`
}

/** Steps that are the same, told once. */
function grouped(
  way: readonly WalkNode[],
): { readonly last: WalkNode; readonly first: WalkNode; readonly times: number }[] {
  const groups: { last: WalkNode; first: WalkNode; times: number }[] = []
  for (const node of way) {
    const group = groups.at(-1)
    const isSame = node.step?.do === 'call' && JSON.stringify(group?.last.step) === JSON.stringify(node.step)
    const stays = group?.last.circuits[0]?.seen.state === group?.first.from?.circuits[0]?.seen.state
    if (group !== undefined && isSame && stays) Object.assign(group, { last: node, times: group.times + 1 })
    else groups.push({ last: node, first: node, times: 1 })
  }
  return groups
}

/** The way to a place as Given, When, Then, as the circuit `side` lives through it. */
export function storyOf(node: WalkNode, side = 0): Story {
  const told = grouped(wayTo(node)).map(({ first, last, times }) => {
    const before = first.from!.circuits[side]!
    const after = last.circuits[side]!
    const what = inWords(first.step!, times, before)
    return { what, result: outcome(after, before), changes: after.seen.state !== before.seen.state }
  })
  const last = told.at(-1)
  const given = told
    .slice(0, -1)
    .map(({ what, result, changes }) => sentence(changes ? `${what}: ${result}` : what))
  return {
    given: given.length === 0 ? ['The circuit is closed and nothing was counted'] : given,
    when: last?.what ?? '',
    result: last?.result ?? '',
  }
}

/** True where the walk can follow: a policy of the user's own counts in code that nobody can look into. */
export const canWalk = (rules: readonly TrippingRule[]): boolean =>
  rules.every(({ kind }) => kind !== 'custom')
