import { readFileSync } from 'node:fs'
import { createBreaker } from '../../../../src/core/create-breaker.ts'
import type { BreakerOptions } from '../../../../src/core/create-breaker.ts'
import { OFFERS, ScriptedFailure } from '../../../../src/testing/conformance/adapter.ts'
import type { BreakerAdapter } from '../../../../src/testing/conformance/adapter.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'

const file = new URL('../../../../package.json', import.meta.url)

/** Our own breaker, by its permits, on a clock of its own. */
export const switchgear: BreakerAdapter = {
  name: 'Switchgear',
  version: (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version,
  offers: OFFERS,
  create(rules, random) {
    let clock = new VirtualClock()
    const options: BreakerOptions = { ...rules, random }
    let breaker = createBreaker({ ...options, clock })
    return {
      async execute(work) {
        const permit = breaker.tryAcquire()
        if (!permit.admitted) throw breaker.refusalError(permit)
        const [visited] = await Promise.allSettled([work()])
        if (visited.status === 'fulfilled') return breaker.settle(permit, { outcome: 'success' })
        const error: unknown = visited.reason
        if (error instanceof ScriptedFailure && error.outcome === 'failure')
          breaker.settle(permit, {
            outcome: 'failure',
            failure: error.failure,
            retryAfterMs: error.retryAfterMs,
          })
        else breaker.settle(permit, { outcome: 'neutral' })
        throw error
      },
      advance: (ms) => clock.advance(ms),
      open: (command) => breaker.open(command),
      close: (command) => breaker.close(command),
      restart(downMs) {
        const snapshot = JSON.parse(JSON.stringify(breaker.snapshot())) as NonNullable<
          BreakerOptions['snapshot']
        >
        clock.dropTimers()
        clock = new VirtualClock(clock.now() + downMs)
        breaker = createBreaker({ ...options, snapshot, clock })
      },
      dispose: () => breaker.dispose(),
    }
  },
}
