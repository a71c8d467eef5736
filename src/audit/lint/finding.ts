import type { Audited, AuditedPolicy } from '../audited.ts'

/** `problem` = it does not do what it looks like; `warning` = it will hurt one day; `question` = only its owner knows. */
export type Severity = 'problem' | 'warning' | 'question'

/** Something a reviewer should ask about. */
export interface Finding {
  /** Stable, for filters: `cooldown-below-timeout`. */
  readonly id: string
  readonly severity: Severity
  /** What it is about: targets, a group, or the whole. */
  readonly where: string
  /** What is so, with the numbers. */
  readonly text: string
  /** Why that matters. */
  readonly reason: string
}

/** What the configuration does not say. */
export interface LintAssumptions {
  /** Calls a minute that reach each target at a usual hour; a number stands for all of them. Default: unknown. */
  readonly callsPerMinute?: number | Readonly<Record<string, number>>
  /** How long an outage usually lasts, in ms. Default 60 000. */
  readonly usualRecoveryMs?: number
}

export interface LintInput {
  readonly audited: Audited
  readonly policies: readonly AuditedPolicy[]
  readonly usualRecoveryMs: number
  /** Calls a minute of the circuit that sees the fewest or the most of these targets; undefined = unknown. */
  rate(policy: AuditedPolicy, which: 'least' | 'most'): number | undefined
}

type Found = readonly [where: string, text: string]

/** One thing that a linter knows. */
export interface LintRule {
  readonly id: string
  readonly severity: Severity
  readonly reason: string
  readonly find: (input: LintInput) => readonly Found[]
}

/** The targets of a policy, for `where`. */
export const where = ({ targets }: Pick<AuditedPolicy, 'targets'>): string =>
  targets.map(({ name }) => name).join(', ')

/** What is to be said of several in the same words is said once. */
const together = (told: readonly { readonly name: string; readonly found: string }[]): Found[] =>
  [...Map.groupBy(told, ({ found }) => found)].map(([found, same]): Found => [
    same.map(({ name }) => name).join(', '),
    found,
  ])

/** A rule that looks at one policy at a time. */
export const ofPolicy =
  (text: (policy: AuditedPolicy, input: LintInput) => string | undefined): LintRule['find'] =>
  (input) => {
    const told = input.policies.flatMap((policy) => {
      const found = text(policy, input)
      return found === undefined ? [] : [{ name: where(policy), found }]
    })
    return together(told)
  }

/** A rule that looks at one target at a time. */
export const ofTarget =
  (text: (target: Audited['targets'][number], input: LintInput) => string | undefined): LintRule['find'] =>
  (input) => {
    const told = input.audited.targets.flatMap((target) => {
      const found = text(target, input)
      return found === undefined ? [] : [{ name: target.name, found }]
    })
    return together(told)
  }
