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
  /** What to set instead, `code` in it; empty = only its owner knows. */
  readonly remedy: string
}

/** What the configuration does not say. */
export interface LintAssumptions {
  /** Calls a minute that reach each target at a usual hour; a number stands for all of them. Default: unknown. */
  readonly callsPerMinute?: number | Readonly<Record<string, number>>
  /** How long an outage usually lasts, in ms. Default 60 000. */
  readonly usualRecoveryMs?: number
  /** The share of the calls that fails while a provider is healthy, 0 to 1. Default 0.05. */
  readonly healthyFailures?: number
}

export interface LintInput {
  readonly audited: Audited
  readonly policies: readonly AuditedPolicy[]
  readonly usualRecoveryMs: number
  readonly healthyFailures: number
  /** Calls a minute of the circuit that sees the fewest or the most of these targets; undefined = unknown. */
  rate(policy: AuditedPolicy, which: 'least' | 'most'): number | undefined
}

/** What was found, and what to set instead. */
export type Told = string | readonly [text: string, remedy: string] | undefined

export type Found = readonly [where: string, text: string, remedy?: string]

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
function together(told: readonly { readonly name: string; readonly found: Told }[]): Found[] {
  const said = told.flatMap(({ name, found }) =>
    found === undefined ? [] : [{ name, found: typeof found === 'string' ? [found] : found }],
  )
  return [...Map.groupBy(said, ({ found }) => found.join('\n')).values()].map((same): Found => {
    const [text = '', remedy] = same[0]!.found
    const where = same.map(({ name }) => name).join(', ')
    return remedy === undefined ? [where, text] : [where, text, remedy]
  })
}

/** A rule that looks at one policy at a time. */
export const ofPolicy =
  (tell: (policy: AuditedPolicy, input: LintInput) => Told): LintRule['find'] =>
  (input) =>
    together(input.policies.map((policy) => ({ name: where(policy), found: tell(policy, input) })))

/** A rule that looks at one target at a time. */
export const ofTarget =
  (tell: (target: Audited['targets'][number], input: LintInput) => Told): LintRule['find'] =>
  (input) =>
    together(input.audited.targets.map((target) => ({ name: target.name, found: tell(target, input) })))
