import Opossum from 'opossum'
import { ScriptedFailure } from '../../../../src/testing/conformance/adapter.ts'
import type { BreakerAdapter } from '../../../../src/testing/conformance/adapter.ts'
import type { CircuitBreakerOptions } from '../../../../src/core/breaker-options.ts'
import { FakeTime, versionOf } from './fake-time.ts'

const A_DAY = 86_400_000

/**
 * opossum opens when a share of the calls in a time window has failed; it has no count of failures in a row. A threshold
 * of 1 is any failure at all, whatever the window; one of n is, by its defaults, more than half of at least n calls in
 * 10 s.
 */
function tripping({ threshold = 5, tripping }: CircuitBreakerOptions) {
  if (tripping !== undefined) {
    const rule = tripping as {
      readonly windowMs: number
      readonly minCalls: number
      readonly failureRatio: number
    }
    return {
      rollingCountTimeout: rule.windowMs,
      volumeThreshold: rule.minCalls,
      // it opens above this share, not at it
      errorThresholdPercentage: rule.failureRatio * 100 - 0.001,
    }
  }
  if (threshold === Infinity) return { enabled: false }
  if (threshold === 1) return { rollingCountTimeout: A_DAY, errorThresholdPercentage: 0 }
  return { volumeThreshold: threshold }
}

export const opossum: BreakerAdapter = {
  name: 'opossum',
  version: versionOf('opossum'),
  // neutral: errorFilter; restart: toJSON() and the option state
  offers: ['threshold', 'cooldownMs', 'rolling', 'neutral', 'open', 'close', 'restart'],
  declines: {
    'two-whole-cycles': 'the failures of its last 10 s count on after a recovery',
    'late-failures-do-not-count-after-recovery':
      'counts no failures in a row, and the calls under way keep its ratio too low to open',
    'every step, opening at 3 failures': 'counts no failures in a row',
  },
  create(rules) {
    const time = new FakeTime()
    const options = {
      ...tripping(rules),
      resetTimeout: rules.cooldownMs ?? 30_000,
      timeout: false as const,
      enableSnapshots: false,
      errorFilter: (error: unknown) => error instanceof ScriptedFailure && error.outcome === 'neutral',
    }
    const run = (work: () => Promise<unknown>) => work()
    let breaker = new Opossum(run, { ...options })
    return {
      execute: (work) => breaker.fire(work),
      advance: (ms) => time.advance(ms),
      open: () => breaker.open(),
      close: () => breaker.close(),
      restart(downMs) {
        const { state } = JSON.parse(JSON.stringify(breaker)) as ReturnType<typeof breaker.toJSON>
        breaker.shutdown()
        time.sleep(downMs)
        breaker = new Opossum(run, { ...options, state })
      },
      dispose() {
        breaker.shutdown()
        time.stop()
      },
    }
  },
}
