import { setImmediate as settled } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { withCircuitBreaker, withFallback, withRetry } from '../../src/core/decorators.ts'
import type { CallHooks, CircuitChangedReport, Provider } from '../../src/core/decorators.ts'
import { CircuitOpenError, FallbackExhaustedError } from '../../src/core/errors.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const down = () => Object.assign(new Error('Service Unavailable'), { status: 503 })
const wrong = () => Object.assign(new Error('temperature must be a number'), { status: 400 })

/** A provider that does what its script says, and remembers what it was asked. */
class Scripted implements Provider<string, string, string> {
  readonly name: string
  readonly seen: { readonly request: string; readonly hooks: CallHooks | undefined }[] = []
  fault: (() => unknown) | undefined

  constructor(name: string) {
    this.name = name
  }

  complete(request: string, hooks?: CallHooks): Promise<string> {
    this.seen.push({ request, hooks })
    return this.fault === undefined
      ? Promise.resolve(`${this.name}: ${request}`)
      : Promise.reject(this.fault())
  }

  async *stream(request: string, hooks?: CallHooks): AsyncGenerator<string> {
    this.seen.push({ request, hooks })
    if (this.fault !== undefined) throw this.fault()
    yield `${this.name}: `
    yield request
  }
}

async function all(parts: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const part of parts) text += part
  return text
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    return expect.unreachable(`answered ${String(await promise)}`)
  } catch (error) {
    return error
  }
}

function pair(clock = new VirtualClock()) {
  const a = new Scripted('a')
  const b = new Scripted('b')
  const changes: [string, string][] = []
  const provider = withFallback(
    withCircuitBreaker(withRetry(a, { maxRetries: 1, clock, baseMs: 10, random: () => 0 }), {
      failureThreshold: 2,
      cooldownMs: 1000,
      clock,
      onStateChange: (state, reason) => void changes.push([state, reason]),
    }),
    withCircuitBreaker(b, { clock }),
  )
  /** Plays one call to its end, back-offs included. */
  const play = async <T>(promise: Promise<T>): Promise<T> => {
    promise.catch(() => {})
    for (let i = 0; i < 20; i++) {
      await settled()
      if (clock.nextAt === clock.now()) clock.set(clock.now())
    }
    return promise
  }
  return { a, b, clock, provider, changes, play }
}

describe('withFallback(withCircuitBreaker(withRetry(a)), withCircuitBreaker(b))', () => {
  it('answers from the first one, retries it, falls back, and stops asking it once it is open', async () => {
    const { a, b, provider, play } = pair()
    expect(provider.name).toBe('a')
    expect(await play(provider.complete('hello'))).toBe('a: hello')
    expect([a.seen.length, b.seen.length]).toEqual([1, 0])
    a.fault = down
    expect(await play(provider.complete('x'))).toBe('b: x')
    expect([a.seen.length, b.seen.length]).toEqual([3, 1])
    expect(await play(provider.complete('x'))).toBe('b: x')
    expect([a.seen.length, b.seen.length]).toEqual([5, 2])
    // open: nothing is sent, and the refusal is not retried
    expect(await play(provider.complete('x'))).toBe('b: x')
    expect([a.seen.length, b.seen.length]).toEqual([5, 3])
  })

  it('goes the whole walk: open, half-open, two successes, closed', async () => {
    const { a, clock, provider, changes, play } = pair()
    a.fault = down
    await play(provider.complete('x'))
    await play(provider.complete('x'))
    expect(changes).toEqual([['open', '2 failures in a row, the last of kind server_error']])
    a.fault = undefined
    clock.advance(999)
    expect(await play(provider.complete('x'))).toBe('b: x')
    clock.advance(1)
    expect(await play(provider.complete('x'))).toBe('a: x')
    expect(changes.map(([state]) => state)).toEqual(['open', 'half-open'])
    expect(await play(provider.complete('x'))).toBe('a: x')
    expect(changes.map(([state]) => state)).toEqual(['open', 'half-open', 'closed'])
    for (const [, reason] of changes) expect(reason).not.toBe('')
  })

  it('the request that is wrong stops at once and counts against nobody', async () => {
    const { a, b, provider, changes, play } = pair()
    const error = wrong()
    a.fault = () => error
    for (let i = 0; i < 5; i++) expect(await failureOf(play(provider.complete('x')))).toBe(error)
    expect([a.seen.length, b.seen.length]).toEqual([5, 0])
    expect(changes).toEqual([])
  })

  it('tells the story of both when both fail', async () => {
    const { a, b, provider, play } = pair()
    a.fault = down
    b.fault = down
    const error = (await failureOf(play(provider.complete('x')))) as FallbackExhaustedError
    expect(error).toBeInstanceOf(FallbackExhaustedError)
    expect(error.attempts.map(({ failure }) => failure)).toEqual(['server_error', 'server_error'])
  })

  it('streams alike: falls back before the first part, and trips the same breaker', async () => {
    const { a, b, provider, changes, play } = pair()
    expect(await play(all(provider.stream!('hi')))).toBe('a: hi')
    a.fault = down
    expect(await play(all(provider.stream!('hi')))).toBe('b: hi')
    // one breaker for both ways
    expect(await play(provider.complete('hi'))).toBe('b: hi')
    expect(changes.map(([state]) => state)).toEqual(['open'])
    const { length } = a.seen
    expect(await play(all(provider.stream!('hi')))).toBe('b: hi')
    expect([a.seen.length, b.seen.length]).toEqual([length, 3])
  })
})

