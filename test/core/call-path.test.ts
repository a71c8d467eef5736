import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createBreaker } from '../../src/index.ts'
import type { CallReport } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { errorOf, fate, settle, unhandledIn } from '../support/fate.ts'
import type { Fate } from '../support/fate.ts'
import { HOSTILE, answer, failing, never, rig, status } from '../support/rig.ts'
import type { Target } from '../support/rig.ts'

const once = { threshold: 1, cooldownMs: 1000 }
const down = (name: string, more: Partial<Target> = {}): Target => ({
  name,
  invoke: failing(status(500)),
  maxRetries: 0,
  circuitBreaker: once,
  ...more,
})

/** Not by `toBe`: an assertion would look into what must not be looked into. */
const isThrown = (found: Fate<unknown>, thrown: unknown) =>
  found !== 'pending' && 'error' in found && found.error === thrown

describe('what a target may do', () => {
  it.each(HOSTILE)(
    'it rejects with %s: a failure that counts, and the same thing comes out',
    async (_name, thrown) => {
      const unhandled = await unhandledIn(async () => {
        const { gear } = rig([
          {
            name: 'a',
            invoke: failing(thrown),
            maxRetries: 0,
            circuitBreaker: once,
            nonRetryableStatus: [400],
          },
        ])
        expect(isThrown(await fate(gear.call('x')), thrown)).toBe(true)
        expect(gear.getCircuitState()).toBe('open')
        expect(await errorOf(gear.call('x'))).toMatchObject({ code: 'ERR_CIRCUIT_OPEN' })
      })
      expect(unhandled).toHaveLength(0)
    },
  )

  it.each(HOSTILE)('work behind a bare breaker rejects with %s: the same', async (_name, thrown) => {
    const breaker = createBreaker({ threshold: 1, clock: new VirtualClock(1) })
    expect(isThrown(await fate(breaker.execute(failing(thrown))), thrown)).toBe(true)
    expect(breaker.state).toBe('open')
  })

  it('it answers with a promise of a class of its own whose `then` throws: a failure, and close() still ends', async () => {
    class Broken extends Promise<string> {
      // oxlint-disable-next-line unicorn/no-thenable -- the very thing under test
      override then(): never {
        throw status(500)
      }
    }
    const broken = () => new Broken(() => {})
    const unhandled = await unhandledIn(async () => {
      for (const targets of [
        [down('a', { invoke: broken }), { name: 'b', invoke: answer('from b') }],
        [down('a'), down('b', { invoke: broken }), { name: 'c', invoke: answer('from b') }],
      ]) {
        const { gear, clock } = rig(targets)
        expect(await fate(gear.call('x'))).toEqual({ value: 'from b' })
        expect(await fate(gear.close())).toEqual({ value: undefined })
        expect(clock.pending).toBe(0)
      }
      const breaker = createBreaker({ threshold: 1, clock: new VirtualClock(1) })
      expect(await fate(breaker.execute(broken))).not.toBe('pending')
      expect(breaker.state).toBe('open')
    })
    expect(unhandled).toEqual([])
  })

  it('nonRetryableStatus that is no list is refused or ignored: the call never hangs', async () => {
    const unhandled = await unhandledIn(async () => {
      let call: Promise<string>
      try {
        const { gear } = rig([
          down('a', { nonRetryableStatus: 500 as never }),
          { name: 'b', invoke: answer('from b') },
        ])
        call = gear.call('x')
      } catch {
        return
      }
      expect(await fate(call)).toEqual({ value: 'from b' })
    })
    expect(unhandled).toEqual([])
  })
})

