import type { GatewayConfig, GatewayTarget } from './schema.ts'

type Breaker = NonNullable<GatewayTarget['circuitBreaker']>
type BreakerOptions = Exclude<Breaker, boolean>

/** The rules that a target takes over from `defaults` where it does not say otherwise. */
export type CallRules = Pick<
  GatewayTarget,
  'circuitBreaker' | 'maxRetries' | 'retry' | 'timeoutMs' | 'firstContentTimeoutMs' | 'idleTimeoutMs'
>

// options that only make sense together: a target that gives one of them replaces all
const TOGETHER: readonly (readonly (keyof BreakerOptions)[])[] = [
  ['threshold', 'tripping'],
  ['halfOpenProbes', 'halfOpenConcurrency'],
]

const PLAIN = ['maxRetries', 'timeoutMs', 'firstContentTimeoutMs', 'idleTimeoutMs'] as const

/** A target's rules, completed by the defaults. A gateway's targets have a breaker unless they say `false`. */
export function mergeDefaults(target: GatewayTarget, defaults: GatewayConfig['defaults'] = {}): CallRules {
  const own = Object.fromEntries(PLAIN.filter((key) => key in target).map((key) => [key, target[key]]))
  const retry = { ...defaults.retry, ...target.retry }
  return {
    ...defaults,
    ...own,
    circuitBreaker: mergeBreaker(target.circuitBreaker, defaults.circuitBreaker),
    ...(Object.keys(retry).length > 0 && { retry }),
  }
}

function mergeBreaker(own: Breaker | undefined, standard: Breaker = true): Breaker {
  if (own === undefined) return standard
  if (typeof own === 'boolean') return own && typeof standard === 'object' ? standard : own
  if (typeof standard === 'boolean') return own
  const kept = Object.entries(standard).filter(([key]) => !replacedBy(own, key))
  return { ...Object.fromEntries(kept), ...own }
}

/** True = what the target says for itself leaves no place for this option of the defaults. */
export function replacedBy(own: BreakerOptions, key: string): boolean {
  const together = TOGETHER.find((keys) => keys.some((other) => other === key)) ?? [key]
  return together.some((other) => other in own)
}