describe('names and shapes', () => {
  it('names pass through every decorator', () => {
    const a = new Scripted('openai')
    expect(withRetry(a).name).toBe('openai')
    expect(withCircuitBreaker(a).name).toBe('openai')
    expect(withFallback(a, new Scripted('other')).name).toBe('openai')
    expect(withFallback(withCircuitBreaker(withRetry(a)), a).name).toBe('openai')
  })

  it('a plain async function has its own name and no stream', async () => {
    async function askNicely(request: string): Promise<string> {
      return `yes, ${request}`
    }
    const provider = withCircuitBreaker(askNicely)
    expect(provider.name).toBe('askNicely')
    expect(provider.stream).toBeUndefined()
    expect(await provider.complete('please')).toBe('yes, please')
    expect(withCircuitBreaker(async () => 1).name).toBe('anonymous')
  })

  it('plain functions compose like providers', async () => {
    const clock = new VirtualClock()
    let calls = 0
    const flaky = async (): Promise<string> => {
      calls++
      throw down()
    }
    const steady = async (request: string) => `steady ${request}`
    const ask = withFallback(withCircuitBreaker(flaky, { failureThreshold: 1, clock }), steady)
    expect(await ask.complete('x')).toBe('steady x')
    expect(await ask.complete('x')).toBe('steady x')
    expect(calls).toBe(1)
    expect(ask.stream).toBeUndefined()
  })

  it('a chain streams only where all of its providers do', () => {
    const a = new Scripted('a')
    expect(withFallback(a, a).stream).toBeTypeOf('function')
    expect(withFallback(a, async () => 'x').stream).toBeUndefined()
  })

  it('a method keeps its provider', async () => {
    class Client {
      readonly name = 'client'
      readonly #key = 'k'
      async complete(request: string) {
        return `${this.#key}${request}`
      }
    }
    expect(await withRetry(withCircuitBreaker(new Client())).complete('x')).toBe('kx')
  })
})

