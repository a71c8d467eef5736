import { describe, expect, it } from 'vitest'
import { createBreaker } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { errorOf, fate, unhandledIn } from '../support/fate.ts'
import { answer, failing, never, rig, status } from '../support/rig.ts'
import type { Target } from '../support/rig.ts'

const target = (name: string, invoke: NonNullable<Target['invoke']>, more: Partial<Target> = {}): Target => ({
  name,
  invoke,
  maxRetries: 0,
  circuitBreaker: { threshold: 3, cooldownMs: 10_000 },
  ...more,
})
const down = failing(status(500))
/** A promise whose `then` is its owner's. */
const thenable = (value: unknown) =>
  // oxlint-disable-next-line unicorn/no-thenable -- the very thing under test
  Object.defineProperty(Promise.resolve(value), 'then', { value: boom('then') })

const boom = (what: string) => () => {
  throw new Error(what)
}

describe('a verdict of somebody else’s', () => {
  it.each(['failure', 'outcome', 'retry', 'fallback', 'alert', 'retryAfterMs'])(
    'whose %s throws when it is read hurts nobody',
    async (column) => {
      const verdict = {
        failure: 'server_error',
        outcome: 'failure',
        retry: 'no',
        fallback: 'next',
        alert: false,
      }
      const classify = () => Object.defineProperty(verdict, column, { get: boom(column) }) as never
      const { gear } = rig([target('a', down, { classify }), target('b', answer('b'))])
      let found: unknown
      const unhandled = await unhandledIn(async () => (found = await fate(gear.call('x'))))
      expect({ found, unhandled }).toEqual({ found: { value: 'b' }, unhandled: [] })
      expect(gear.getFailureBreakdown()).toEqual({ server_error: 1 })
    },
  )

  // README: a target may override the table with `classify`; what it leaves out, the table fills in
  it('that is half a verdict does not stop the call', async () => {
    const classify = () => ({ failure: 'server_error', outcome: 'failure' }) as never
    const { gear } = rig([target('a', down, { classify }), target('b', answer('b'))])
    expect(await fate(gear.call('x'))).toEqual({ value: 'b' })
  })

  it('is read once: what it says later changes nothing', async () => {
    let read = 0
    const classify = () =>
      ({
        get failure() {
          return `kind ${++read}`
        },
        outcome: 'failure',
      }) as never
    const { gear } = rig([target('a', down, { classify })])
    const heard: string[] = []
    gear.on('failure', ({ failure }) => heard.push(failure))
    await errorOf(gear.call('x'))
    expect(heard).toEqual(['kind 1'])
    expect(gear.getFailureBreakdown()).toEqual({ 'kind 1': 1 })
  })
})

describe('an answer', () => {
  it.each<[string, () => unknown]>([
    ['that cannot be looked at', () => new Proxy({}, { getPrototypeOf: boom('getPrototypeOf') })],
    ['that is a promise whose `then` throws', () => thenable('a')],
  ])('%s fails its target and no other', async (_what, invoke) => {
    const { gear } = rig([target('a', invoke as never), target('b', answer('b'))])
    expect(await fate(gear.call('x'))).toEqual({ value: 'b' })
    expect(gear.stats().running).toBe(0)
  })

  it.each<[string, () => unknown]>([
    [
      'that is a promise whose class cannot be read',
      () => Object.defineProperty(Promise.resolve(), 'constructor', { get: boom('constructor') }),
    ],
    [
      'whose parts are promises whose `then` throws',
      () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => thenable({ value: 'a' }),
        }),
      }),
    ],
  ])('in parts %s fails its target and no other', async (_what, stream) => {
    const b: Target = {
      name: 'b',
      async *stream() {
        yield await Promise.resolve('b')
      },
    }
    const { gear } = rig([{ name: 'a', stream: stream as never, maxRetries: 0 }, b])
    expect(await fate(gear.stream('x').next())).toEqual({ value: { done: false, value: 'b' } })
  })
})

describe('what runs behind a breaker', () => {
  it('may give a promise whose `then` throws: it gives its probe slot back', async () => {
    const clock = new VirtualClock(1_000_000)
    const breaker = createBreaker({ clock, cooldownMs: 1000 })
    breaker.open()
    clock.advance(1000)
    expect(await errorOf(breaker.execute(() => thenable('a')))).toMatchObject({ message: 'then' })
    expect(breaker.getStatus()).toMatchObject({ state: 'open', probes: { inFlight: 0 } })
  })
})

describe('a signal', () => {
  // "never leaks a permit"; the counter of running calls is what close() waits for
  it.each<[string, object]>([
    ['that cannot be listened to', { aborted: false }],
    [
      'that throws when it is listened to',
      { aborted: false, addEventListener: boom('add'), removeEventListener: boom('remove') },
    ],
  ])('%s ends its call and no other', async (_what, signal) => {
    const { gear } = rig([target('a', answer('ok'))])
    await errorOf(gear.call('x', { signal: signal as never }))
    expect(gear.stats().running).toBe(0)
    expect(await fate(gear.close())).toEqual({ value: undefined })
  })

  const odd = (more: object) => ({ aborted: false, addEventListener() {}, removeEventListener() {}, ...more })

  it('that throws when nobody listens any more costs no answer', async () => {
    const { gear } = rig([target('a', answer('ok'))])
    const signal = odd({ removeEventListener: boom('remove') }) as never
    expect(await fate(gear.call('x', { signal }))).toEqual({ value: 'ok' })
    expect(gear.stats().running).toBe(0)
  })

  it('whose state throws says nothing', async () => {
    const { gear } = rig([target('a', down), target('b', answer('b'))])
    const signal = Object.defineProperty(odd({}), 'aborted', { get: boom('aborted') })
    expect(await fate(gear.call('x', { signal: signal as never }))).toEqual({ value: 'b' })
  })

  it('whose reason throws ends its call all the same', async () => {
    let listener: { handleEvent(): void } | undefined
    const signal = odd({ addEventListener: (_: string, own: typeof listener) => (listener = own) })
    Object.defineProperty(signal, 'reason', { get: boom('reason') })
    const { gear } = rig([target('a', never)])
    const call = gear.call('x', { signal: signal as never })
    listener?.handleEvent()
    expect(await fate(call)).toEqual({ error: undefined })
    expect(gear.stats().running).toBe(0)
  })
})
