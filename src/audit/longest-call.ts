import type { Audited, AuditedGroup, AuditedTarget } from './audited.ts'
import { hangingVisitMs, longestVisitMs } from './longest-visit.ts'

/** The longest that one call of a group may wait for its answer, over all of its targets. */
export interface LongestCall {
  /** Every limit and every retry used up, and the deadline. */
  readonly mostMs: number
  /** Each target, and how long the call may stay there. */
  readonly visits: readonly { readonly name: string; readonly ms: number }[]
  /** Where no target answers at all. */
  readonly hangingMs: number
}

const chainOf = ({ targets, fallbacks }: AuditedGroup) => [...new Set([...targets, ...fallbacks])]

/** True where nothing is left to ask after this target, in one of the groups. */
export const isLastOfAGroup = (name: string, { groups }: Audited): boolean =>
  groups.length === 0 || groups.some((group) => chainOf(group).at(-1) === name)

export function longestCall(audited: Audited, group: AuditedGroup): LongestCall {
  const targetsOf = (names: readonly string[]): AuditedTarget[] =>
    names.flatMap((name) => audited.targets.find((target) => target.name === name) ?? [])
  const chain = targetsOf(chainOf(group))
  const total = (targets: readonly AuditedTarget[]) =>
    targets.reduce((sum, target) => sum + longestVisitMs(target), 0)
  const lists = [audited.contextWindowFallbacks, audited.contentPolicyFallbacks]
  // from a list for such requests nobody comes back
  const aside = chain.flatMap(({ name }, i) =>
    lists.map((list) => total(chain.slice(0, i + 1)) + total(targetsOf(list[name] ?? []))),
  )
  const { deadlineMs = Infinity, whenAllOpen } = audited
  const waitMs = whenAllOpen.kind === 'wait' ? whenAllOpen.waitMs : 0
  const hanging = chain.reduce((sum, target, i) => sum + hangingVisitMs(target, i === chain.length - 1), 0)
  return {
    mostMs: Math.min(deadlineMs, waitMs + Math.max(total(chain), ...aside)),
    visits: chain.map((target) => ({ name: target.name, ms: longestVisitMs(target) })),
    hangingMs: Math.min(deadlineMs, waitMs + hanging),
  }
}