describe('hooks of a call', () => {
  interface OwnHooks extends CallHooks {
    readonly traceparent: string
  }

  it('are handed on inward, what they carry untouched', async () => {
    const { a, provider, play } = pair()
    const hooks: OwnHooks = { traceparent: '00-abc', ids: { run: 'r1' }, onReport: () => {} }
    await play(provider.complete('x', hooks))
    expect(a.seen[0]!.hooks).toMatchObject({
      traceparent: '00-abc',
      ids: { run: 'r1' },
      onReport: hooks.onReport,
    })
    expect(a.seen[0]!.hooks!.signal).toBeInstanceOf(AbortSignal)
    await play(all(provider.stream!('x', hooks)))
    expect(a.seen[1]!.hooks).toMatchObject({ traceparent: '00-abc', ids: { run: 'r1' } })
  })

  it('the signal of the caller reaches the innermost and ends the call with its own reason', async () => {
    const controller = new AbortController()
    let inner: AbortSignal | undefined
    const hanging = (_request: string, hooks?: CallHooks) => {
      inner = hooks?.signal
      return new Promise<string>(() => {})
    }
    const provider = withFallback(withCircuitBreaker(withRetry(hanging)), async () => 'never')
    const end = failureOf(provider.complete('x', { signal: controller.signal }))
    await settled()
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await end).toBe(reason)
    expect(inner!.aborted).toBe(true)
    expect(inner!.reason).toBe(reason)
  })

  it('each hears of the changes that its own call caused, with its own ids', async () => {
    const { a, clock, provider, play } = pair()
    const heard: Record<string, (CircuitChangedReport & Record<string, unknown>)[]> = {}
    const ask = (run: string) =>
      play(
        provider.complete('x', {
          ids: { run, agent: 'planner' },
          onReport: (report) => void (heard[run] ??= []).push(report),
        }),
      )
    a.fault = down
    await ask('first')
    await ask('second')
    expect(heard).toEqual({
      second: [
        {
          ...{ kind: 'circuit-changed', provider: 'a', from: 'closed', to: 'open' },
          ...{
            reason: '2 failures in a row, the last of kind server_error',
            run: 'second',
            agent: 'planner',
          },
        },
      ],
    })
    a.fault = undefined
    clock.advance(1000)
    await ask('third')
    await ask('fourth')
    expect(heard.third).toBeUndefined()
    expect(heard.fourth).toMatchObject([{ from: 'half-open', to: 'closed', run: 'fourth' }])
  })

  it('two calls at once are not mixed up, and an id cannot pass itself off as a fact', async () => {
    const clock = new VirtualClock()
    const ends: ((error: unknown) => void)[] = []
    const provider = withCircuitBreaker(
      () => new Promise<string>((_resolve, reject) => void ends.push(reject)),
      { failureThreshold: 2, clock },
    )
    const heard: unknown[] = []
    const ask = (run: string) =>
      failureOf(
        provider.complete('x', {
          ids: { run, to: 'heaven' },
          onReport: (report) => void heard.push([run, report.run, report.to]),
        }),
      )
    const both = [ask('one'), ask('two')]
    ends[1]!(down())
    await settled()
    ends[0]!(down())
    await Promise.all(both)
    expect(heard).toEqual([['one', 'one', 'open']])
  })

  it('a hook that throws hurts nobody', async () => {
    const { a, provider, changes, play } = pair()
    a.fault = down
    const hooks: CallHooks = {
      onReport: () => {
        throw new Error('broken hook')
      },
    }
    expect(await play(provider.complete('x', hooks))).toBe('b: x')
    expect(await play(provider.complete('x', hooks))).toBe('b: x')
    expect(changes.map(([state]) => state)).toEqual(['open'])
  })
})

