import { CircuitBreaker, createMiddlewareStateBag } from 'vern-llm'
import type { CircuitBreakerOptions as VernOptions } from 'vern-llm'
import { vi } from 'vitest'
import type { CircuitBreakerOptions } from '../../../../src/core/breaker-options.ts'
import { NotOffered, ScriptedFailure } from '../../../../src/testing/conformance/adapter.ts'
import type { BreakerAdapter } from '../../../../src/testing/conformance/adapter.ts'
import { FakeTime, versionOf } from './fake-time.ts'

/** Its options have the names of ours. Its own exponential growth has full jitter; without jitter it takes a function. */
function optionsOf({ cooldownBackoff, ...rules }: CircuitBreakerOptions): VernOptions {
  const shared = rules as unknown as VernOptions
  if (cooldownBackoff === undefined) return shared
  if (typeof cooldownBackoff === 'function') return { ...shared, cooldownBackoff }
  const { multiplier, maxMs = Infinity, jitter = 'full' } = cooldownBackoff
  if (jitter === 'full') return { ...shared, cooldownBackoff: { multiplier, maxMs } }
  if (jitter === 'equal') throw new NotOffered('equal jitter')
  return { ...shared, cooldownBackoff: (reopens, base) => Math.min(base * multiplier ** reopens, maxMs) }
}

/** VernLLM's CircuitBreaker, used as VernLLM uses it: asked before a call, told afterwards with the call's context. */
export const vernLlm: BreakerAdapter = {
  name: 'VernLLM',
  version: versionOf('vern-llm'),
  // neutral: releaseTrial(), as after an abort
  offers: [
    'threshold',
    'cooldownMs',
    'cooldownBackoff',
    'rolling',
    'halfOpenProbes',
    'halfOpenSuccessRatio',
    'neutral',
    'open',
    'close',
  ],
  declines: {
    'success-ratio-above-one-is-refused': 'takes such a ratio for 1, as it documents',
  },
  create(rules, random) {
    const time = new FakeTime()
    const chance = vi.spyOn(Math, 'random').mockImplementation(random)
    const stop = () => {
      chance.mockRestore()
      time.stop()
    }
    try {
      const breaker = new CircuitBreaker(optionsOf(rules))
      return {
        async execute(work, signal) {
          const context = { requestId: 'call', state: createMiddlewareStateBag(), signal }
          breaker.assertClosed(undefined, context)
          const [call] = await Promise.allSettled([work()])
          if (call.status === 'fulfilled') return breaker.recordSuccess(undefined, context)
          const error: unknown = call.reason
          const counts = error instanceof ScriptedFailure && error.outcome === 'failure'
          if (counts) breaker.recordFailure(undefined, context)
          else breaker.releaseTrial(undefined, context)
          throw error
        },
        advance: (ms) => time.advance(ms),
        open: () => breaker.open(),
        close: () => breaker.close(),
        dispose: stop,
      }
    } catch (error) {
      stop()
      throw error
    }
  },
}
