import { describe, expect, it } from 'vitest'
import { CircuitOpenError, withCircuitBreaker, withFallback, withRetry } from '../../src/index.ts'
import type { Provider, WithCircuitBreakerOptions } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { errorOf, fate, settle, unhandledIn } from '../support/fate.ts'
import { collected } from '../support/collected.ts'
import { status } from '../support/rig.ts'

type Told = readonly [state: string, reason: string]

function setUp(options: WithCircuitBreakerOptions = {}) {
  const clock = new VirtualClock(1_000_000)
  let healthy = false
  let asked = 0
  const told: Told[] = []
  const inner: Provider<string, string, string> = {
    name: 'anthropic',
    complete: () => {
      asked++
      return healthy ? Promise.resolve('answer') : Promise.reject(status(503))
    },
    async *stream() {
      asked++
      if (!healthy) throw status(503)
      yield 'part'
    },
  }
  const provider = withCircuitBreaker(inner, {
    clock,
    onStateChange: (state, reason) => void told.push([state, reason]),
    ...options,
  })
  return { clock, provider, told, asked: () => asked, heal: () => void (healthy = true) }
}

describe('withCircuitBreaker, as decorators elsewhere promise it', () => {
  it('five failures open it, the sixth call throws CircuitOpenError without asking, with cause and retryAfter', async () => {
    const { provider, clock, asked } = setUp()
    for (let i = 0; i < 5; i++) await errorOf(provider.complete('x'))
    const error = await errorOf(provider.complete('x'))
    expect(error).toBeInstanceOf(CircuitOpenError)
    expect(error).toMatchObject({
      code: 'ERR_CIRCUIT_OPEN',
      cause: { status: 503 },
      retryAfter: clock.wall() + 30_000,
    })
    expect(asked()).toBe(5)
  })

  it('the walk in words: open, half-open, and closed after two successes', async () => {
    const { provider, clock, told, heal } = setUp({ failureThreshold: 2 })
    for (let i = 0; i < 2; i++) await errorOf(provider.complete('x'))
    clock.advance(30_000)
    heal()
    await provider.complete('x')
    expect(told.map(([state]) => state)).toEqual(['open', 'half-open'])
    await provider.complete('x')
    expect(told.map(([state]) => state)).toEqual(['open', 'half-open', 'closed'])
    for (const [, reason] of told) expect(reason).toMatch(/\w+ \w+/)
  })

  it('in half-open one probe at a time: fifty at once are one request', async () => {
    const { provider, clock, asked } = setUp({ failureThreshold: 1 })
    await errorOf(provider.complete('x'))
    clock.advance(30_000)
    const calls = Array.from({ length: 50 }, () =>
      provider.complete('x').catch((error: { code?: string }) => error.code),
    )
    const found = await Promise.all(calls)
    expect(asked()).toBe(2)
    expect(found.filter((code) => code === 'ERR_CIRCUIT_OPEN')).toHaveLength(49)
  })

  it('a stream trips and probes the same breaker', async () => {
    const { provider, clock, told, heal } = setUp({ failureThreshold: 2 })
    for (let i = 0; i < 2; i++) await errorOf(provider.stream!('x')[Symbol.asyncIterator]().next())
    clock.advance(30_000)
    heal()
    for (let i = 0; i < 2; i++) for await (const part of provider.stream!('x')) expect(part).toBe('part')
    expect(told.map(([state]) => state)).toEqual(['open', 'half-open', 'closed'])
  })

  it('a retry loop inside is one visit: five of its failures open, not five attempts', async () => {
    const clock = new VirtualClock(1)
    let asked = 0
    const inner = async () => {
      asked++
      throw status(500)
    }
    const provider = withCircuitBreaker(withRetry(inner, { maxRetries: 2, clock, random: () => 0 }), {
      clock,
    })
    for (let i = 0; i < 6; i++) {
      const call = provider.complete('x').catch(() => {})
      for (let j = 0; j < 3; j++) {
        await settle()
        clock.advance(1)
      }
      await call
    }
    expect(asked).toBe(15)
  })
})

describe('hooks', () => {
  it('a throwing onReport does not keep the change from onStateChange', async () => {
    const { provider, told } = setUp({ failureThreshold: 1 })
    const onReport = () => {
      throw new Error('boom')
    }
    await errorOf(provider.complete('x', { onReport }))
    expect(told.map(([state]) => state)).toEqual(['open'])
  })

  it('an async onStateChange or onReport that rejects takes nobody down', async () => {
    const later = () => Promise.reject(new Error('later'))
    const unhandled = await unhandledIn(async () => {
      const { provider } = setUp({ failureThreshold: 1, onStateChange: later })
      await errorOf(provider.complete('x', { onReport: later }))
    })
    expect(unhandled).toEqual([])
  })

  it('what another’s call changes is not told to mine', async () => {
    const { provider } = setUp({ failureThreshold: 2 })
    const heard: unknown[] = []
    const onReport = (report: object) => void heard.push(report)
    await errorOf(provider.complete('mine', { onReport, ids: { run: 1 } }))
    await errorOf(provider.complete('yours'))
    expect(heard).toEqual([])
    const mine = setUp({ failureThreshold: 1 }).provider
    await errorOf(mine.complete('mine', { onReport, ids: { run: 1 } }))
    expect(heard).toEqual([
      {
        run: 1,
        kind: 'circuit-changed',
        provider: 'anthropic',
        from: 'closed',
        to: 'open',
        reason: expect.any(String),
      },
    ])
  })

  it('reach a breaker two decorators further in', async () => {
    const { provider } = setUp({ failureThreshold: 1 })
    const outer = withFallback(withRetry(provider, { maxRetries: 0 }), async () => 'backup')
    const heard: string[] = []
    const onReport = ({ to }: { to: string }) => void heard.push(to)
    expect(await outer.complete('x', { onReport })).toBe('backup')
    expect(heard).toEqual(['open'])
  })

  it('are let go of with the call: also of a stream that is never read, and of a call aborted before it began', async () => {
    const { provider } = setUp()
    const kept = await collected(() => {
      const unread = { onReport() {} }
      provider.stream?.('x', unread)
      const aborted = { onReport() {}, signal: AbortSignal.abort('no') }
      provider.complete('x', aborted).catch(() => {})
      const answered = { onReport() {} }
      provider.complete('x', answered).catch(() => {})
      // the last error is kept as the cause of the next refusal, and its stack keeps its call
      provider.complete('y').catch(() => {})
      return { unread, aborted, answered }
    })
    expect(kept).toEqual({ unread: false, aborted: false, answered: false })
  })
})

describe('a plain async function', () => {
  it('keeps its name, or is anonymous', () => {
    const named = async function search() {
      return 'x'
    }
    expect(withCircuitBreaker(named).name).toBe('search')
    expect(withCircuitBreaker(async () => 'x').name).toBe('anonymous')
    expect(withCircuitBreaker(named).stream).toBeUndefined()
  })

  it('that throws at once is a failure like any other', async () => {
    const broken = (() => {
      throw status(500)
    }) as () => Promise<string>
    const backup = withFallback(withCircuitBreaker(broken), async () => 'backup')
    expect(await fate(backup.complete('x'))).toEqual({ value: 'backup' })
  })
})
