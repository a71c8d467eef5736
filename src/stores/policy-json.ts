import type { BreakerPolicy } from '../../machines/breaker-policy.ts'

const FUNCTION = 'function'

/** The rules of a breaker in a form that JSON can hold. A cooldown function leaves only the word that there was one. */
export function policyAsJson({ backoff, ...policy }: BreakerPolicy): Record<string, unknown> {
  const plain = { ...policy, backoff: typeof backoff === 'function' ? FUNCTION : backoff }
  const text = JSON.stringify(plain, (_key, value: unknown) => (value === Infinity ? 'Infinity' : value))
  return JSON.parse(text) as Record<string, unknown>
}

/** The rules back again; undefined = a function was part of them, which no journal can hold. */
export function policyFromJson(json: Readonly<Record<string, unknown>>): BreakerPolicy | undefined {
  if (json['backoff'] === FUNCTION) return undefined
  const revive = (_key: string, value: unknown) => (value === 'Infinity' ? Infinity : value)
  return JSON.parse(JSON.stringify(json), revive) as BreakerPolicy
}
