import type { TrippingRule } from '../../machines/tripping.ts'
import { ConfigError } from './errors.ts'
import { checkKeys, checkNumber, checkWord, given } from './validate.ts'

/**
 * A tripping policy of your own. One instance may serve many buckets: `key` is the resolved model under
 * `isolateByModel`, and one fixed key otherwise.
 *
 * @example
 * ```ts
 * const everyThird = (): TrippingPolicy => {
 *   let failures = 0
 *   return {
 *     onSuccess: () => {},
 *     onFailure: () => ++failures % 3 === 0,
 *     reset: () => { failures = 0 },
 *   }
 * }
 * ```
 */
export interface TrippingPolicy {
  onSuccess(key: string): void
  /** True = this failure opens the circuit. */
  onFailure(key: string): boolean
  /** The bucket is empty again: after a recovery, a manual close, a restart. */
  reset(key: string): void
  /** The bucket is gone. */
  forget?(key: string): void
}

/** A rule of the tripping policies that come with the library, as options. */
export type TrippingRuleOption =
  | { readonly kind: 'consecutive'; readonly threshold?: number }
  | { readonly kind: 'leaky'; readonly threshold: number }
  | {
      readonly kind: 'rolling'
      readonly windowMs: number
      readonly minCalls: number
      readonly failureRatio: number
    }
  | {
      readonly kind: 'latency'
      readonly windowMs: number
      readonly minCalls: number
      readonly slowMs: number
      readonly slowRatio: number
    }

export type TrippingOption =
  | TrippingRuleOption
  | TrippingPolicy
  | readonly (TrippingRuleOption | TrippingPolicy)[]

interface Tripping {
  readonly rules: readonly TrippingRule[]
  /** In the order of the rules: the user's own policy, or null. */
  readonly custom: readonly (TrippingPolicy | null)[]
}

const RULE_KEYS = {
  consecutive: ['kind', 'threshold'],
  leaky: ['kind', 'threshold'],
  rolling: ['kind', 'windowMs', 'minCalls', 'failureRatio'],
  latency: ['kind', 'windowMs', 'minCalls', 'slowMs', 'slowRatio'],
} as const

const THRESHOLD = { min: 1, integer: true, infinite: true }
const WINDOW = { min: 10 }
const MIN_CALLS = { min: 0, integer: true }
const SHARE = { min: 0, max: 1, above: true }

/** Checks the option `tripping` and splits it into rules and the user's own policies. */
export function resolveTripping(
  option: TrippingOption | undefined,
  givenThreshold: number | undefined,
  threshold: number,
  path: string,
): Tripping {
  const standard: TrippingOption = { kind: 'consecutive', threshold }
  const list = Array.isArray(option) ? (option as readonly TrippingOption[]) : [given(option, standard)]
  if (list.length === 0)
    throw new ConfigError(`${path} is an empty list.`, { path, hint: 'Give one rule at least.' })
  const single = list.length === 1 && !Array.isArray(option)
  const resolved = list.map((rule, i) => resolveRule(rule, threshold, single ? path : `${path}[${i}]`))
  const readsThreshold = list.some(
    (rule) => isRule(rule) && rule.kind === 'consecutive' && rule.threshold === undefined,
  )
  if (option !== undefined && givenThreshold !== undefined && !readsThreshold) {
    throw new ConfigError(`threshold is given beside ${path}, which does not read it.`, {
      path: 'threshold',
      hint: 'Leave it out, or move it into a rule of the kind consecutive.',
    })
  }
  return { rules: resolved.map(([rule]) => rule), custom: resolved.map(([, policy]) => policy) }
}

const isRule = (option: unknown): option is TrippingRuleOption =>
  typeof option === 'object' && option !== null && 'kind' in option

const isPolicy = (option: unknown): option is TrippingPolicy =>
  typeof option === 'object' &&
  option !== null &&
  ['onSuccess', 'onFailure', 'reset'].every(
    (name) => typeof (option as Record<string, unknown>)[name] === 'function',
  )

function resolveRule(
  option: unknown,
  threshold: number,
  path: string,
): [TrippingRule, TrippingPolicy | null] {
  if (isPolicy(option)) return [{ kind: 'custom' }, option]
  if (!isRule(option)) {
    throw new ConfigError(`${path} is ${String(option)}; that is neither a rule nor a policy.`, {
      path,
      hint: `Give {kind: …}, one of ${Object.keys(RULE_KEYS).join(', ')}, or an object with onSuccess, onFailure and reset.`,
    })
  }
  const kind = checkWord(`${path}.kind`, option.kind, ['consecutive', 'leaky', 'rolling', 'latency'])
  checkKeys(path, option, RULE_KEYS[kind])
  return [checkRule({ ...option, kind } as TrippingRuleOption, threshold, path), null]
}

function checkRule(rule: TrippingRuleOption, threshold: number, path: string): TrippingRule {
  const number = (key: string, value: unknown, range: Parameters<typeof checkNumber>[2]) =>
    checkNumber(`${path}.${key}`, value, range)
  switch (rule.kind) {
    case 'consecutive':
      return {
        kind: 'consecutive',
        threshold: number('threshold', given(rule.threshold, threshold), THRESHOLD),
      }
    case 'leaky':
      return { kind: 'leaky', threshold: number('threshold', rule.threshold, THRESHOLD) }
    case 'rolling':
      return {
        kind: 'rolling',
        windowMs: number('windowMs', rule.windowMs, WINDOW),
        minCalls: number('minCalls', rule.minCalls, MIN_CALLS),
        failureRatio: number('failureRatio', rule.failureRatio, SHARE),
      }
    case 'latency':
      return {
        kind: 'latency',
        windowMs: number('windowMs', rule.windowMs, WINDOW),
        minCalls: number('minCalls', rule.minCalls, MIN_CALLS),
        slowMs: number('slowMs', rule.slowMs, { min: 0 }),
        slowRatio: number('slowRatio', rule.slowRatio, SHARE),
      }
  }
}
