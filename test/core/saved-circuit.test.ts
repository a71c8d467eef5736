import { describe, expect, it } from 'vitest'
import { createBreaker } from '../../src/core/create-breaker.ts'
import { ConfigError } from '../../src/core/errors.ts'
import type { Permit } from '../../src/core/permit.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

function saved(): Record<string, unknown> {
  const breaker = createBreaker({ threshold: 1, clock: new VirtualClock(1000) })
  breaker.settle(breaker.tryAcquire() as Permit, { outcome: 'failure', failure: 'server_error' })
  return JSON.parse(JSON.stringify(breaker.snapshot())) as Record<string, unknown>
}

const restored = (snapshot: unknown) =>
  createBreaker({ threshold: 1, clock: new VirtualClock(1000), snapshot: snapshot as never })

describe('a saved circuit', () => {
  it('goes through JSON and back', () => {
    expect(restored(saved()).state).toBe('open')
    expect(restored(saved()).explain().sentence).toContain('1 failure in a row')
  })

  const broken: [string, unknown[]][] = [
    ['version', [2, undefined]],
    ['state', ['ajar', undefined]],
    ['hold', [true, {}, { until: 'soon', by: 'a', reason: '' }]],
    // one that cannot grow fences nothing off
    ['generation', ['abc', NaN, null, -1, 1.5, undefined, Number.MAX_SAFE_INTEGER]],
    ['reopens', ['1', null, -1]],
    ['cause', ['x', null, undefined]],
    ['since', [NaN, 'now', undefined]],
    // no Date can tell it
    ['openedAt', ['abc', undefined, -1e300]],
    ['cooldownMs', ['abc', NaN]],
    ['openUntil', ['abc', null, undefined, NaN]],
  ]
  it('of a trial that is held is refused: it would come back closed', () => {
    const held = { state: 'half-open', hold: { until: null, by: 'ada', reason: '' }, openUntil: null }
    expect(() => restored({ ...saved(), ...held })).toThrow('snapshot.hold')
  })

  it.each(broken.flatMap(([field, values]) => values.map((value) => [field, value] as const)))(
    'with %s = %j is refused by the name of the field',
    (field, value) => {
      expect(() => restored({ ...saved(), [field]: value })).toThrow(ConfigError)
      expect(() => restored({ ...saved(), [field]: value })).toThrow(`snapshot.${field}`)
    },
  )

  it('a cause that is odd explains less, and nothing else', () => {
    const cause = { why: 'magic', reading: { rules: 5 }, trial: 'x', by: 7 }
    expect(restored({ ...saved(), cause }).explain().sentence).toContain('restored after a restart')
  })
})
