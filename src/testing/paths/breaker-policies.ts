import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { TrippingRule } from '../../../machines/tripping.ts'

const consecutive = (threshold: number): TrippingRule => ({ kind: 'consecutive', threshold })

const plain: BreakerPolicy = {
  rules: [consecutive(1)],
  cooldownMs: 1000,
  backoff: null,
  maxRetryAfterMs: 5000,
  kinds: {},
  degradedAt: null,
  halfOpenProbes: 1,
  halfOpenSuccessRatio: 1,
  halfOpenConcurrency: 1,
  halfOpenVerdict: 'all',
}

const threeProbes = { halfOpenProbes: 3, halfOpenConcurrency: 3, halfOpenSuccessRatio: 2 / 3 } as const
const doubling = { multiplier: 2, maxMs: 4000, minMs: 0 } as const
const rolling: TrippingRule = { kind: 'rolling', windowMs: 10_000, minCalls: 4, failureRatio: 0.5 }
const latency: TrippingRule = { kind: 'latency', windowMs: 10_000, minCalls: 2, slowMs: 100, slowRatio: 0.5 }

/** A cooldown function that misbehaves in every way. */
function moody(reopens: number): number {
  if (reopens === 1) throw new Error('no cooldown today')
  return [500, 0, Number.NaN, -5][reopens] ?? 700
}

/** The family over which every path is explored: each rule at work in one of them at least. */
export const breakerPolicies: Readonly<Record<string, BreakerPolicy>> = {
  'threshold 1, 1 probe': plain,
  'threshold 2, 1 probe, a floor': {
    ...plain,
    rules: [consecutive(2)],
    backoff: { multiplier: 3, maxMs: 5000, minMs: 400, jitter: 'equal' },
  },
  'threshold 3, 2 of 3 probes, doubling': {
    ...plain,
    ...threeProbes,
    rules: [consecutive(3)],
    backoff: { ...doubling, jitter: 'none' },
  },
  'threshold 2, 2 of 3 probes, doubling with jitter': {
    ...plain,
    ...threeProbes,
    rules: [consecutive(2)],
    backoff: { ...doubling, jitter: 'full' },
  },
  'early verdict': { ...plain, ...threeProbes, rules: [consecutive(2)], halfOpenVerdict: 'early' },
  'one probe at a time': {
    ...plain,
    halfOpenProbes: 2,
    halfOpenSuccessRatio: 1,
    halfOpenConcurrency: 1,
    halfOpenVerdict: 'early',
  },
  'degraded at 0.6 of 5': { ...plain, rules: [consecutive(5)], degradedAt: 0.6 },
  'kinds of their own': {
    ...plain,
    rules: [consecutive(4)],
    degradedAt: 0.5,
    backoff: { ...doubling, jitter: 'none' },
    kinds: {
      quota_exhausted: { immediateOpen: true, cooldownMs: 9000 },
      rate_limit: { threshold: 2 },
      auth: { cooldownMs: 2000 },
    },
  },
  'rolling window': { ...plain, rules: [rolling], degradedAt: 0.6 },
  'slow answers': { ...plain, rules: [latency], degradedAt: 0.6 },
  leaky: { ...plain, rules: [{ kind: 'leaky', threshold: 4 }], degradedAt: 0.5 },
  'any of three rules': { ...plain, rules: [consecutive(3), rolling, { kind: 'custom' }], degradedAt: 0.5 },
  'cooldown function': { ...plain, rules: [{ kind: 'custom' }], backoff: moody },
}
