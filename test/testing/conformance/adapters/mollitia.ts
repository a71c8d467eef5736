import { Circuit, SlidingCountBreaker, SlidingTimeBreaker } from 'mollitia'
import type { SlidingWindowBreakerOptions } from 'mollitia'
import type { CircuitBreakerOptions } from '../../../../src/core/breaker-options.ts'
import { NotOffered, ScriptedFailure } from '../../../../src/testing/conformance/adapter.ts'
import type { BreakerAdapter } from '../../../../src/testing/conformance/adapter.ts'
import { FakeTime, versionOf } from './fake-time.ts'

// above all shares that do not open, below all that do
const JUST_ABOVE = 0.001

/**
 * n failures in a row are a window of the last n calls of which all have failed. One failure rate serves the window and
 * the trial: it must lie above (n - 1)/n, and where the trial's share of failures that still closes ends.
 */
function inARow({ threshold = 5, halfOpenProbes = 1, halfOpenSuccessRatio = 1 }: CircuitBreakerOptions) {
  const tolerated = 1 - halfOpenSuccessRatio
  const share = threshold === Infinity ? 1 : (threshold - 1) / threshold
  const rate = Math.min(Math.max(tolerated, share) * 100 + JUST_ABOVE, 100 - JUST_ABOVE)
  const reopens = (Math.floor(tolerated * halfOpenProbes + 1e-9) + 1) / halfOpenProbes
  if (rate > reopens * 100) throw new NotOffered('one failure rate serves both the window and the trial')
  return { slidingWindowSize: threshold, minimumNumberOfCalls: threshold, failureRateThreshold: rate }
}

function make(rules: CircuitBreakerOptions, isFailure: (error: unknown) => boolean) {
  const { cooldownMs, halfOpenProbes = 1, probeLeaseMs } = rules
  const shared: SlidingWindowBreakerOptions = {
    openStateDelay: cooldownMs ?? 30_000,
    permittedNumberOfCallsInHalfOpenState: halfOpenProbes,
    halfOpenStateMaxDelay: probeLeaseMs ?? 0,
    onError: isFailure,
  }
  if (rules.tripping === undefined) return new SlidingCountBreaker({ ...shared, ...inARow(rules) })
  const rule = rules.tripping as {
    readonly kind: 'rolling' | 'latency'
    readonly windowMs: number
    readonly minCalls: number
    readonly failureRatio: number
    readonly slowMs: number
    readonly slowRatio: number
  }
  const window = { slidingWindowSize: rule.windowMs, minimumNumberOfCalls: rule.minCalls }
  const rates =
    rule.kind === 'rolling'
      ? { failureRateThreshold: rule.failureRatio * 100 }
      : {
          failureRateThreshold: 100 - JUST_ABOVE,
          slowCallDurationThreshold: rule.slowMs,
          slowCallRateThreshold: rule.slowRatio * 100,
        }
  return new SlidingTimeBreaker({ ...shared, ...window, ...rates })
}

const wholeTrial = 'has a limit for the whole trial, not for each probe'

/** mollitia: a circuit with SlidingCountBreaker or SlidingTimeBreaker. */
export const mollitia: BreakerAdapter = {
  name: 'mollitia',
  version: versionOf('mollitia'),
  // neutral: onError; probeLeaseMs: halfOpenStateMaxDelay
  offers: [
    'threshold',
    'cooldownMs',
    'rolling',
    'latency',
    'halfOpenProbes',
    'halfOpenSuccessRatio',
    'probeLeaseMs',
    'neutral',
    'open',
    'close',
  ],
  declines: {
    'lost-probe-reporting-late-is-fenced': wholeTrial,
    'half-open: a probe is lost': wholeTrial,
  },
  create(rules) {
    const time = new FakeTime()
    const isFailure = (error: unknown) => error instanceof ScriptedFailure && error.outcome === 'failure'
    try {
      const breaker = make(rules, isFailure)
      const circuit = new Circuit({
        func: (work: () => Promise<unknown>) => work(),
        options: { modules: [breaker] },
      })
      return {
        execute: (work) => circuit.execute(work),
        advance: (ms) => time.advance(ms),
        open: () => breaker.open(),
        close: () => breaker.close(),
        dispose() {
          circuit.dispose()
          time.stop()
        },
      }
    } catch (error) {
      time.stop()
      throw error
    }
  },
}
