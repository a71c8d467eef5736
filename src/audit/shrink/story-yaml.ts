import { stringify } from 'yaml'
import type { CircuitState } from '../../../machines/circuit-state.ts'
import type { CircuitBreakerOptions } from '../../core/breaker-options.ts'
import { stepsOf, tell } from './story.ts'
import type { Story, Visit } from './story.ts'

const VERBS = { success: 'succeed', failure: 'fail', neutral: 'ignore' } as const

interface Step {
  at?: number
  [key: string]: unknown
}

/** The story as a scenario file that ends in the change of state. */
export function scenarioText(
  story: Story,
  words: { readonly name: string; readonly why: string },
  breaker: CircuitBreakerOptions,
): string {
  const steps = merged(story, tell(story, breaker).states)
  const scenario = {
    kind: 'breaker',
    ...words,
    breaker,
    ...(story.random.some((roll) => roll !== 0.5) && { random: story.random }),
    steps,
  }
  const text = stringify(scenario, { collectionStyle: 'block', lineWidth: 110 })
  return text.replace('breaker:\n  {}', 'breaker: {}')
}

/** Steps of the format; alike calls at one instant are one step. Every change of state is told, and how it ends. */
function merged(story: Story, states: readonly CircuitState[]): Step[] {
  const steps: Step[] = []
  let now = 0
  for (const [i, { at, do: verb, visit }] of stepsOf(story).entries()) {
    const step = { ...(at !== now && { at }), ...stepFor(verb, story.visits[visit], visit) }
    const before = steps.at(-1)
    if (at === now && sameCalls(before, step)) (before!['calls'] as { times: number }).times++
    else if (verb !== 'wait' || at !== now || before === undefined) steps.push(step)
    now = at
    steps.at(-1)!['expect'] = states[i]!
  }
  return steps.map(({ expect, ...step }, i) =>
    i === steps.length - 1 || expect !== (steps[i - 1]?.['expect'] ?? 'closed') ? { ...step, expect } : step,
  )
}

function stepFor(verb: string, visit: Visit | undefined, index: number): Step {
  if (verb === 'wait') return {}
  if (visit === undefined) return { [verb]: {} }
  if (verb === 'admit') return { admit: nameOf(index) }
  const { outcome, failure, retryAfterMs } = visit
  const more = {
    ...(failure !== undefined && { failure }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
  return verb === 'call'
    ? { calls: { outcome: VERBS[outcome], times: 1, ...more } }
    : { [VERBS[outcome]]: nameOf(index), ...more }
}

/** a, b … z, aa, ab … */
function nameOf(index: number): string {
  const letter = String.fromCodePoint(97 + (index % 26))
  return index < 26 ? letter : nameOf(Math.floor(index / 26) - 1) + letter
}

function sameCalls(before: Step | undefined, step: Step): boolean {
  const without = (calls: unknown) => JSON.stringify({ ...(calls as object), times: 0 })
  return (
    before?.['calls'] !== undefined &&
    step['calls'] !== undefined &&
    without(before['calls']) === without(step['calls'])
  )
}
