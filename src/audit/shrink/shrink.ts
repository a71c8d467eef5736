import type { BreakerOptions } from '../../core/create-breaker.ts'
import type { CircuitState } from '../../../machines/circuit-state.ts'
import { stepsOf, tell } from './story.ts'
import type { Story, Visit } from './story.ts'

/** What a story must still show at its end. */
export interface Wanted {
  readonly from: CircuitState
  readonly to: CircuitState
  readonly why: string
}

/** Enough tries for a recording of any length; each is a few dozen calls in virtual time. */
const MOST_TRIES = 20_000

/** The story up to where it shows what is wanted; undefined = it does not, or somebody is refused before. */
export function upTo(story: Story, wanted: Wanted, rules: BreakerOptions): Story | undefined {
  const { transitions, refused } = tell(story, rules)
  const shown = transitions.find(
    ({ from, to, cause }) => from === wanted.from && to === wanted.to && cause.why === wanted.why,
  )
  if (shown === undefined || [...refused.values()].some((step) => step < shown.step)) return undefined
  const steps = stepsOf(story)
    .slice(0, shown.step + 1)
    .filter(({ at }) => at <= shown.at)
  const begun = new Set(steps.map(({ visit }) => visit))
  const commands = steps.filter(({ do: verb }) => verb === 'open' || verb === 'close').length
  return {
    ...story,
    visits: story.visits.filter((_, i) => begun.has(i)),
    commands: story.commands.slice(0, commands),
    until: shown.at,
  }
}

/** What a story comes to, in words. */
export function tellsOf(story: Story, rules: BreakerOptions): string {
  const last = tell(story, rules).transitions.at(-1)
  return last === undefined ? 'no change of state' : `${last.from} → ${last.to} (${last.cause.why})`
}

/** Cuts a story down until nothing can be left out of it and nothing be made simpler. */
export function shrink(story: Story, wanted: Wanted, rules: BreakerOptions): Story {
  let tries = 0
  const shown: Shown = (candidate) => (tries++ < MOST_TRIES ? upTo(candidate, wanted, rules) : undefined)
  let best = fewest(story, shown)
  for (let before = ''; before !== JSON.stringify(best);) {
    before = JSON.stringify(best)
    best = withoutVisits(best, shown)
    best = withoutCommands(best, shown)
    for (const simpler of SIMPLIFICATIONS) best = each(best, simpler, shown)
    best = earlier(best, shown)
    best = plainRandom(best, shown)
  }
  return best
}

/** The story up to where it shows what is wanted, where it does. */
type Shown = (candidate: Story) => Story | undefined

/** The last few visits are most of the story. */
function fewest(story: Story, shown: Shown): Story {
  for (let count = 8; count < story.visits.length; count *= 2) {
    const candidate = { ...story, visits: story.visits.slice(-count) }
    const cut = shown(candidate)
    if (cut !== undefined) return cut
  }
  return story
}

/** Leaves out runs of visits, half of them at first, in the end one by one. */
function withoutVisits(story: Story, shown: Shown): Story {
  let best = story
  for (let size = Math.ceil(best.visits.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < best.visits.length;) {
      const visits = best.visits.toSpliced(from, size)
      const cut = shown({ ...best, visits })
      if (cut === undefined) from += size
      else best = cut
    }
  }
  return best
}

function withoutCommands(story: Story, shown: Shown): Story {
  let best = story
  for (let i = best.commands.length - 1; i >= 0; i--) {
    best = shown({ ...best, commands: best.commands.toSpliced(i, 1) }) ?? best
  }
  return best
}

/** Ways to make one visit simpler. */
const SIMPLIFICATIONS: readonly ((visit: Visit) => Visit)[] = [
  (visit) => ({ ...visit, ms: 0 }),
  ({ retryAfterMs: _wait, ...visit }) => visit,
  (visit) => (visit.outcome === 'failure' ? { ...visit, failure: 'server_error' } : visit),
  // a success has no failure kind and names no wait
  (visit) => (visit.outcome === 'neutral' ? visit : { at: visit.at, ms: visit.ms, outcome: 'success' }),
]

/** All visits at once, else one after the other. */
function each(story: Story, simpler: (visit: Visit) => Visit, shown: Shown): Story {
  const all = shown({ ...story, visits: story.visits.map(simpler) })
  if (all !== undefined) return all
  let best = story
  for (let i = 0; i < best.visits.length; i++) {
    const visit = simpler(best.visits[i]!)
    if (JSON.stringify(visit) === JSON.stringify(best.visits[i])) continue
    best = shown({ ...best, visits: best.visits.with(i, visit) }) ?? best
  }
  return best
}

/** Takes out the time between what happens, all of it, else as much as can go. */
function earlier(story: Story, shown: Shown): Story {
  let best = story
  for (let i = 0; i < timesOf(best).length; i++) {
    const times = timesOf(best)
    best = sooner(best, times[i]!, times[i]! - (times[i - 1] ?? 0), shown)
    // two that have become one
    if (timesOf(best).length < times.length) i--
  }
  return best
}

const timesOf = ({ visits, commands, until }: Story) =>
  [...new Set([...visits, ...commands, { at: until }].map(({ at }) => at))].sort((a, b) => a - b)

/** Moves everything from `from` on up to `gap` ms sooner: all of it, or what a search by halves finds. */
function sooner(story: Story, from: number, gap: number, shown: Shown): Story {
  const moved = (ms: number): Story => {
    const shift = <T extends { readonly at: number }>(one: T) =>
      one.at >= from ? { ...one, at: one.at - ms } : one
    return {
      ...story,
      visits: story.visits.map(shift),
      commands: story.commands.map(shift),
      until: story.until - ms,
    }
  }
  if (gap === 0) return story
  const whole = shown(moved(gap))
  if (whole !== undefined) return whole
  let best = story
  let [good, bad] = [0, gap]
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    const cut = shown(moved(middle))
    if (cut === undefined) bad = middle
    else {
      good = middle
      best = cut
    }
  }
  return best
}

function plainRandom(story: Story, shown: Shown): Story {
  return shown({ ...story, random: [0.5] }) ?? story
}