describe('options under the names of decorators elsewhere', () => {
  async function failTimes(provider: Provider<string, string>, times: number): Promise<void> {
    for (let i = 0; i < times; i++) await failureOf(provider.complete('x'))
  }

  it('failureThreshold is 5, cooldownMs 30 s and halfOpenSuccessThreshold 2 by default', async () => {
    const clock = new VirtualClock()
    const a = new Scripted('a')
    const states: string[] = []
    const provider = withCircuitBreaker(a, { clock, onStateChange: (state) => void states.push(state) })
    a.fault = down
    await failTimes(provider, 4)
    expect(states).toEqual([])
    await failTimes(provider, 1)
    expect(states).toEqual(['open'])
    clock.advance(29_999)
    await failTimes(provider, 1)
    expect(a.seen).toHaveLength(5)
    a.fault = undefined
    clock.advance(1)
    await provider.complete('x')
    expect(states).toEqual(['open', 'half-open'])
    await provider.complete('x')
    expect(states).toEqual(['open', 'half-open', 'closed'])
  })

  it.each([1, 3])('halfOpenSuccessThreshold %i: so many probes, one at a time', async (n) => {
    const clock = new VirtualClock()
    const ends: (() => void)[] = []
    let broken = true
    const states: string[] = []
    const provider = withCircuitBreaker(
      async () => {
        if (broken) throw down()
        return new Promise<string>((resolve) => ends.push(() => resolve('ok')))
      },
      {
        ...{ failureThreshold: 1, cooldownMs: 100, halfOpenSuccessThreshold: n, clock },
        onStateChange: (state) => void states.push(state),
      },
    )
    await failTimes(provider, 1)
    clock.advance(100)
    broken = false
    for (let i = 0; i < n; i++) {
      const probe = provider.complete('x')
      expect(await failureOf(provider.complete('y'))).toMatchObject({ state: 'half-open' })
      expect(states.at(-1)).toBe('half-open')
      ends[i]!()
      expect(await probe).toBe('ok')
    }
    expect(states).toEqual(['open', 'half-open', 'closed'])
  })

  it('one failed probe is enough to open again: the verdict is early', async () => {
    const clock = new VirtualClock()
    const a = new Scripted('a')
    const states: string[] = []
    const provider = withCircuitBreaker(a, {
      ...{ failureThreshold: 1, cooldownMs: 100, halfOpenSuccessThreshold: 3, clock },
      onStateChange: (state) => void states.push(state),
    })
    a.fault = down
    await failTimes(provider, 1)
    clock.advance(100)
    await failTimes(provider, 1)
    expect(states).toEqual(['open', 'half-open', 'open'])
  })

  it('shouldCount decides what counts', async () => {
    const clock = new VirtualClock()
    const a = new Scripted('a')
    const asked: string[] = []
    const states: string[] = []
    const provider = withCircuitBreaker(a, {
      ...{ failureThreshold: 1, clock },
      shouldCount: (error, { failure }) => {
        asked.push(failure)
        return (error as Error).message !== 'Service Unavailable'
      },
      onStateChange: (state) => void states.push(state),
    })
    a.fault = down
    await failTimes(provider, 3)
    expect([asked, states]).toEqual([['server_error', 'server_error', 'server_error'], []])
    a.fault = () => Object.assign(new Error('Bad Gateway'), { status: 502 })
    await failTimes(provider, 1)
    expect(states).toEqual(['open'])
  })

  it('our own names work too; both at once are refused', async () => {
    const clock = new VirtualClock()
    const a = new Scripted('a')
    a.fault = down
    const provider = withCircuitBreaker(a, { threshold: 1, halfOpenProbes: 1, cooldownMs: 100, clock })
    await failTimes(provider, 1)
    expect(await failureOf(provider.complete('x'))).toBeInstanceOf(CircuitOpenError)
    clock.advance(100)
    a.fault = undefined
    await provider.complete('x')
    await provider.complete('x')
    const config = { code: 'ERR_CONFIG' }
    expect(() => withCircuitBreaker(a, { threshold: 1, failureThreshold: 1 })).toThrow(
      expect.objectContaining(config),
    )
    expect(() => withCircuitBreaker(a, { halfOpenProbes: 1, halfOpenSuccessThreshold: 1 })).toThrow(
      expect.objectContaining(config),
    )
  })

  it.each([
    { failureThreshold: 0 },
    { failureThreshold: Number.NaN },
    { failureThreshold: 1.5 },
    { halfOpenSuccessThreshold: 0 },
    { halfOpenSuccessThreshold: -1 },
    { cooldownMs: -1 },
  ])('refuses %o', (options) => {
    expect(() => withCircuitBreaker(new Scripted('a'), options)).toThrow(RangeError)
  })

  it('a halfOpenProbes of our own keeps the rules of our own', async () => {
    const clock = new VirtualClock()
    const a = new Scripted('a')
    const states: string[] = []
    const provider = withCircuitBreaker(a, {
      ...{ threshold: 1, cooldownMs: 100, halfOpenProbes: 2, halfOpenSuccessRatio: 0.5, clock },
      onStateChange: (state) => void states.push(state),
    })
    a.fault = down
    await failTimes(provider, 1)
    clock.advance(100)
    await failTimes(provider, 1)
    a.fault = undefined
    await provider.complete('x')
    expect(states).toEqual(['open', 'half-open', 'closed'])
  })
})

