import type { ResolvedBreaker } from '../core/breaker-options.ts'
import { systemClock } from '../core/clock.ts'
import { Limits } from '../core/limits.ts'
import { sharedRules } from '../core/shared-rules.ts'
import type { SwitchgearOptions } from '../core/switchgear-options.ts'
import { resolveWhenAllOpen } from '../core/switchgear-options.ts'
import { Target } from '../core/target.ts'

/** A target as it is in force, with everything filled in. */
export interface AuditedTarget {
  readonly name: string
  readonly bucket: string
  readonly model: string | undefined
  /** Where its requests go; undefined = in code that cannot be seen. */
  readonly host: string | undefined
  /** The rules of its circuit; undefined = it has none. */
  readonly rules: ResolvedBreaker | undefined
  /** Infinity = no limit. */
  readonly timeoutMs: number
  readonly firstContentTimeoutMs: number
  readonly idleTimeoutMs: number
  /** The largest of the three; 0 = none is finite. */
  readonly longestLimitMs: number
  readonly maxRetries: number
  readonly retry: { readonly baseMs: number; readonly multiplier: number; readonly maxMs: number }
  readonly surface: 'model' | 'tool'
  /** Options that are functions: nobody can read them here. */
  readonly custom: readonly string[]
}

/** Targets that serve the same calls. */
export interface AuditedGroup {
  /** Null = every call. */
  readonly name: string | null
  readonly targets: readonly string[]
  readonly strategy: string
  readonly fallbacks: readonly string[]
}

/** What stands around the rules of a switchgear. */
export interface AuditSurroundings {
  /** Target → host. */
  readonly hosts?: Readonly<Record<string, string>>
  /** Default: one group of every target, in order. */
  readonly groups?: readonly AuditedGroup[]
  /** What each receiver of alerts is told; undefined = cannot be seen. */
  readonly alerts?: readonly { readonly on: readonly string[] }[]
  /** Whether changes are written down; undefined = cannot be seen. */
  readonly journal?: boolean
}

/** Everything that an audit is about. */
export interface Audited {
  readonly targets: readonly AuditedTarget[]
  readonly groups: readonly AuditedGroup[]
  readonly contextWindowFallbacks: Readonly<Record<string, readonly string[]>>
  readonly contentPolicyFallbacks: Readonly<Record<string, readonly string[]>>
  readonly deadlineMs: number | undefined
  readonly whenAllOpen: ReturnType<typeof resolveWhenAllOpen>
  readonly retryBudget: NonNullable<SwitchgearOptions['retryBudget']>
  readonly alerts: AuditSurroundings['alerts']
  readonly journal: boolean | undefined
  /** Options of the switchgear that are functions. */
  readonly custom: readonly string[]
}

type Rules<Request, Result, Part> = Pick<
  SwitchgearOptions<Request, Result, Part>,
  | 'targets'
  | 'deadlineMs'
  | 'whenAllOpen'
  | 'retryBudget'
  | 'contextWindowFallbacks'
  | 'contentPolicyFallbacks'
  | 'fallbackOn'
  | 'detectSoftFailure'
>

const DEFAULT_BUDGET = { capacity: 10, perCall: 0.2 }

/**
 * The rules of a switchgear as they are in force.
 *
 * @throws what createSwitchgear throws for them
 */
export function audited<Request, Result, Part>(
  options: Rules<Request, Result, Part>,
  around: AuditSurroundings = {},
): Audited {
  const limits = new Limits(systemClock)
  const targets = options.targets.map((target, i) => new Target(target, i, limits))
  const inForce = sharedRules(targets)
  const {
    deadlineMs,
    whenAllOpen,
    retryBudget,
    contextWindowFallbacks = {},
    contentPolicyFallbacks = {},
  } = options
  const names = targets.map(({ name }) => name)
  return {
    targets: targets.map((target) => auditedTarget(target, inForce.get(target), around.hosts?.[target.name])),
    groups: around.groups ?? [{ name: null, targets: names, strategy: 'ordered', fallbacks: [] }],
    contextWindowFallbacks,
    contentPolicyFallbacks,
    deadlineMs,
    whenAllOpen: resolveWhenAllOpen(whenAllOpen),
    retryBudget: retryBudget === false ? false : { ...DEFAULT_BUDGET, ...retryBudget },
    alerts: around.alerts,
    journal: around.journal,
    custom: (['fallbackOn', 'detectSoftFailure'] as const).filter((key) => options[key] !== undefined),
  }
}

function auditedTarget<Request, Result, Part>(
  target: Target<Request, Result, Part>,
  rules: ResolvedBreaker | undefined,
  host: string | undefined,
): AuditedTarget {
  const { name, bucket, timeoutMs, longestLimitMs, planned, options } = target
  const { firstContentTimeoutMs = 30_000, idleTimeoutMs = 30_000, surface = 'model', model } = options
  return {
    name,
    bucket,
    model,
    host,
    rules,
    timeoutMs,
    firstContentTimeoutMs,
    idleTimeoutMs,
    longestLimitMs,
    maxRetries: planned.maxRetries,
    retry: planned.retry,
    surface,
    custom: [...(options.classify === undefined ? [] : ['classify']), ...customOf(rules)],
  }
}

/** What of a breaker's rules is code of the user's own. */
function customOf(rules: ResolvedBreaker | undefined): string[] {
  if (rules === undefined) return []
  const { policy, shouldCount, custom } = rules
  return [
    ...(shouldCount === undefined ? [] : ['circuitBreaker.shouldCount']),
    ...(typeof policy.backoff === 'function' ? ['circuitBreaker.cooldownBackoff'] : []),
    ...(custom.some((each) => each !== null) ? ['circuitBreaker.tripping'] : []),
  ]
}

/** Targets of one circuit, and circuits of one set of rules. */
export interface AuditedPolicy {
  readonly rules: ResolvedBreaker
  readonly targets: readonly AuditedTarget[]
}

/** Every distinct set of rules, with the targets whose circuits follow it. */
export function policiesOf({ targets }: Audited): AuditedPolicy[] {
  const guarded = targets.flatMap((target) =>
    target.rules === undefined ? [] : [{ target, rules: target.rules }],
  )
  const functions: unknown[] = []
  const groups = Map.groupBy(guarded, ({ rules }) => sameRules(rules, functions))
  return [...groups.values()].map((group) => ({
    rules: group[0]!.rules,
    targets: group.map(({ target }) => target),
  }))
}

/** Two sets of rules are the same where this text is; functions are so only if they are one and the same. */
function sameRules(rules: ResolvedBreaker, functions: unknown[]): string {
  const { policy, probeLeaseMs, observe, isolateByModel, shouldCount, custom } = rules
  const facts = [policy, probeLeaseMs, observe, isolateByModel, shouldCount, custom]
  return JSON.stringify(facts, (_key, value: unknown) => {
    if (typeof value === 'function') {
      if (!functions.includes(value)) functions.push(value)
      return `function ${functions.indexOf(value)}`
    }
    return value === Infinity ? 'Infinity' : value
  })
}
