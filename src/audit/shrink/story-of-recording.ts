import { drawCooldown } from '../../../machines/cooldown.ts'
import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import { ConfigError } from '../../core/errors.ts'
import type { OutcomeRow, TransitionRow } from '../../stores/outcome-row.ts'
import type { RecordedCircuit } from '../replay/read-outcomes.ts'
import { RecordedCalls, wholeCalls } from '../replay/recorded-calls.ts'
import { play } from '../replay/play.ts'
import { tellsOf, upTo } from './shrink.ts'
import type { Wanted } from './shrink.ts'
import type { Command, Story, Visit } from './story.ts'
import { tell } from './story.ts'

/** What happened around a time, and the story up to there. */
export interface RecordedStory {
  readonly wanted: Wanted
  /** When it happened, in ms of the wall clock. */
  readonly at: number
  readonly story: Story
  /** Recorded rows that the story was made of. */
  readonly rows: number
}

/**
 * The story that a recording tells of the change of state that is nearest to `at`.
 *
 * @throws ConfigError where nothing changed, or the rules do not give again what was recorded
 */
export function storyOf(circuit: RecordedCircuit, at: number, rules: ResolvedBreaker): RecordedStory {
  const recorded = circuit.transitions.length > 0
  const transitions = transitionsOf(circuit, rules)
  const change = nearest(transitions, at)
  if (change === undefined) {
    throw new ConfigError(`The circuit '${circuit.name}' never changed its state in this recording.`, {
      hint: recorded
        ? 'Choose another circuit with --target.'
        : 'Give the rules that were in force with --policy.',
    })
  }
  if (change.why === 'operator' || change.why === 'hold_ended') {
    throw new ConfigError(
      `What happened at ${new Date(change.at).toISOString()} was an operator's doing: there is nothing to cut down.`,
    )
  }
  const wanted = { from: change.from, to: change.to, why: change.why }
  const from = transitions.findLast(({ at, to }) => to === 'closed' && at < change.at)?.at ?? -Infinity
  const story = storyFrom(circuit, transitions, from, change.at, rules)
  const possible = upTo(withoutRefused(story, rules), wanted, rules.source)
  if (possible === undefined) throw notAgain(change, tellsOf(story, rules.source))
  return { wanted, at: change.at, story: possible, rows: story.visits.length }
}

function nearest<T extends { readonly at: number }>(all: readonly T[], at: number): T | undefined {
  return all.toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))[0]
}

/** How a circuit changed: as recorded, else as the rules make it change; without rules nobody knows of any change. */
export function transitionsOf(
  { rows, name, transitions: recorded }: RecordedCircuit,
  rules: ResolvedBreaker | undefined,
): readonly TransitionRow[] {
  if (recorded.length > 0 || rules === undefined) return recorded
  const { transitions } = play(new RecordedCalls(rows, 'best'), rules)
  return transitions.map(({ at, from, to, cause }) => ({ circuit: name, at, from, to, why: cause.why }))
}

function storyFrom(
  { rows }: RecordedCircuit,
  transitions: readonly TransitionRow[],
  from: number,
  until: number,
  rules: ResolvedBreaker,
): Story {
  const calls = wholeCalls(rows).filter(
    ({ at, outcome }) => outcome !== 'refused' && at >= from && at <= until,
  )
  const changes = transitions.filter(({ at }) => at > from && at <= until)
  const start = Math.min(until, ...calls.map(({ at }) => at), ...changes.map(({ at }) => at))
  const commands = changes.flatMap(({ at, to, why }): Command[] => {
    if (why !== 'operator' || to === 'half-open') return []
    return [{ at: at - start, do: to === 'open' ? 'open' : 'close' }]
  })
  return {
    visits: calls.map((call) => visitOf(call, start)),
    commands,
    until: until - start,
    random: rollsOf(changes, rules),
  }
}

function visitOf({ at, ms = 0, outcome, kind, retryAfterMs }: OutcomeRow, start: number): Visit {
  return {
    at: at - start,
    ms,
    outcome: outcome === 'refused' ? 'neutral' : outcome,
    ...(outcome === 'failure' && { failure: kind ?? 'unknown' }),
    ...(outcome === 'failure' && retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** The chance that gave the cooldowns as they were; 0.5 where an opening was not over by then. */
function rollsOf(changes: readonly TransitionRow[], { policy }: ResolvedBreaker): number[] {
  let reopens = 0
  const rolls = changes.flatMap(({ at, from, to }, i) => {
    if (to !== 'open') return []
    if (from === 'half-open') reopens++
    const over = changes[i + 1]
    if (over?.to !== 'half-open') return [0.5]
    return [rollFor(over.at - at, (roll) => drawCooldown(policy, reopens, roll, undefined))]
  })
  return rolls.length === 0 ? [0.5] : rolls
}

/** Where a growing function gives `wanted`; 0.5 where it never does. */
function rollFor(wanted: number, draw: (roll: number) => number): number {
  let [low, high] = [0, 1 - Number.EPSILON]
  if (draw(low) >= wanted || draw(high) < wanted) return draw(low) === wanted ? 0 : 0.5
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2
    if (draw(middle) < wanted) low = middle
    else high = middle
  }
  return high
}

/** Visits that the rules would not have admitted are none. */
function withoutRefused(story: Story, rules: ResolvedBreaker): Story {
  let best = story
  for (let tries = 0; tries < 10; tries++) {
    const { refused } = tell(best, rules.source)
    if (refused.size === 0) break
    best = { ...best, visits: best.visits.filter((_, i) => !refused.has(i)) }
  }
  return best
}

function notAgain({ at, from, to, why }: TransitionRow, instead: string): ConfigError {
  return new ConfigError(
    `The recording says ${from} → ${to} (${why}) at ${new Date(at).toISOString()}; played again under these rules it comes to ${instead}.`,
    {
      hint: 'Were other rules in force then, or was only a part of the outcomes recorded? Give the rules with --policy.',
    },
  )
}
