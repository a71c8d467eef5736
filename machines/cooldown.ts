/** Growth of the cooldown with each failed trial. */
export interface ExponentialBackoff {
  /** Factor per reopening. */
  readonly multiplier: number
  /** Ceiling before jitter, in ms. Default Infinity. */
  readonly maxMs: number
  /** Floor after jitter, in ms. Default 0. */
  readonly minMs: number
  /** `full` = roll × d, `equal` = d/2 + roll × d/2, `none` = d. Default `full`. */
  readonly jitter: 'full' | 'equal' | 'none'
}

/** A cooldown of the user's own, in ms, for the given number of reopenings. Used as is, never jittered. */
export type CooldownFunction = (reopens: number) => number

/** What a cooldown is drawn from. */
export interface CooldownPolicy {
  readonly cooldownMs: number
  readonly backoff: ExponentialBackoff | CooldownFunction | null
  readonly maxRetryAfterMs: number
  readonly kinds: Readonly<Record<string, KindPolicy>>
}

/** What is special about one failure kind. Comes on top of the tripping rules, never instead. */
export interface KindPolicy {
  /** Failures of this kind, without a success between, that open the circuit. */
  readonly threshold?: number
  /** Replaces the base of the cooldown, in ms, when a failure of this kind decides. */
  readonly cooldownMs?: number
  /** The first failure of this kind opens the circuit. Default false. */
  readonly immediateOpen?: boolean
}

const JITTER: Record<ExponentialBackoff['jitter'], (ms: number, roll: number) => number> = {
  full: (ms, roll) => roll * ms,
  equal: (ms, roll) => ms / 2 + (roll * ms) / 2,
  none: (ms) => ms,
}

/**
 * The cooldown of one opening, in whole ms, rounded up.
 * Full and equal jitter as in "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export function drawCooldown(
  policy: CooldownPolicy,
  reopens: number,
  roll: number,
  failure: string | undefined,
): number {
  const kindMs = failure === undefined ? undefined : policy.kinds[failure]?.cooldownMs
  const base = kindMs ?? policy.cooldownMs
  const backoff = policy.backoff
  if (backoff === null) return Math.ceil(base)
  if (typeof backoff === 'function') return fromFunction(backoff, reopens, kindMs, policy.cooldownMs)
  const ceiling = Math.max(backoff.maxMs, kindMs ?? 0)
  const grown = Math.min(base * backoff.multiplier ** reopens, ceiling)
  const finite = Number.isFinite(grown) ? grown : Number.MAX_SAFE_INTEGER
  return Math.ceil(Math.max(backoff.minMs, JITTER[backoff.jitter](finite, roll)))
}

function fromFunction(
  backoff: CooldownFunction,
  reopens: number,
  kindMs: number | undefined,
  cooldownMs: number,
): number {
  if (kindMs !== undefined) return Math.ceil(kindMs)
  try {
    const ms = backoff(reopens)
    return Number.isFinite(ms) ? Math.ceil(Math.max(0, ms)) : Math.ceil(cooldownMs)
  } catch {
    // a throw here would end the actor for good
    return Math.ceil(cooldownMs)
  }
}

/** A provider's Retry-After as we believe it: no longer than `maxRetryAfterMs`, 0 without one. */
export function cappedRetryAfter(policy: CooldownPolicy, retryAfterMs: number | undefined): number {
  // NaN is no wait either
  return Math.ceil(Math.min(Math.max(0, retryAfterMs || 0), policy.maxRetryAfterMs))
}

/**
 * The longest open period that the policy can give, in ms: a restored deadline further away is cut to it.
 * A cooldown function has no ceiling of its own, so the figure that it drew counts.
 */
export function longestCooldown(policy: CooldownPolicy, drawnMs: number): number {
  const kinds = Object.values(policy.kinds).map((kind) => kind.cooldownMs ?? 0)
  const own =
    policy.backoff === null
      ? policy.cooldownMs
      : typeof policy.backoff === 'function'
        ? Math.max(policy.cooldownMs, drawnMs)
        : Math.max(policy.backoff.maxMs, policy.backoff.minMs)
  return Math.max(own, policy.maxRetryAfterMs, ...kinds)
}
