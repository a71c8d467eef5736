import type { CircuitBreakerOptions } from './breaker-options.ts'

/**
 * Rules that fit calls to LLM providers, whether one a minute or many a second. Opens on a failure count of ten, from
 * which each success takes one off, never below zero (busy hours), or once 70 % of at least eight calls within two minutes
 * or of at least five within five minutes failed (quiet hours). Backs off ×2 up to two minutes; closes after two successful
 * probes, one at a time; an empty account opens at once, a rejected key the second time.
 *
 * Why these: over a year of a provider's incidents, from one call a minute to 26 a second, no rules near them are better in
 * both, time to detect an outage and calls refused without one. Five failures in a row are not among the best: while a
 * fifth of the calls fails, they come about every 3 900 calls, in a busy service every few minutes. Longer open periods
 * mostly refuse calls after the outage is over.
 */
export const llmDefaults: CircuitBreakerOptions = Object.freeze({
  tripping: [
    { kind: 'leaky', threshold: 10 },
    { kind: 'rolling', windowMs: 120_000, minCalls: 8, failureRatio: 0.7 },
    { kind: 'rolling', windowMs: 300_000, minCalls: 5, failureRatio: 0.7 },
  ],
  cooldownMs: 30_000,
  cooldownBackoff: { multiplier: 2, maxMs: 120_000, jitter: 'equal' },
  halfOpenProbes: 2,
  halfOpenConcurrency: 1,
  halfOpenSuccessRatio: 1,
  halfOpenVerdict: 'early',
  kinds: {
    quota_exhausted: { immediateOpen: true, cooldownMs: 300_000 },
    auth: { threshold: 2, cooldownMs: 300_000 },
  },
} as const)

/** Rules that fit agent tools, called seldom: three failures in a row, ten seconds, one probe. */
export const toolDefaults: CircuitBreakerOptions = Object.freeze({
  threshold: 3,
  cooldownMs: 10_000,
  cooldownBackoff: { multiplier: 2, maxMs: 120_000, jitter: 'equal' },
  halfOpenProbes: 1,
} as const)
