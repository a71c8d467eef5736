import { describe, expect, it } from 'vitest'
import { createBreaker } from '../../src/core/create-breaker.ts'
import { withCircuitBreaker, withFallback, withRetry } from '../../src/core/decorators.ts'
import { createSwitchgear } from '../../src/core/switchgear.ts'

/** What somebody without types may give. */
const odd = (value: unknown) => value as never

const invoke = async () => 'ok'
const target = (more: object) => () => createSwitchgear({ targets: [{ invoke, ...more }] })

describe('what is given in place of', () => {
  it.each<[string, () => unknown, string]>([
    ['options: nothing', () => createBreaker(odd(null)), 'options is null; it must be an object.'],
    ['options: a flag', () => createBreaker(odd(true)), 'options is true; it must be an object.'],
    [
      'targets: an object',
      () => createSwitchgear(odd({ targets: { a: 1 } })),
      'targets is an object; it must be a list.',
    ],
    ['targets: nothing', () => createSwitchgear(odd({})), 'targets is undefined; it must be a list.'],
    ['targets: none', () => createSwitchgear({ targets: [] }), 'targets is empty. Give one target at least.'],
    [
      'a circuit breaker: a word',
      target({ circuitBreaker: 'yes' }),
      "targets[0].circuitBreaker is 'yes'. Give true, false or options.",
    ],
    [
      'a circuit breaker: nothing',
      target({ circuitBreaker: null }),
      'targets[0].circuitBreaker is null. Give true, false or options.',
    ],
    [
      'a provider: an object that cannot be asked',
      () => withCircuitBreaker(odd({ name: 'a' })),
      'provider has no complete(). Give a function, or an object with complete().',
    ],
    ['a provider: nothing', () => withRetry(odd(undefined)), 'provider is undefined; it must be an object.'],
    ['a provider: a word', () => withFallback(invoke, odd('b')), "provider is 'b'; it must be an object."],
    [
      'a provider: one whose stream is none',
      () => withFallback(odd({ complete: invoke, stream: 1 })),
      'provider.stream is 1; it must be a function.',
    ],
    [
      'a kind: ours with another separator',
      () => createBreaker({ kinds: { 'rate-limit': { immediateOpen: true } } }),
      "kinds.rate-limit is no kind of failure. Did you mean 'rate_limit'?",
    ],
    [
      'a kind: ours with a letter less',
      () => createBreaker({ kinds: { rate_limt: { threshold: 2 } } }),
      "Did you mean 'rate_limit'?",
    ],
  ])('%s', (_name, make, text) => {
    expect(make).toThrow(text)
    expect(make).toThrow(expect.objectContaining({ name: 'ConfigError' }))
  })

  it("a kind: one of the user's own classifier is taken", () => {
    expect(() => createBreaker({ kinds: { tool_refused: { threshold: 2 } } })).not.toThrow()
  })

  it('a signal: something that cannot be listened to ends the call, and no other', async () => {
    const gear = createSwitchgear({ targets: [{ invoke }] })
    await expect(gear.call({}, odd({ signal: 'x' }))).rejects.toThrow(
      'signal lacks addEventListener, removeEventListener.',
    )
    await expect(gear.call({}, odd({ signal: null }))).resolves.toBe('ok')
    expect(gear.stats().running).toBe(0)
  })

  it('a call: where all targets can only stream, it is refused before anybody is asked', async () => {
    const stream = async function* () {
      yield 'part'
    }
    const gear = createSwitchgear({ targets: [{ name: 'a', stream, circuitBreaker: { threshold: 1 } }] })
    await expect(gear.call({})).rejects.toThrow(
      'No target can answer in one piece. Give invoke to the targets, or use stream().',
    )
    expect([gear.getCircuitState(), gear.stats().calls.rejected]).toEqual(['closed', 1])
  })
})
