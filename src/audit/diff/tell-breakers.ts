import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import { lasting, sentence } from '../words.ts'
import { asScenario, plainOptions } from '../walk/as-scenario.ts'
import { playedRight } from '../walk/play-walk.ts'
import { scenarioText } from '../walk/walk-scenario.ts'
import { storyOf } from '../walk/walk-words.ts'
import type { BreakerDifference } from './diff-breakers.ts'
import type { Telling } from './telling.ts'

export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 60)
    .replace(/-$/, '')

/** Writes a difference as a scenario of the first circuit, and plays it with both. */
export async function tellBreakers(
  { node, by }: BreakerDifference,
  names: string,
  a: ResolvedBreaker,
  b: ResolvedBreaker,
): Promise<Telling> {
  const [first, second] = [storyOf(node, 0), storyOf(node, 1)]
  const name = `${sentence(first.when)}: ${first.result}`
  const told = asScenario(node, a, name, 0, { [by]: true })
  const scenario = {
    ...told,
    why: `Tells apart two sets of rules for ${names}: with the other one ${second.result}.`,
  }
  const other = { ...scenario, breaker: plainOptions(b) }
  const [passes, alsoPasses] = [await playedRight(scenario), await playedRight(other)]
  return {
    given: first.given,
    when: first.when,
    underA: observed(first.result, by, node, 0),
    underB: observed(second.result, by, node, 1),
    slug: slugOf(`${names} ${first.when}`),
    fileA: scenarioText(scenario),
    fileB: scenarioText(other),
    proven: passes && !alsoPasses,
  }
}

function observed(
  result: string,
  by: BreakerDifference['by'],
  { circuits }: BreakerDifference['node'],
  side: number,
): string {
  const { canExecute, state, retryAfterMs } = circuits[side]!.seen
  if (by === 'canExecute') return `${result}; the next call ${canExecute ? 'passes' : 'is refused'}`
  // of an open circuit the words say it already
  if (by !== 'retryAfterMs' || state === 'open') return result
  return `${result}; others are told to come back ${retryAfterMs === null ? 'when somebody closes it' : `in ${lasting(retryAfterMs)}`}`
}
