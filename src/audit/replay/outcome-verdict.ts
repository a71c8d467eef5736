import { listed } from '../words.ts'
import { countInWords } from './number-words.ts'
import type { CircuitReport, OutcomePolicyResult } from './outcome-replay.ts'
import type { Assumption } from './recorded-calls.ts'

/** The cases that have to be told apart: only one where nothing was assumed. */
export const casesOf = ({ recorded }: CircuitReport): readonly Assumption[] =>
  recorded.refused === 0 ? ['best'] : ['best', 'worst']

type Policies = readonly OutcomePolicyResult[]

const of = (policy: OutcomePolicyResult, assumption: Assumption) => {
  const { failed, refusedInVain, refusedUnknown, answered } = policy.results[assumption].numbers
  // what was refused then would have been answered in the best case: to refuse it again is in vain as well
  const unknown = assumption === 'best' ? refusedUnknown.mean : 0
  const inVain = refusedInVain.mean + unknown
  return { failed: failed.mean, inVain, misled: failed.mean + inVain, answered: answered.mean }
}

/** Which policy served best in each case; what was refused in vain weighs as much as what failed. */
export function judgement(report: CircuitReport): string[] {
  const { policies } = report
  const cases = casesOf(report)
  const winners = cases.map((assumption) => fewest(policies, assumption))
  const told = cases.map((assumption, i) => inCase(policies, winners[i]!, assumption, cases.length))
  if (policies.length < 2) return told
  const best = winners[0]!.filter((policy) => winners.every((few) => few.includes(policy)))
  return [
    ...told,
    ...(cases.length === 1 ? [] : [overall(policies, best, winners)]),
    ...(best.length === 1 ? cases.flatMap((one) => answersMore(policies, best[0]!, one, cases.length)) : []),
  ]
}

/** All that nobody can tell apart by the number that is shown. */
function fewest(policies: Policies, assumption: Assumption): Policies {
  const least = Math.min(...policies.map((policy) => of(policy, assumption).misled))
  return policies.filter((policy) => countInWords(of(policy, assumption).misled) === countInWords(least))
}

const names = (policies: Policies) => listed(policies.map(({ name }) => name))

const where = (assumption: Assumption, cases: number) => (cases === 1 ? '' : `In the ${assumption} case `)

function inCase(policies: Policies, winners: Policies, assumption: Assumption, cases: number): string {
  const [first] = winners
  const { failed, inVain, misled } = of(first!, assumption)
  const count = countInWords(misled)
  const parts = `(${countInWords(failed)} failed, ${countInWords(inVain)} refused in vain)`
  const begin = where(assumption, cases)
  if (policies.length === 1) return `${begin}${first!.name} has ${count} calls that went wrong ${parts}.`
  return winners.length === 1
    ? `${begin}${first!.name} has the fewest calls that went wrong: ${count} ${parts}.`
    : `${begin}${names(winners)} have equally many calls that went wrong${winners.length < policies.length ? ', and fewer than the others' : ''}: ${count} each.`
}

function overall(policies: Policies, best: Policies, winners: readonly Policies[]): string {
  const whatever = 'whatever the refused calls would have met'
  if (best.length === 0)
    return 'So the recording does not say which serves better: it depends on what the refused calls would have met.'
  if (best.length > 1) {
    const others = best.length < policies.length ? ', and none serves better' : ''
    return `So ${names(best)} serve equally well by that${others}, ${whatever}.`
  }
  return winners.every((few) => few.length === 1)
    ? `So ${best[0]!.name} has the fewest calls that went wrong, ${whatever}.`
    : `So no policy has fewer calls that went wrong than ${best[0]!.name}, ${whatever}.`
}

/** The fewest that went wrong need not be the most that were answered. */
function answersMore(policies: Policies, best: OutcomePolicyResult, assumption: Assumption, cases: number) {
  const own = countInWords(of(best, assumption).answered)
  const more = policies.filter(
    (policy) =>
      of(policy, assumption).answered > of(best, assumption).answered &&
      countInWords(of(policy, assumption).answered) !== own,
  )
  if (more.length === 0) return []
  const theirs = more.map((policy) => `${policy.name} ${countInWords(of(policy, assumption).answered)}`)
  return [
    `${where(assumption, cases)}${best.name} does not answer the most calls, though: ${own} (${theirs.join(', ')}).`,
  ]
}
