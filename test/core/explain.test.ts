import { expect, it } from 'vitest'
import { createBreaker } from '../../src/core/create-breaker.ts'
import { causeInWords } from '../../src/core/explain.ts'
import { llmDefaults } from '../../src/core/presets.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

type Tripping = NonNullable<CircuitBreakerOptions['tripping']>

const windowOf = (minCalls: number, failureRatio: number) =>
  ({ kind: 'rolling', windowMs: 300_000, minCalls, failureRatio }) as const
const slow = { kind: 'latency', windowMs: 60_000, minCalls: 2, slowMs: 100, slowRatio: 1 } as const

/** Plays `x` as a failure, `.` as a success, `s` as a slow success, one a second. */
function toldBy(tripping: Tripping, calls: string) {
  const clock = new VirtualClock()
  const breaker = createBreaker({ clock, tripping })
  for (const call of calls) {
    clock.advance(1000)
    const permit = breaker.tryAcquire()
    const outcome =
      call === 'x' ? ({ outcome: 'failure', failure: 'timeout' } as const) : ({ outcome: 'success' } as const)
    if (permit.admitted) breaker.settle(permit, outcome, undefined, call === 's' ? 500 : 10)
  }
  const { state, cause } = breaker.getStatus()
  breaker.dispose()
  return [state, causeInWords(cause)]
}

it.each<[string, Tripping, string, string]>([
  ['in a row', [windowOf(100, 0.5), { kind: 'consecutive', threshold: 2 }], '..xx', '2 failures in a row'],
  [
    'a window',
    [{ kind: 'consecutive', threshold: 9 }, windowOf(4, 0.5)],
    '..xx',
    '2 of 4 calls in the window failed',
  ],
  [
    'a count that a success lowers',
    [windowOf(100, 0.5), { kind: 'leaky', threshold: 3 }],
    'xx.xx',
    'the failure count reached 3 (a success takes 1 off)',
  ],
  [
    'the preset when busy',
    llmDefaults.tripping!,
    `${'.'.repeat(40)}${'x.xx'.repeat(5)}`,
    'the failure count reached 10 (a success takes 1 off)',
  ],
  ['the preset when quiet', llmDefaults.tripping!, '.xxxx', '4 of 5 calls in the window failed'],
])('tells the rule that opened it, not another one: %s', (_name, tripping, calls, words) => {
  expect(toldBy(tripping, calls)).toEqual(['open', `${words}, the last of kind timeout`])
})

it('calls slow answers slow, even if every one was', () => {
  expect(toldBy([slow, { kind: 'consecutive', threshold: 5 }], 'ss')).toEqual([
    'open',
    '2 of 2 calls in the window were slow',
  ])
})
