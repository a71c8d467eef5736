/** One reason to open a circuit. Counting is done outside; a rule only judges what was counted. */
export type TrippingRule =
  /** Opens after `threshold` failures in a row. */
  | { readonly kind: 'consecutive'; readonly threshold: number }
  /** A failure adds one, a success takes one off; opens at `threshold`. */
  | { readonly kind: 'leaky'; readonly threshold: number }
  /** Opens when at least `minCalls` calls of the last `windowMs` ms failed at `failureRatio` or more. */
  | {
      readonly kind: 'rolling'
      readonly windowMs: number
      readonly minCalls: number
      readonly failureRatio: number
    }
  /** Opens when at least `minCalls` calls of the last `windowMs` ms took longer than `slowMs` at `slowRatio` or more. */
  | {
      readonly kind: 'latency'
      readonly windowMs: number
      readonly minCalls: number
      readonly slowMs: number
      readonly slowRatio: number
    }
  /** A policy of the user's own, asked by the meter; its answer arrives as a count of 0 or 1. */
  | { readonly kind: 'custom' }

/** What the meter has counted for one rule. */
export interface RuleReading {
  /** Failures in a row, leaky level, failures or slow calls in the window, or 1 when a custom policy said trip. */
  readonly count: number
  /** Calls in the window; equal to `count` for rules without a window. */
  readonly calls: number
}

/** An immutable snapshot of the meter, as it travels in an event. */
export interface Reading {
  /** One entry a rule, in the order of the policy's rules. */
  readonly rules: readonly RuleReading[]
  /** Failures by kind since the last success, for kinds with a threshold of their own. */
  readonly kinds: Readonly<Record<string, number>>
  /** Failures in a row, whatever the rules are. */
  readonly consecutiveFailures: number
}

// 0.07 × 100 is 7.000000000000001
const EPSILON = 1e-9

/** How much of the rule's threshold is reached: 0 = nothing, 1 = it trips. */
export function shareOf(rule: TrippingRule, reading: RuleReading | undefined): number {
  if (reading === undefined) return 0
  switch (rule.kind) {
    case 'consecutive':
    case 'leaky':
      return reading.count / rule.threshold
    case 'rolling':
      return ratioShare(reading, rule.minCalls, rule.failureRatio)
    case 'latency':
      return ratioShare(reading, rule.minCalls, rule.slowRatio)
    case 'custom':
      return reading.count
  }
}

function ratioShare(reading: RuleReading, minCalls: number, ratio: number): number {
  return reading.calls >= Math.max(1, minCalls) ? reading.count / reading.calls / ratio : 0
}

/** The largest share over all rules. */
export function largestShare(rules: readonly TrippingRule[], readings: readonly RuleReading[]): number {
  let largest = 0
  rules.forEach((rule, i) => {
    largest = Math.max(largest, shareOf(rule, readings[i]))
  })
  return largest
}

/** The place of the rule whose threshold is reached most, the first of several; -1 = there is none. */
export function nearestRule(rules: readonly TrippingRule[], readings: readonly RuleReading[]): number {
  const shares = rules.map((rule, i) => shareOf(rule, readings[i]))
  return shares.indexOf(Math.max(...shares))
}

/** True when `share` has reached `limit`, rounding errors forgiven. */
export function reaches(share: number, limit: number): boolean {
  return share >= limit - EPSILON
}

/** The longest time after which a rule's evidence is gone, in ms; `fallbackMs` for rules without a window. */
export function quietLimitMs(rules: readonly TrippingRule[], fallbackMs: number): number {
  const windows = rules.map((rule) => ('windowMs' in rule ? rule.windowMs : fallbackMs))
  return Math.max(0, ...windows)
}
