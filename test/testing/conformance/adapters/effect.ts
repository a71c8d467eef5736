import { Cause, Duration, Effect, Exit, Layer, ManagedRuntime, Schedule } from 'effect'
import { CircuitBreaker } from 'effect/persistence'
import type { CircuitBreakerOptions } from '../../../../src/core/breaker-options.ts'
import { NotOffered, ScriptedFailure } from '../../../../src/testing/conformance/adapter.ts'
import type { BreakerAdapter } from '../../../../src/testing/conformance/adapter.ts'
import { FakeTime, versionOf } from './fake-time.ts'

function openDuration({ cooldownMs = 30_000, cooldownBackoff }: CircuitBreakerOptions) {
  if (cooldownBackoff === undefined) return Duration.millis(cooldownMs)
  if (typeof cooldownBackoff === 'function' || cooldownBackoff.jitter !== 'none')
    throw new NotOffered('this jitter: its own keeps a cooldown between 80 and 120 %')
  const { multiplier, maxMs } = cooldownBackoff
  const growing = Schedule.exponential(Duration.millis(cooldownMs), multiplier)
  return maxMs === undefined ? growing : Schedule.min([growing, Schedule.spaced(Duration.millis(maxMs))])
}

function classify(exit: Exit.Exit<unknown, unknown>): CircuitBreaker.Outcome {
  if (Exit.isSuccess(exit)) return CircuitBreaker.success
  const error = Cause.squash(exit.cause)
  if (!(error instanceof ScriptedFailure) || error.outcome === 'neutral') return CircuitBreaker.ignored
  const { retryAfterMs } = error
  return CircuitBreaker.failure(
    retryAfterMs === undefined ? {} : { retryAfter: Duration.millis(retryAfterMs) },
  )
}

const documented = 'asks for a wait only when it opens, as it documents'

/** Effect's CircuitBreaker with its store in memory. */
export const effect: BreakerAdapter = {
  name: 'Effect',
  version: versionOf('effect'),
  // neutral: Ignored; maxRetryAfterMs: maxOpenDuration
  offers: ['threshold', 'cooldownMs', 'cooldownBackoff', 'maxRetryAfterMs', 'neutral', 'retryAfter'],
  declines: {
    'late-retry-after-lengthens-an-open-period': documented,
    'open: a late call fails and names a wait': documented,
    'backoff-starts-over-after-recovery':
      'forgets its openings after as long a time as the last one, as it documents',
  },
  async create(rules) {
    const { threshold = 5, maxRetryAfterMs = 300_000 } = rules
    if (threshold === Infinity) throw new NotOffered('a threshold of infinity')
    const time = new FakeTime()
    try {
      const made = CircuitBreaker.layer({
        tripPolicy: CircuitBreaker.consecutive(threshold),
        openDuration: openDuration(rules),
        maxOpenDuration: Duration.millis(maxRetryAfterMs),
      })
      const runtime = ManagedRuntime.make(made.pipe(Layer.provide(CircuitBreaker.layerStoreMemory())))
      const breaker = await runtime.runPromise(Effect.service(CircuitBreaker.CircuitBreaker))
      return {
        execute: (work, signal) =>
          Effect.runPromise(
            breaker.execute(Effect.tryPromise({ try: work, catch: (error) => error }), {
              key: 'target',
              classify,
            }),
            { signal },
          ),
        advance: (ms) => time.advance(ms),
        async dispose() {
          await runtime.dispose()
          time.stop()
        },
      }
    } catch (error) {
      time.stop()
      throw error
    }
  },
}
