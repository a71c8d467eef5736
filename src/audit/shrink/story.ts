import type { CircuitState } from '../../../machines/circuit-state.ts'
import type { BreakerOptions } from '../../core/create-breaker.ts'
import { createBreaker } from '../../core/create-breaker.ts'
import type { Permit } from '../../core/permit.ts'
import type { Transition } from '../../core/transition.ts'
import { scriptedRandom } from '../../testing/scenario/compare.ts'
import { VirtualClock } from '../../testing/virtual-clock.ts'

/** One visit: when it was admitted, how long it took, and what it came to. */
export interface Visit {
  readonly at: number
  readonly ms: number
  readonly outcome: 'success' | 'failure' | 'neutral'
  readonly failure?: string
  readonly retryAfterMs?: number
}

/** What an operator did. */
export interface Command {
  readonly at: number
  readonly do: 'open' | 'close'
}

/** What happened to a breaker that was new at 0. Times are whole ms. */
export interface Story {
  readonly visits: readonly Visit[]
  readonly commands: readonly Command[]
  /** The last thing that happens is that time comes to here. */
  readonly until: number
  /** What chance gave. */
  readonly random: readonly number[]
}

/** One thing that happens in a story. A visit without duration begins and ends in one step. */
export interface StoryStep {
  readonly at: number
  readonly do: 'call' | 'admit' | 'settle' | 'open' | 'close' | 'wait'
  /** Which visit. */
  readonly visit: number
}

// what ends comes before what begins
const RANKS = { settle: 0, open: 1, close: 1, call: 2, admit: 2, wait: 3 } as const

/** The steps of a story, in order. */
export function stepsOf({ visits, commands, until }: Story): StoryStep[] {
  const steps: StoryStep[] = visits.flatMap(({ at, ms }, visit): StoryStep[] =>
    ms === 0
      ? [{ at, do: 'call', visit }]
      : [
          { at, do: 'admit', visit },
          { at: at + ms, do: 'settle', visit },
        ],
  )
  for (const command of commands) steps.push({ at: command.at, do: command.do, visit: -1 })
  steps.push({ at: until, do: 'wait', visit: -1 })
  return steps
    .filter(({ at }) => at <= until)
    .sort((a, b) => a.at - b.at || RANKS[a.do] - RANKS[b.do] || a.visit - b.visit)
}

/** What came of a story. */
export interface Told {
  readonly transitions: readonly (Transition & { readonly step: number })[]
  /** Visits that were refused, with the step in which they were. */
  readonly refused: ReadonlyMap<number, number>
  /** After each step. */
  readonly states: readonly CircuitState[]
}

/** Plays a story on a breaker as anybody makes one. */
export function tell(story: Story, rules: BreakerOptions): Told {
  const clock = new VirtualClock()
  const transitions: (Transition & { step: number })[] = []
  const refused = new Map<number, number>()
  const states: CircuitState[] = []
  const permits = new Map<number, Permit>()
  let step = 0
  const breaker = createBreaker({
    ...rules,
    clock,
    random: scriptedRandom(story.random),
    onStateChange: (_from, _to, _failures, _model, transition) =>
      void transitions.push({ ...transition, step }),
  })
  const admit = (visit: number) => {
    const answer = breaker.tryAcquire()
    if (answer.admitted) permits.set(visit, answer)
    else refused.set(visit, step)
  }
  const settle = (visit: number) => {
    const permit = permits.get(visit)
    const { ms: latencyMs, ...outcome } = story.visits[visit]!
    if (permit !== undefined) breaker.settle(permit, { ...outcome, latencyMs })
  }
  for (const [i, { at, do: verb, visit }] of stepsOf(story).entries()) {
    step = i
    clock.set(at)
    if (verb === 'call' || verb === 'admit') admit(visit)
    if (verb === 'call' || verb === 'settle') settle(visit)
    if (verb === 'open') breaker.open()
    if (verb === 'close') breaker.close()
    states.push(breaker.state)
  }
  breaker.dispose()
  return { transitions, refused, states }
}
