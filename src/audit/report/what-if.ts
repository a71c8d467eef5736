import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { TrippingRule } from '../../../machines/tripping.ts'
import { percent } from '../words.ts'

/** One number, changed. */
export interface WhatIf {
  readonly change: string
  readonly isConfigured: boolean
  /** What opens it then. */
  readonly opensAfter: string
  /** How often a healthy target, that fails 5 % of its calls, would be shut off by mistake. */
  readonly byMistake: string
  /** How soon it opens where a third of the calls fails. */
  readonly whenAThirdFails: string
}

const BACKGROUND = 0.05
const THIRD = 1 / 3

/** The chance of at least `k` of `n`, each with the chance `p`. */
export function atLeast(k: number, n: number, p: number): number {
  let term = (1 - p) ** n
  let below = 0
  for (let i = 0; i < k; i++) {
    below += term
    term *= ((n - i) / (i + 1)) * (p / (1 - p))
  }
  return Math.min(1, Math.max(0, 1 - below))
}

const untilInARow = (k: number, p: number) => (1 - p ** k) / (p ** k * (1 - p))

function oneIn(chance: number, noun: string): string {
  if (chance < 1e-12) return `practically never`
  const n = 1 / chance
  if (n < 1.5) return `in nearly every ${noun}`
  return `once in ${rounded(n)} ${noun}s`
}

const rounded = (n: number) => {
  if (n >= 1e12) return 'more than a thousand billion'
  if (n >= 1e9) return `${Number((n / 1e9).toPrecision(2))} billion`
  if (n >= 1e6) return `${Number((n / 1e6).toPrecision(2))} million`
  return Number(n.toPrecision(2)).toLocaleString('en').replaceAll(',', ' ')
}

function inARow(threshold: number, isConfigured: boolean): WhatIf {
  return {
    change: `${threshold} in a row`,
    isConfigured,
    opensAfter: `${threshold} of ${threshold} calls`,
    byMistake: `once in ${rounded(untilInARow(threshold, BACKGROUND))} calls`,
    whenAThirdFails: `after about ${rounded(untilInARow(threshold, THIRD))} calls`,
  }
}

function ofWindow(minCalls: number, ratio: number, isConfigured: boolean): WhatIf {
  const needed = Math.ceil(ratio * minCalls - 1e-9)
  return {
    change: `${percent(ratio)} of ${minCalls} calls`,
    isConfigured,
    opensAfter: `${needed} of ${minCalls} calls`,
    byMistake: oneIn(atLeast(needed, minCalls, BACKGROUND), 'window'),
    whenAThirdFails: oneIn(atLeast(needed, minCalls, THIRD), 'window'),
  }
}

/** What would be another way if one number were another. */
export function whatIf({ rules }: BreakerPolicy): WhatIf[] {
  return rules.flatMap((rule: TrippingRule): WhatIf[] => {
    if (rule.kind === 'consecutive' && rule.threshold !== Infinity) {
      const others = new Set([3, rule.threshold, 10])
      return [...others]
        .sort((a, b) => a - b)
        .map((threshold) => inARow(threshold, threshold === rule.threshold))
    }
    if (rule.kind !== 'rolling') return []
    const minCalls = Math.max(1, rule.minCalls)
    const ratios = new Set([0.3, rule.failureRatio, 0.7])
    return [...ratios]
      .sort((a, b) => a - b)
      .map((ratio) => ofWindow(minCalls, ratio, ratio === rule.failureRatio))
  })
}
