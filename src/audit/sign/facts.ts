import { policyAsJson } from '../../stores/policy-json.ts'
import type { Audited, AuditedTarget } from '../audited.ts'

/** Plain values, as JSON can hold them. */
export type Fact = null | boolean | number | string | readonly Fact[] | { readonly [key: string]: Fact }

/** Infinity, which JSON does not know, as a word; keys in order, so that the same is written the same. */
export function asFact(value: unknown): Fact {
  if (value === Infinity) return 'Infinity'
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string')
    return value
  if (Array.isArray(value)) return value.map(asFact)
  if (typeof value !== 'object') return typeof value === 'function' ? 'code' : null
  const entries = Object.entries(value as object).filter(([, each]) => each !== undefined)
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([key, each]) => [key, asFact(each)]))
}

function targetFacts({ rules, longestLimitMs: _computed, ...target }: AuditedTarget): unknown {
  if (rules === undefined) return { ...target, circuitBreaker: false }
  const { policy, probeLeaseMs, isolateByModel, observe } = rules
  const circuitBreaker = {
    ...policyAsJson(policy),
    probeLeaseMs,
    isolateByModel,
    mode: observe ? 'observe' : 'enforce',
  }
  return { ...target, circuitBreaker }
}

/** Everything that was resolved, without a secret: names, hosts, words and numbers. */
export function factsOf({ targets, ...rest }: Audited): Fact {
  return asFact({
    ...rest,
    targets: Object.fromEntries(targets.map((target) => [target.name, targetFacts(target)])),
  })
}

/** Where two sets of facts differ: `targets.openai.timeoutMs: 30000 → 60000`. */
export function differences(a: Fact, b: Fact, path = ''): string[] {
  if (isBag(a) && isBag(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)])
    return [...keys]
      .toSorted()
      .flatMap((key) => differences(a[key] ?? null, b[key] ?? null, path === '' ? key : `${path}.${key}`))
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    return a.flatMap((each: Fact, i) => differences(each, (b as readonly Fact[])[i] ?? null, `${path}[${i}]`))
  }
  const [was, is] = [JSON.stringify(a), JSON.stringify(b)]
  return was === is ? [] : [`${path}: ${shown(was)} → ${shown(is)}`]
}

const isBag = (value: Fact): value is { readonly [key: string]: Fact } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const shown = (json: string) =>
  json === 'null' ? 'none' : json.length > 120 ? `${json.slice(0, 117)}…` : json
