import { describe, expect, it } from 'vitest'
import { createBreaker } from '../../src/index.ts'
import type { Outcome, Permit } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { HOSTILE } from '../support/rig.ts'

const admitted = (breaker: ReturnType<typeof createBreaker>): Permit => {
  const permit = breaker.tryAcquire()
  if (!permit.admitted) throw new Error('refused')
  return permit
}

const throwing = {
  get outcome(): string {
    throw new Error('outcome')
  },
}

describe('settle() never throws', () => {
  it.each([...HOSTILE, ['a number', 7], ['an object', {}], ['an outcome that throws', throwing]] as const)(
    'an outcome that is %s says nothing, and gives the slot back',
    (_what, outcome) => {
      const clock = new VirtualClock(1)
      const breaker = createBreaker({ clock, cooldownMs: 10 })
      breaker.open()
      clock.advance(10)
      breaker.settle(admitted(breaker), outcome as Outcome)
      expect(breaker.getStatus()).toMatchObject({
        state: 'half-open',
        probes: { inFlight: 0, succeeded: 0, failed: 0 },
      })
      expect(breaker.stats.neutral).toBe(1)
    },
  )

  it.each([
    ...HOSTILE,
    ['a refusal', Object.freeze({ admitted: false, reason: 'open', retryAfterMs: 1 })],
  ] as const)('a permit that is %s is none', (_what, permit) => {
    const breaker = createBreaker({ clock: new VirtualClock(1), threshold: 1 })
    breaker.settle(permit as Permit, { outcome: 'failure' })
    expect(breaker.state).toBe('closed')
    expect(breaker.stats.failure).toBe(0)
  })

  it('a failure whose details are nothing of the kind is a failure', () => {
    const breaker = createBreaker({ clock: new VirtualClock(1), threshold: 2 })
    const odd = { failure: Symbol('x'), retryAfterMs: 'soon', latencyMs: NaN }
    breaker.settle(admitted(breaker), { outcome: 'failure', ...odd } as never)
    breaker.settle(admitted(breaker), { outcome: 'failure', retryAfterMs: NaN })
    expect(breaker.getFailureBreakdown()).toEqual({ unknown: 2 })
    expect(breaker.getStatus()).toMatchObject({ state: 'open', retryAfterMs: 30_000 })
  })
})
