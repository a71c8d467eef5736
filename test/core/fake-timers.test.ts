import { mock } from 'node:test'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createBreaker } from '../../src/core/create-breaker.ts'
import { createSwitchgear } from '../../src/core/switchgear.ts'

afterEach(() => {
  vi.useRealTimers()
  mock.timers.reset()
})

const circuitBreaker = { threshold: 1, cooldownMs: 30_000 }
const OLD_DEFAULT = [
  'setTimeout',
  'clearTimeout',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'Date',
] as const

describe('fake timers of a test runner', () => {
  it('let a cooldown and a time limit pass', async () => {
    vi.useFakeTimers()
    let down = true
    const invoke = async () => {
      if (down) throw Object.assign(new Error('overloaded'), { status: 503 })
      return 'ok'
    }
    const gear = createSwitchgear({ targets: [{ invoke, circuitBreaker, maxRetries: 0 }] })
    await expect(gear.call({})).rejects.toThrow('overloaded')
    vi.advanceTimersByTime(29_999)
    expect(gear.getCircuitState()).toBe('open')
    vi.advanceTimersByTime(1)
    expect(gear.getCircuitState()).toBe('half-open')
    down = false
    await expect(gear.call({})).resolves.toBe('ok')
    expect(gear.getCircuitState()).toBe('closed')

    const hangs = { invoke: () => new Promise(() => {}), timeoutMs: 5_000, maxRetries: 0 }
    const ended = expect(createSwitchgear({ targets: [hangs] }).call({})).rejects.toThrow('5000 ms')
    await vi.advanceTimersByTimeAsync(5_000)
    await ended
  })

  it.each<[string, () => void, (ms: number) => void]>([
    ['all of vitest', () => vi.useFakeTimers(), (ms) => vi.advanceTimersByTime(ms)],
    [
      'those of vitest without performance',
      () => vi.useFakeTimers({ toFake: [...OLD_DEFAULT] }),
      (ms) => vi.advanceTimersByTime(ms),
    ],
    [
      'those of node:test',
      () => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000 }),
      (ms) => mock.timers.tick(ms),
    ],
  ])('%s are gone by', async (_name, install, advance) => {
    install()
    const breaker = createBreaker(circuitBreaker)
    await breaker.execute(() => Promise.reject(new Error('down'))).catch(() => {})
    expect(breaker.state).toBe('open')
    advance(29_999)
    expect(breaker.state).toBe('open')
    advance(1)
    expect(breaker.state).toBe('half-open')
  })

  it('let a retry come without an endless row of timers', async () => {
    vi.useFakeTimers({ toFake: [...OLD_DEFAULT] })
    let asked = 0
    const invoke = async () => {
      if (++asked < 3) throw Object.assign(new Error('overloaded'), { status: 503 })
      return 'ok'
    }
    const answer = createSwitchgear({ targets: [{ invoke }] }).call({})
    await vi.runOnlyPendingTimersAsync()
    await vi.runOnlyPendingTimersAsync()
    await expect(answer).resolves.toBe('ok')
  })
})
