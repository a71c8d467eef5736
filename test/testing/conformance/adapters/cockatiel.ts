import {
  ConsecutiveBreaker,
  ConstantBackoff,
  DelegateBackoff,
  ExponentialBackoff,
  SamplingBreaker,
  circuitBreaker,
  fullJitterGenerator,
  halfJitterGenerator,
  handleWhen,
} from 'cockatiel'
import type { IBackoffFactory, IDisposable } from 'cockatiel'
import { vi } from 'vitest'
import type { CircuitBreakerOptions } from '../../../../src/core/breaker-options.ts'
import { NotOffered, ScriptedFailure } from '../../../../src/testing/conformance/adapter.ts'
import type { BreakerAdapter } from '../../../../src/testing/conformance/adapter.ts'
import { FakeTime, versionOf } from './fake-time.ts'

type Rolling = { readonly windowMs: number; readonly minCalls: number; readonly failureRatio: number }

const GENERATORS = { full: fullJitterGenerator, equal: halfJitterGenerator }

function backoff({ cooldownMs = 30_000, cooldownBackoff }: CircuitBreakerOptions): IBackoffFactory<unknown> {
  if (cooldownBackoff === undefined) return new ConstantBackoff(cooldownMs)
  if (typeof cooldownBackoff === 'function') throw new NotOffered('a cooldown function of ours')
  const { multiplier, maxMs = Infinity, jitter = 'full' } = cooldownBackoff
  if (jitter === 'none') {
    return new DelegateBackoff<unknown, number>((_context, next = cooldownMs) => ({
      delay: Math.min(next, maxMs),
      state: next * multiplier,
    }))
  }
  if (multiplier !== 2) throw new NotOffered('jitter of a back-off that does not double')
  return new ExponentialBackoff({ generator: GENERATORS[jitter], maxDelay: maxMs, initialDelay: cooldownMs })
}

function tripping({ threshold = 5, tripping }: CircuitBreakerOptions) {
  if (tripping === undefined) return new ConsecutiveBreaker(threshold)
  const { windowMs, minCalls, failureRatio } = tripping as Rolling
  return new SamplingBreaker({
    // it opens above this share, not at it
    threshold: failureRatio - 1e-6,
    duration: windowMs,
    // 0 would mean its own guess of five failures a second
    minimumRps: Math.max(minCalls / (windowMs / 1000), Number.MIN_VALUE),
  })
}

/** cockatiel: circuitBreaker() with ConsecutiveBreaker or SamplingBreaker. */
export const cockatiel: BreakerAdapter = {
  name: 'cockatiel',
  version: versionOf('cockatiel'),
  // neutral: an error that its policy does not handle; holdOpen: isolate(); restart: toJSON() and initialState
  offers: [
    'threshold',
    'cooldownMs',
    'cooldownBackoff',
    'rolling',
    'halfOpenProbes',
    'halfOpenSuccessRatio',
    'halfOpenVerdict',
    'neutral',
    'holdOpen',
    'restart',
  ],
  declines: {
    'trial-waits-for-every-probe':
      'ends a trial as soon as the ratio is out of reach, and has no option to wait',
    'zero-cooldown-goes-straight-to-the-trial':
      'lets callers wait for the probe, and without a cooldown the first of them is the next probe',
  },
  create(rules, random) {
    const { halfOpenProbes, halfOpenSuccessRatio = 1 } = rules
    const time = new FakeTime()
    const chance = vi.spyOn(Math, 'random').mockImplementation(random)
    const isFailure = (error: unknown) => error instanceof ScriptedFailure && error.outcome === 'failure'
    const make = (initialState?: unknown) =>
      circuitBreaker(
        handleWhen((error) => isFailure(error)),
        {
          halfOpenAfter: backoff(rules),
          breaker: tripping(rules),
          ...(halfOpenProbes !== undefined && {
            halfOpenSampling: { calls: halfOpenProbes, threshold: 1 - halfOpenSuccessRatio },
          }),
          ...(initialState !== undefined && { initialState }),
        },
      )
    let breaker = make()
    let hold: IDisposable | undefined
    return {
      execute: (work, signal) => breaker.execute(work, signal),
      advance: (ms) => time.advance(ms),
      open: () => void (hold = breaker.isolate()),
      // after a restart the first handle is gone
      close: () => (hold ?? breaker.isolate()).dispose(),
      restart(downMs) {
        const saved: unknown = JSON.parse(JSON.stringify(breaker))
        hold = undefined
        time.sleep(downMs)
        breaker = make(saved)
      },
      dispose() {
        chance.mockRestore()
        time.stop()
      },
    }
  },
}