describe('a refusal', () => {
  it('carries the error that tripped the breaker, and when to come back as epoch ms', async () => {
    const clock = new VirtualClock(1_800_000_000_000)
    const a = new Scripted('a')
    const errors = [down(), down()]
    let turn = 0
    a.fault = () => errors[turn++]
    const provider = withCircuitBreaker(a, { failureThreshold: 2, cooldownMs: 5000, clock })
    await failureOf(provider.complete('x'))
    await failureOf(provider.complete('x'))
    clock.advance(2000)
    const refusal = (await failureOf(provider.complete('x'))) as CircuitOpenError
    expect(refusal).toBeInstanceOf(CircuitOpenError)
    expect(refusal.cause).toBe(errors[1])
    expect(refusal).toMatchObject({
      ...{ code: 'ERR_CIRCUIT_OPEN', state: 'open', target: 'a', retryAfterMs: 3000 },
      retryAfter: 1_800_000_005_000,
    })
    const streamed = (await failureOf(all(provider.stream!('x')))) as CircuitOpenError
    expect(streamed).toMatchObject({ code: 'ERR_CIRCUIT_OPEN', retryAfter: 1_800_000_005_000 })
    expect(streamed.cause).toBe(errors[1])
  })

  it('carries the error of the probe that failed, once a trial has', async () => {
    const clock = new VirtualClock()
    const a = new Scripted('a')
    const provider = withCircuitBreaker(a, { failureThreshold: 1, cooldownMs: 100, clock })
    a.fault = down
    await failureOf(provider.complete('x'))
    clock.advance(100)
    const probe = down()
    a.fault = () => probe
    await failureOf(provider.complete('x'))
    expect(await failureOf(provider.complete('x'))).toMatchObject({ cause: probe, retryAfter: 200 })
  })

  it('is passed on by the decorators around it: not retried, and its wait is kept', async () => {
    const clock = new VirtualClock()
    const a = new Scripted('a')
    a.fault = down
    const inner = withCircuitBreaker(a, { failureThreshold: 1, cooldownMs: 700, clock })
    const provider = withRetry(inner, { clock, baseMs: 400, random: () => 0.5 })
    const first = failureOf(provider.complete('x'))
    await settled()
    clock.advance(500)
    // the retry after 200 ms met the circuit that the first attempt had opened
    expect(await first).toMatchObject({ code: 'ERR_CIRCUIT_OPEN', retryAfterMs: 500 })
    expect(a.seen).toHaveLength(1)
    const chain = withFallback(inner, inner)
    const error = (await failureOf(chain.complete('x'))) as FallbackExhaustedError
    expect(error.attempts.map(({ failure }) => failure)).toEqual(['circuit_open', 'circuit_open'])
    expect(error.retryAfterMs).toBe(200)
  })

  it('of an outer breaker does not count against it', async () => {
    const clock = new VirtualClock()
    const a = new Scripted('a')
    a.fault = down
    const states: string[] = []
    const inner = withCircuitBreaker(a, { failureThreshold: 1, cooldownMs: 1000, clock })
    const outer = withCircuitBreaker(inner, {
      ...{ failureThreshold: 2, clock },
      onStateChange: (state) => void states.push(state),
    })
    for (let i = 0; i < 5; i++) await failureOf(outer.complete('x'))
    expect(states).toEqual([])
  })
})
