import type { CircuitBreakerOptions } from './breaker-options.ts'

/**
 * Rules that fit calls to LLM providers: trips on half of at least 20 calls failing within a minute, or on five failures
 * in a row for quiet hours; backs off ×2 up to 5 minutes; closes after two successful probes, one at a time; an empty
 * account or a rejected key opens at once.
 */
export const llmDefaults: CircuitBreakerOptions = Object.freeze({
  tripping: [
    { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 },
    { kind: 'consecutive', threshold: 5 },
  ],
  cooldownMs: 30_000,
  cooldownBackoff: { multiplier: 2, maxMs: 300_000, jitter: 'equal' },
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
