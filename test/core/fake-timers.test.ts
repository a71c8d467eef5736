import { afterEach, expect, it, vi } from 'vitest'
import { createSwitchgear } from '../../src/core/switchgear.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('a cooldown and a time limit pass with the fake timers of a test runner', async () => {
  vi.useFakeTimers()
  let down = true
  const invoke = async () => {
    if (down) throw Object.assign(new Error('overloaded'), { status: 503 })
    return 'ok'
  }
  const circuitBreaker = {
    tripping: { kind: 'consecutive', threshold: 1 },
    cooldownMs: 30_000,
    cooldownBackoff: { multiplier: 1, maxMs: 30_000, jitter: 'none' },
  } as const
  const gear = createSwitchgear({ targets: [{ invoke, circuitBreaker, maxRetries: 0 }] })
  await expect(gear.call({})).rejects.toThrow('overloaded')
  vi.advanceTimersByTime(29_999)
  expect(gear.getCircuitState()).toBe('open')
  vi.advanceTimersByTime(1)
  expect(gear.getCircuitState()).toBe('half-open')
  down = false
  await expect(gear.call({})).resolves.toBe('ok')
  expect(gear.getCircuitState()).toBe('closed')

  const hanging = createSwitchgear({
    targets: [{ invoke: () => new Promise(() => {}), timeoutMs: 5_000, maxRetries: 0 }],
  })
  const ended = expect(hanging.call({})).rejects.toThrow('5000 ms')
  await vi.advanceTimersByTimeAsync(5_000)
  await ended
})
