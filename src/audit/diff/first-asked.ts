import type { Audited, AuditedGroup, AuditedTarget } from '../audited.ts'
import { lasting, listed, percent } from '../words.ts'

type Group = Pick<AuditedGroup, 'targets' | 'strategy' | 'fallbacks'>

/** Who is asked first, and who then, as half a sentence. */
function firstInWords({ targets, strategy, fallbacks }: Group): string {
  const [only = '', ...others] = targets
  const then = strategy === 'ordered' || targets.length === 1 ? [...others, ...fallbacks] : fallbacks
  const rest = then.length === 0 ? '' : `; ${listed(then)} only where that fails or refuses`
  if (targets.length === 1 || strategy === 'ordered') return `every call goes to ${only} first${rest}`
  const all = listed(targets)
  switch (strategy) {
    case 'round-robin':
      return `calls take turns: each of ${all} is asked first by 1 of ${targets.length} calls${rest}`
    case 'weighted':
      return `calls are shared out by chance among ${all}, by their weights${rest}`
    case 'least-busy':
      return `a call goes first to whichever of ${all} has the fewest calls under way${rest}`
    default:
      return `the strategy ${strategy} chooses among ${all} who is asked first${rest}`
  }
}

/** The share of the calls that ask each target first while nothing is wrong; undefined = it depends. */
function sharesOf({ targets, strategy }: Group): ReadonlyMap<string, number> | undefined {
  if (targets.length === 1 || strategy === 'ordered') return new Map([[targets[0] ?? '', 1]])
  return strategy === 'round-robin' ? new Map(targets.map((name) => [name, 1 / targets.length])) : undefined
}

/** What is different in whom calls ask first, in sentences; empty = nothing is. */
export function firstAsked(a: Group, b: Group): string[] {
  const [was, is] = [firstInWords(a), firstInWords(b)]
  if (was === is) return []
  const [before, after] = [sharesOf(a), sharesOf(b)]
  const moved =
    before && after
      ? [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
          const [from, to] = [before.get(name) ?? 0, after.get(name) ?? 0]
          return from === to
            ? []
            : [`${name} is asked first by ${percent(to)} of the calls instead of ${percent(from)}`]
        })
      : []
  return [
    `With A ${was}.`,
    `With B ${is}.`,
    ...(moved.length === 0 ? [] : [`While nothing is wrong ${listed(moved)}.`]),
  ]
}

const limitInWords = (ms: number) => (ms === Infinity ? 'without a limit' : lasting(ms))

/** What calls do at each target of a chain that both sides have: how often it is tried, and how long it may take. */
export function limitsChanged(a: Audited, b: Audited, chain: readonly string[]): string[] {
  const of = ({ targets }: Audited, name: string) => targets.find((target) => target.name === name)
  const told = chain.flatMap((name) => {
    const [was, is] = [of(a, name), of(b, name)]
    return was === undefined || is === undefined ? [] : targetChanged(was, is)
  })
  const deadline = ({ deadlineMs = Infinity }: Audited) => limitInWords(deadlineMs)
  return deadline(a) === deadline(b)
    ? told
    : [...told, `A whole call may take ${deadline(b)} instead of ${deadline(a)}.`]
}

function targetChanged(was: AuditedTarget, is: AuditedTarget): string[] {
  const { name } = is
  const times = (n: number) => (n === 0 ? 'once' : `up to ${n + 1} times`)
  const tried =
    was.maxRetries === is.maxRetries
      ? []
      : [`${name} is asked ${times(is.maxRetries)} by one call instead of ${times(was.maxRetries)}.`]
  const limits = [
    ['timeoutMs', 'may take for an answer'],
    ['firstContentTimeoutMs', 'may be silent before the first word of a stream'],
    ['idleTimeoutMs', 'may stall between the words of a stream'],
  ] as const
  const waits = limits.flatMap(([key, words]) =>
    was[key] === is[key]
      ? []
      : [`${name} ${words}: ${limitInWords(is[key])} instead of ${limitInWords(was[key])}.`],
  )
  return [...tried, ...waits]
}
