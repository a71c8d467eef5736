import type { GearStats } from '../../src/core/stats.ts'
import type { Call, Plan } from './call-plans.ts'
import type { Story } from './call-stage.ts'

/** What is left when every call has ended. */
export interface Left {
  readonly stats: GearStats
  readonly chains: number
  readonly waiters: number
  /** Of the retry budget. */
  readonly tokens: number | undefined
}

const sum = (numbers: object) => Object.values(numbers).reduce((a: number, b: number) => a + b, 0)

/** What is not true in a story and should be in every one. */
export function untruthsIn({ steps, budget, recorded }: Plan, story: Story, left: Left): string[] {
  const { sent, outcomes } = story
  const broken: string[] = []
  const agree = (what: string, one: number, other: number) => {
    if (Math.abs(one - other) > 1e-6) broken.push(`${what}: ${one}, not ${other}`)
  }
  const { running, calls, breakers, targets } = left.stats
  agree('calls under way', running, 0)
  agree('chains', left.chains, 0)
  agree('waiters', left.waiters, 0)
  agree('calls by their ends', sum(calls), steps.filter((step) => step.do === 'call').length)
  for (const { bucket, stats } of recorded ? breakers : []) {
    const told = (outcome: string) => outcomes[`${bucket} ${outcome}`] ?? 0
    for (const outcome of ['success', 'failure', 'neutral'] as const)
      agree(`${bucket}: ${outcome} told`, told(outcome), stats[outcome])
    agree(`${bucket}: refusals told`, told('refused'), sum(stats.refused))
  }
  targets.forEach(({ name, stats }, i) =>
    agree(`attempts of ${name}`, sum(stats.attempts), sent.filter(({ target }) => target === i).length),
  )
  agree('failures told', story.failures, sum(targets.flatMap(({ stats }) => [...stats.failures.values()])))
  if (budget !== false && budget.perCall === 0)
    agree('tokens', left.tokens ?? 0, budget.capacity - sum(targets.map(({ stats }) => stats.retries)))
  steps.forEach((step, i) => {
    if (step.do === 'call') broken.push(...untruthsOf(step, i, story))
  })
  return broken
}

function untruthsOf({ noFallback }: Call, i: number, { sent, reports }: Story): string[] {
  const own = sent.filter(({ step }) => step === i)
  const told = reports.filter(([step]) => step === i).map(([, { attempts }]) => attempts)
  const visits = own.filter(({ attempt }) => attempt === 1).map(({ target }) => target)
  return [
    ...(told.length === 1 && told[0] === own.length ? [] : [`call ${i} reported ${told.join()} attempts`]),
    ...(new Set(visits).size === visits.length ? [] : [`call ${i} asked ${visits.join()}: one twice`]),
    ...(noFallback && visits.length > 1 ? [`call ${i} asked ${visits.join()} without fallback`] : []),
  ]
}