describe('the caller', () => {
  it('work behind a bare breaker that aborts its own caller: the reason, neutral, the slot is free', async () => {
    const clock = new VirtualClock(1)
    const breaker = createBreaker({ clock, cooldownMs: 1000 })
    breaker.open()
    clock.advance(1000)
    const controller = new AbortController()
    const work = () => {
      controller.abort('stop')
      return never()
    }
    expect(await fate(breaker.execute(work, { signal: controller.signal }))).toEqual({ error: 'stop' })
    expect(breaker.getStatus().probes.inFlight).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  it.each([
    ['a DOMException', new DOMException('gone', 'AbortError')],
    ['a TimeoutError', new DOMException('late', 'TimeoutError')],
    ['an error with a status', status(500)],
    ['a string', 'enough'],
    ['null', null],
    ['0', 0],
  ])(
    'abort with %s in every phase: that very reason, neutral, nothing left behind',
    async (_name, reason) => {
      const phases: Record<string, () => ReturnType<typeof rig>> = {
        attempt: () => rig([down('a', { invoke: never })]),
        backOff: () => rig([down('a', { maxRetries: 1 })], { random: () => 0.5 }),
        second: () => rig([down('a', { circuitBreaker: false }), down('b', { invoke: never })]),
        waiting: () => {
          const made = rig([down('a')], { whenAllOpen: { waitMs: 5000 } })
          made.gear.openCircuit()
          return made
        },
      }
      for (const make of Object.values(phases)) {
        const { gear, clock } = make()
        const controller = new AbortController()
        const reports: CallReport[] = []
        const call = gear.call('x', { signal: controller.signal, report: (told) => reports.push(told) })
        call.catch(() => {})
        await settle()
        controller.abort(reason)
        expect(await fate(call)).toEqual({ error: reason })
        expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
        expect(reports).toHaveLength(1)
        for (const { index } of gear.getCircuitStates()) {
          expect(gear.getStatus({ index })?.failureCount ?? 0).toBe(0)
        }
        expect(gear.supervisor.getSnapshot().context.chains).toBe(0)
        expect(await fate(gear.close())).toEqual({ value: undefined })
        expect(clock.pending).toBe(0)
      }
    },
  )

  it('a call that a signal forbids from the start is reported too, once, with nothing sent', async () => {
    const reports: CallReport[] = []
    const { gear } = rig([down('a')])
    const report = (told: CallReport) => void reports.push(told)
    await errorOf(gear.call('x', { signal: AbortSignal.abort('no'), report }))
    expect(reports).toMatchObject([{ attempts: 0, fallbackIndex: -1, ok: false }])
  })

  it.each([NaN, -1, '5'])(
    'a deadline of the call that is no time is refused, not slept through: %s',
    async (ms) => {
      const { gear, clock } = rig([down('a', { invoke: never })])
      expect(await fate(gear.call('x', { deadlineMs: ms as number }))).toMatchObject({
        error: expect.any(RangeError),
      })
      expect(await fate(gear.close())).toEqual({ value: undefined })
      expect(clock.pending).toBe(0)
    },
  )
})

describe('code that answers later than it should', () => {
  const later = () => Promise.reject(new Error('later'))
  it.each([
    ['fallbackOn', {}, { fallbackOn: later }],
    ['detectSoftFailure', { invoke: answer('x') }, { detectSoftFailure: later }],
    ['isEmpty', { invoke: answer('x'), isEmpty: later }, {}],
    ['classify', { classify: later }, {}],
    ['shouldCount', { circuitBreaker: { threshold: 1, shouldCount: later } }, {}],
  ])('an async %s that rejects is logged and takes nobody down', async (_name, target, options) => {
    const logged: string[] = []
    const logger = { info() {}, warn() {}, error: (_: object, text: string) => void logged.push(text) }
    const unhandled = await unhandledIn(async () => {
      const { gear } = rig([down('a', target as Partial<Target>), { name: 'b', invoke: answer('from b') }], {
        logger,
        ...(options as object),
      })
      expect(await fate(gear.call('x'))).not.toBe('pending')
    })
    expect(unhandled).toEqual([])
    expect(logged.length).toBeGreaterThan(0)
  })

  it('an async classify that answers decides nothing: the table does', async () => {
    const { gear } = rig([
      down('a', { classify: (async () => undefined) as never }),
      { name: 'b', invoke: answer('from b') },
    ])
    expect(await fate(gear.call('x'))).toEqual({ value: 'from b' })
    expect(gear.getFailureBreakdown()).toEqual({ server_error: 1 })
  })

  it.each([
    [
      'shouldCount',
      {
        circuitBreaker: {
          threshold: 1,
          shouldCount: () => {
            throw new Error('boom')
          },
        },
      },
    ],
    [
      'classify',
      {
        classify: () => {
          throw new Error('boom')
        },
      },
    ],
    [
      'isEmpty',
      {
        invoke: answer('x'),
        isEmpty: () => {
          throw new Error('boom')
        },
      },
    ],
  ])('what %s throws is logged', async (name, target) => {
    const logged: string[] = []
    const logger = { info() {}, warn() {}, error: (_: object, text: string) => void logged.push(text) }
    const { gear } = rig([down('a', target as Partial<Target>)], { logger })
    await fate(gear.call('x'))
    // never its text, which may be that of the answer
    expect(logged).toEqual([`${name} threw: Error`])
  })
})

describe('retries', () => {
  it('a provider’s date is honoured, and one longer than the longest wait in place means the next target', async () => {
    for (const [seconds, retried] of [
      [9, true],
      [11, false],
    ] as const) {
      let asked = 0
      const { gear, clock } = rig([
        down('a', {
          maxRetries: 1,
          invoke: () =>
            asked++ === 0
              ? Promise.reject(status(429, { headers: { 'retry-after': String(seconds) } }))
              : Promise.resolve('from a'),
        }),
        { name: 'b', invoke: answer('from b') },
      ])
      const call = gear.call('x')
      await settle()
      clock.advance(seconds * 1000 - 1)
      expect(await fate(call)).toEqual(retried ? 'pending' : { value: 'from b' })
      clock.advance(1)
      expect(await fate(call)).toEqual({ value: retried ? 'from a' : 'from b' })
    }
  })

  it('the retry budget: so many calls put in whole tokens, without a rounding error', async () => {
    for (const [perCall, calls] of [
      [0.1, 10],
      [0.2, 5],
      [0.05, 20],
    ] as const) {
      let asked = 0
      const { gear, clock } = rig(
        [
          {
            invoke: (request) => {
              if (request === 'fine') return Promise.resolve('ok')
              asked++
              return Promise.reject(status(500))
            },
            maxRetries: 1,
          },
        ],
        { retryBudget: { capacity: 1, perCall } },
      )
      const fail = async () => {
        const call = gear.call('bad').catch(() => {})
        await settle()
        clock.advance(1000)
        await call
      }
      await fail()
      expect(asked).toBe(2)
      for (let i = 1; i < calls; i++) await gear.call('fine')
      await fail()
      expect(asked, `perCall ${perCall}`).toBe(4)
    }
  })
})
