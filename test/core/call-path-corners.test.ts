import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  AttemptTimeoutError,
  CircuitOpenError,
  DeadlineExceededError,
  FallbackExhaustedError,
  createBreaker,
  createSwitchgear,
} from '../../src/index.ts'
import type {
  AttemptContext,
  CallReport,
  SwitchgearEvent,
  SwitchgearOptions,
  TargetOptions,
  Transition,
} from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { classify } from '../../src/classify/classify.ts'
import { verdictOf } from '../../src/classify/failure-table.ts'

type Target = TargetOptions<string, string, string>
type Options = Partial<SwitchgearOptions<string, string, string>>

const answer = (text: string) => () => Promise.resolve(text)
const status = (code: number, text = 'no') => Object.assign(new Error(text), { status: code })
const failing = (error: unknown) => () => Promise.reject(error)
const never = () => new Promise<string>(() => {})

function setUp(targets: Target[], options: Options = {}) {
  const clock = new VirtualClock(1_000_000)
  const gear = createSwitchgear<string, string, string>({ targets, clock, random: () => 0, ...options })
  return { clock, gear }
}

/** What a promise has come to once everything that can run has run; never waits for a clock. */
async function fate<T>(promise: PromiseLike<T>): Promise<{ value: T } | { error: unknown } | 'pending'> {
  let found: { value: T } | { error: unknown } | 'pending' = 'pending'
  promise.then(
    (value) => (found = { value }),
    (error: unknown) => (found = { error }),
  )
  for (let i = 0; i < 5; i++) await turn()
  return found
}

/** A call that fails while nobody looks yet. */
function inBackground<T>(call: Promise<T>): Promise<T> {
  call.catch(() => {})
  return call
}

const errorOf = async (promise: PromiseLike<unknown>): Promise<unknown> => {
  const found = await fate(promise)
  if (found === 'pending') throw new Error('the call is still pending')
  if ('value' in found) throw new Error(`the call was answered: ${String(found.value)}`)
  return found.error
}

/** Collects unhandled rejections while `run` runs, in place of the test runner's own watch. */
async function unhandledIn(run: () => Promise<unknown>): Promise<unknown[]> {
  const watchers = process.listeners('unhandledRejection')
  const seen: unknown[] = []
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (error) => seen.push(error))
  try {
    await run()
    for (let i = 0; i < 5; i++) await turn()
  } finally {
    process.removeAllListeners('unhandledRejection')
    for (const watcher of watchers) process.on('unhandledRejection', watcher)
  }
  return seen
}

describe('what a target may do', () => {
  it('a synchronous throw is a failure like any other and falls over', async () => {
    const { gear } = setUp([
      {
        name: 'a',
        invoke: () => {
          throw status(500)
        },
        circuitBreaker: { threshold: 1 },
        maxRetries: 0,
      },
      { name: 'b', invoke: answer('from b') },
    ])
    expect(await gear.call('x')).toBe('from b')
    expect(gear.getCircuitState()).toBe('open')
  })

  it.each([['a string'], [undefined], [null], [0], [Symbol('s')]])(
    'a rejection with %s is one failure, reaches the caller as it is, and leaves no permit behind',
    async (thrown) => {
      const { gear } = setUp([
        { name: 'a', invoke: failing(thrown), circuitBreaker: { threshold: 2 }, maxRetries: 0 },
      ])
      expect(await fate(gear.call('x'))).toEqual({ error: thrown })
      expect(gear.getFailureBreakdown()).toEqual({ unknown: 1 })
      expect(await fate(gear.call('x'))).toEqual({ error: thrown })
      expect(gear.getCircuitState()).toBe('open')
      expect(await fate(gear.close())).toEqual({ value: undefined })
    },
  )

  it('a thenable that is no promise is waited for', async () => {
    const thenable: PromiseLike<string> = {
      // oxlint-disable-next-line unicorn/no-thenable
      then: (resolve) => Promise.resolve('late').then(resolve),
    }
    const { gear } = setUp([{ name: 'a', invoke: () => thenable }])
    expect(await gear.call('x')).toBe('late')
  })

  it('a thenable whose `then` throws is a failure', async () => {
    const thenable: PromiseLike<string> = {
      // oxlint-disable-next-line unicorn/no-thenable
      then: () => {
        throw new Error('no then')
      },
    }
    const { gear } = setUp([
      { name: 'a', invoke: () => thenable, maxRetries: 0 },
      { name: 'b', invoke: answer('from b') },
    ])
    expect(await gear.call('x')).toBe('from b')
  })

  it.each([[undefined], [null], ['']])('%j is no answer: empty_response', async (nothing) => {
    const { gear } = setUp([
      { name: 'a', invoke: () => nothing as string, circuitBreaker: true, maxRetries: 0 },
      { name: 'b', invoke: answer('from b') },
    ])
    expect(await gear.call('x')).toBe('from b')
    expect(gear.getFailureBreakdown()).toEqual({ empty_response: 1 })
  })

  it('isEmpty replaces the standard: it decides alone', async () => {
    const { gear } = setUp([
      { name: 'a', invoke: answer(''), isEmpty: (text) => text === 'nothing', circuitBreaker: true },
    ])
    expect(await gear.call('x')).toBe('')
    expect(gear.getFailureBreakdown()).toEqual({})
  })

  it('detectSoftFailure turns an answer into a soft_failure that counts, is not retried, and goes on', async () => {
    let asked = 0
    const at: unknown[] = []
    const { gear } = setUp(
      [
        {
          name: 'a',
          model: 'm',
          invoke: () => {
            asked++
            return 'sorry'
          },
          circuitBreaker: true,
        },
        { name: 'b', invoke: answer('fine') },
      ],
      {
        detectSoftFailure: (text, { target, model }) => {
          at.push([target, model])
          return text === 'sorry'
        },
      },
    )
    expect(await gear.call('x')).toBe('fine')
    expect(asked).toBe(1)
    expect(at).toEqual([
      ['a', 'm'],
      ['b', undefined],
    ])
    expect(gear.getFailureBreakdown()).toEqual({ soft_failure: 1 })
  })

  it('on the surface tool a business error is an answer for the breaker and ends the call with the error', async () => {
    const error = { isError: true, content: [{ type: 'text', text: 'no such record' }] }
    let next = 0
    const { gear } = setUp([
      { name: 'tool', invoke: failing(error), surface: 'tool', circuitBreaker: { threshold: 1 } },
      {
        name: 'b',
        invoke: () => {
          next++
          return 'b'
        },
      },
    ])
    expect(await errorOf(gear.call('x'))).toBe(error)
    expect(next).toBe(0)
    expect(gear.getCircuitState()).toBe('closed')
    expect(gear.getFailureBreakdown()).toEqual({})
  })
})

describe('limits of an attempt', () => {
  it('a target that never settles ends at timeoutMs exactly, as timeout, with its signal fired', async () => {
    let signal: AbortSignal | undefined
    const { gear, clock } = setUp([
      {
        name: 'a',
        invoke: (_request, context) => {
          signal = context.signal
          return never()
        },
        timeoutMs: 500,
        maxRetries: 0,
        circuitBreaker: true,
      },
    ])
    const call = gear.call('x')
    clock.advance(499)
    expect(await fate(call)).toBe('pending')
    expect(signal?.aborted).toBe(false)
    clock.advance(1)
    expect(await errorOf(call)).toBeInstanceOf(AttemptTimeoutError)
    expect(signal?.reason).toBeInstanceOf(AttemptTimeoutError)
    expect(gear.getFailureBreakdown()).toEqual({ timeout: 1 })
  })

  it('a loser that rejects or answers after its timeout is ignored: one failure, no unhandled rejection', async () => {
    const unhandled = await unhandledIn(async () => {
      for (const late of ['reject', 'resolve'] as const) {
        const gate = Promise.withResolvers<string>()
        const { gear, clock } = setUp([
          { name: 'a', invoke: () => gate.promise, timeoutMs: 100, maxRetries: 0, circuitBreaker: true },
          { name: 'b', invoke: answer('from b') },
        ])
        const call = gear.call('x')
        clock.advance(100)
        expect(await call).toBe('from b')
        if (late === 'reject') gate.reject(new Error('late'))
        else gate.resolve('late')
        await turn()
        expect(gear.getFailureBreakdown()).toEqual({ timeout: 1 })
        expect(await fate(gear.close())).toEqual({ value: undefined })
      }
    })
    expect(unhandled).toEqual([])
  })

  it('a timeout is not retried while an untried target is left, but is where none is', async () => {
    const asked: string[] = []
    const hanging = (name: string): Target => ({
      name,
      invoke: () => {
        asked.push(name)
        return never()
      },
      timeoutMs: 100,
      maxRetries: 1,
    })
    const { gear, clock } = setUp([hanging('a'), hanging('b')])
    const call = inBackground(gear.call('x'))
    for (let i = 0; i < 4; i++) {
      clock.advance(100)
      await turn()
    }
    expect(await errorOf(call)).toBeInstanceOf(FallbackExhaustedError)
    expect(asked).toEqual(['a', 'b', 'b'])
  })
})

describe('the caller', () => {
  const custom = { my: 'reason' }
  it.each([
    ['a DOMException', new DOMException('stop', 'AbortError')],
    ['a string', 'enough'],
    ['null', null],
    ['an object of his own', custom],
  ])('an abort with %s rejects with that very reason and is neutral', async (_name, reason) => {
    let seen: unknown
    const { gear } = setUp([
      {
        name: 'a',
        invoke: (_request, { signal }) => {
          signal.addEventListener('abort', () => (seen = signal.reason))
          return never()
        },
        circuitBreaker: { threshold: 1 },
      },
    ])
    const controller = new AbortController()
    const call = gear.call('x', { signal: controller.signal })
    controller.abort(reason)
    expect(await errorOf(call)).toBe(reason)
    expect(seen).toBe(reason)
    expect(gear.getCircuitState()).toBe('closed')
    expect(gear.getFailureBreakdown()).toEqual({})
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  it('a target that answers the abort with an error of its own is still neutral', async () => {
    const { gear } = setUp([
      {
        name: 'a',
        invoke: (_request, { signal }) =>
          new Promise<string>((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(status(500))),
          ),
        circuitBreaker: { threshold: 1 },
      },
    ])
    const controller = new AbortController()
    const call = gear.call('x', { signal: controller.signal })
    controller.abort('gone')
    expect(await errorOf(call)).toBe('gone')
    expect(gear.getCircuitState()).toBe('closed')
  })

  it('aborted before the start: nobody is asked, the reason comes back', async () => {
    let asked = 0
    const { gear } = setUp([
      {
        name: 'a',
        invoke: () => {
          asked++
          return 'x'
        },
      },
    ])
    expect(await errorOf(gear.call('x', { signal: AbortSignal.abort('before') }))).toBe('before')
    expect(asked).toBe(0)
  })

  it('an abort during a back-off ends the call at once, neutral, and nothing is sent any more', async () => {
    let asked = 0
    const { gear, clock } = setUp(
      [
        {
          name: 'a',
          invoke: () => {
            asked++
            throw status(503)
          },
          circuitBreaker: { threshold: 1 },
        },
      ],
      { random: () => 0.5 },
    )
    const controller = new AbortController()
    const call = gear.call('x', { signal: controller.signal })
    await turn()
    controller.abort('tired')
    expect(await errorOf(call)).toBe('tired')
    clock.advance(100_000)
    await turn()
    expect(asked).toBe(1)
    expect(gear.getCircuitState()).toBe('closed')
  })

  it('the target that aborts the caller itself, inside invoke, ends the call once', async () => {
    const controller = new AbortController()
    const reports: CallReport[] = []
    const { gear } = setUp([
      {
        name: 'a',
        invoke: () => {
          controller.abort('inside')
          return 'answer'
        },
      },
    ])
    const call = gear.call('x', { signal: controller.signal, report: (report) => reports.push(report) })
    expect(await errorOf(call)).toBe('inside')
    expect(reports).toHaveLength(1)
  })

  it('10 000 calls on one signal leave no listener behind', async () => {
    const controller = new AbortController()
    const { signal } = controller
    let n = 0
    const { gear } = setUp([
      {
        name: 'a',
        invoke: () => (++n % 3 === 0 ? Promise.reject(status(400)) : Promise.resolve('ok')),
        circuitBreaker: true,
      },
      { name: 'b', invoke: answer('b') },
    ])
    for (let i = 0; i < 100; i++) {
      await Promise.allSettled(Array.from({ length: 100 }, () => gear.call('x', { signal })))
    }
    expect(n).toBe(10_000)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('deadlines', () => {
  const hanging: Target = { name: 'a', invoke: never, circuitBreaker: { threshold: 1 } }

  it('the deadline a call brought along is neutral, however long the attempt had', async () => {
    const { gear, clock } = setUp([hanging])
    const call = gear.call('x', { deadlineMs: 1000 })
    clock.advance(999)
    expect(await fate(call)).toBe('pending')
    clock.advance(1)
    expect(await errorOf(call)).toBeInstanceOf(DeadlineExceededError)
    expect(gear.getCircuitState()).toBe('closed')
  })

  it("the switchgear's deadline is a timeout of an attempt that had half of it", async () => {
    const { gear, clock } = setUp([hanging], { deadlineMs: 1000 })
    const call = gear.call('x')
    clock.advance(1000)
    expect(await errorOf(call)).toBeInstanceOf(DeadlineExceededError)
    expect(gear.getFailureBreakdown()).toEqual({ timeout: 1 })
    expect(gear.getCircuitState()).toBe('open')
  })

  it.each([
    [499, 'open'],
    [500, 'open'],
    [501, 'closed'],
  ])(
    "begun %i ms into the switchgear's deadline of 1000, an attempt leaves its circuit %s",
    async (at, state) => {
      const gate = Promise.withResolvers<string>()
      const { gear, clock } = setUp(
        [
          { name: 'first', invoke: () => gate.promise, maxRetries: 0 },
          { ...hanging, name: 'second' },
        ],
        { deadlineMs: 1000 },
      )
      const call = gear.call('x')
      clock.advance(at)
      gate.reject(status(500))
      await turn()
      clock.advance(1000 - at)
      expect(await errorOf(call)).toBeInstanceOf(DeadlineExceededError)
      expect(gear.getCircuitState({ name: 'second' })).toBe(state)
    },
  )

  it('a wait beyond the deadline is not begun: the next target is asked at once', async () => {
    const { gear } = setUp([
      {
        name: 'a',
        invoke: failing(Object.assign(status(429), { headers: { 'retry-after': '5' } })),
        circuitBreaker: true,
      },
      { name: 'b', invoke: answer('from b') },
    ])
    expect(await fate(gear.call('x', { deadlineMs: 4000 }))).toEqual({ value: 'from b' })
  })

  it.each([[NaN], [-1], [0]])(
    'a deadlineMs of %d on a call is refused with a RangeError',
    async (deadlineMs) => {
      const { gear } = setUp([hanging])
      expect(await errorOf(gear.call('x', { deadlineMs }))).toBeInstanceOf(RangeError)
    },
  )

  it('300 different deadlines at a time each end at their own instant', async () => {
    const { gear, clock } = setUp([{ name: 'a', invoke: never }])
    const start = clock.now()
    const ended: number[] = []
    const calls = Array.from({ length: 300 }, (_, i) =>
      gear.call('x', { deadlineMs: 1000 + i * 7, report: ({ durationMs }) => ended.push(durationMs) }),
    )
    const all = Promise.allSettled(calls)
    clock.advance(1000 + 300 * 7)
    await all
    expect(ended).toEqual(calls.map((_, i) => 1000 + i * 7))
    expect(clock.now() - start).toBe(3100)
    await gear.close()
    expect(clock.pending).toBe(0)
  })
})

describe('what decides', () => {
  it('fallbackOn overrides the table in both ways and hears error, place and verdict', async () => {
    const heard: unknown[] = []
    const bad = status(400)
    const { gear } = setUp(
      [
        { name: 'a', invoke: failing(bad) },
        { name: 'b', invoke: failing(status(500)), maxRetries: 0 },
        { name: 'c', invoke: answer('never asked') },
      ],
      {
        fallbackOn: (error, { isLastTarget, verdict }) => {
          heard.push([error === bad, isLastTarget, verdict.failure])
          return error === bad ? 'next' : 'stop'
        },
      },
    )
    expect(await errorOf(gear.call('x'))).toBeInstanceOf(FallbackExhaustedError)
    expect(heard).toEqual([
      [true, false, 'invalid_request'],
      [false, false, 'server_error'],
    ])
  })

  it('classify overrides the table; undefined leaves it to the table', async () => {
    const { gear } = setUp([
      {
        name: 'a',
        invoke: (request) => Promise.reject(status(request === 'mine' ? 400 : 404)),
        classify: (error) => (classify(error).failure === 'invalid_request' ? verdictOf('auth') : undefined),
        circuitBreaker: true,
        maxRetries: 0,
      },
    ])
    await errorOf(gear.call('mine'))
    await errorOf(gear.call('other'))
    expect(gear.getFailureBreakdown()).toEqual({ auth: 1, not_found: 1 })
  })

  it('shouldCount decides what counts, but never about an abort', async () => {
    let asked = 0
    const { gear } = setUp([
      {
        name: 'a',
        invoke: (request) => (request === 'hang' ? never() : Promise.reject(status(Number(request)))),
        circuitBreaker: {
          shouldCount: (error) => {
            asked++
            return (error as { status: number }).status === 400
          },
        },
        maxRetries: 0,
      },
    ])
    await errorOf(gear.call('500'))
    expect(gear.getFailureBreakdown()).toEqual({})
    await errorOf(gear.call('400'))
    expect(gear.getFailureBreakdown()).toEqual({ invalid_request: 1 })
    const controller = new AbortController()
    const hanging = gear.call('hang', { signal: controller.signal })
    controller.abort()
    await errorOf(hanging)
    expect(asked).toBe(2)
  })

  it('nonRetryableStatus: not retried, but still counted and passed on', async () => {
    let asked = 0
    const { gear } = setUp([
      {
        name: 'a',
        invoke: () => {
          asked++
          return Promise.reject(status(503))
        },
        nonRetryableStatus: [503],
        circuitBreaker: true,
      },
      { name: 'b', invoke: answer('from b') },
    ])
    expect(await gear.call('x')).toBe('from b')
    expect(asked).toBe(1)
    expect(gear.getFailureBreakdown()).toEqual({ server_error: 1 })
  })

  it('an error whose `status` getter throws is a failure, not a call that hangs', async () => {
    const hostile = Object.defineProperty(new Error('hostile'), 'status', {
      get() {
        throw new Error('getter')
      },
    })
    const { gear } = setUp([
      { name: 'a', invoke: failing(hostile), nonRetryableStatus: [400], maxRetries: 0, circuitBreaker: true },
      { name: 'b', invoke: answer('from b') },
    ])
    let found: unknown
    const unhandled = await unhandledIn(async () => (found = await fate(gear.call('x'))))
    expect(found).toEqual({ value: 'from b' })
    expect(unhandled).toEqual([])
  })

  it('one outcome a visit, after its retries', async () => {
    const { gear, clock } = setUp([
      { name: 'a', invoke: failing(status(500)), maxRetries: 2, circuitBreaker: { threshold: 2 } },
    ])
    const call = inBackground(gear.call('x'))
    for (let i = 0; i < 5; i++) {
      await turn()
      clock.advance(10_000)
    }
    await errorOf(call)
    expect(gear.getStatus()?.consecutiveFailures).toBe(1)
  })

  // "Slow means latencyMs > slowMs; failures are samples of a latency window too"
  it.each([
    ['slow', 5000, 'open'],
    ['quick', 500, 'closed'],
  ])('a failure that took long is %s for the latency rule', async (_what, timeoutMs, state) => {
    const tripping = {
      kind: 'latency',
      windowMs: 60_000,
      minCalls: 2,
      slowMs: 1000,
      slowRatio: 0.5,
    } as const
    const { gear, clock } = setUp([
      { name: 'a', invoke: never, timeoutMs, maxRetries: 0, circuitBreaker: { tripping } },
    ])
    for (let i = 0; i < 3; i++) {
      const call = inBackground(gear.call('x'))
      clock.advance(timeoutMs)
      await errorOf(call)
    }
    expect(gear.getCircuitState()).toBe(state)
  })

  it('shouldCount is asked of an attempt that the deadline cut as of any other timeout', async () => {
    const asked: string[] = []
    const shouldCount = (_error: unknown, { failure }: { failure: string }) => {
      asked.push(failure)
      return false
    }
    const { gear, clock } = setUp(
      [{ name: 'a', invoke: never, circuitBreaker: { threshold: 1, shouldCount } }],
      {
        deadlineMs: 1000,
      },
    )
    const call = inBackground(gear.call('x'))
    clock.advance(1000)
    await errorOf(call)
    expect(asked).toEqual(['timeout'])
    expect(gear.getCircuitState()).toBe('closed')
  })

  it('a visit whose circuit has moved meanwhile stops retrying', async () => {
    let asked = 0
    const { gear, clock } = setUp(
      [
        {
          name: 'a',
          invoke: () => {
            asked++
            return Promise.reject(status(500))
          },
          circuitBreaker: true,
        },
        { name: 'b', invoke: answer('from b') },
      ],
      { random: () => 0.5 },
    )
    const call = gear.call('x')
    await turn()
    gear.openCircuit()
    clock.advance(10_000)
    expect(await fate(call)).toEqual({ value: 'from b' })
    expect(asked).toBe(1)
  })
})

// ── nobody else's code can hurt ───────────────────────────────────────────────────────────────────────────────────

const boom = (): never => {
  throw new Error('boom')
}
const rejected = async (): Promise<void> => {
  await turn()
  throw new Error('boom, later')
}

interface Saboteur {
  readonly target?: Partial<Target>
  readonly breaker?: object
  readonly options?: Options
  readonly report?: () => void
}

const saboteurs: Record<string, Saboteur> = {
  classify: { target: { classify: boom } },
  isEmpty: { target: { isEmpty: boom } },
  shouldCount: { breaker: { shouldCount: boom } },
  'the onStateChange of a breaker': { breaker: { onStateChange: boom } },
  'a tripping policy': {
    breaker: {
      tripping: [
        { kind: 'consecutive', threshold: 1 },
        { onSuccess: boom, onFailure: boom, reset: boom, forget: boom },
      ],
    },
  },
  'a cooldown function': { breaker: { cooldownBackoff: boom } },
  fallbackOn: { options: { fallbackOn: boom } },
  detectSoftFailure: { options: { detectSoftFailure: boom } },
  onStateChange: { options: { onStateChange: boom } },
  onEvent: { options: { onEvent: boom } },
  logger: { options: { logger: { info: boom, warn: boom, error: boom } } },
  'a logger, with a throwing listener': {
    options: { logger: { info: boom, warn: boom, error: boom }, onEvent: boom, onStateChange: boom },
  },
  journal: { options: { journal: { append: boom } } },
  random: { options: { random: boom } },
  'random that is no number': { options: { random: () => NaN } },
  report: { report: boom },
  'an async report': { report: rejected },
  'an async onStateChange': { options: { onStateChange: rejected } },
  'an async onEvent': { options: { onEvent: rejected } },
  'an async journal': { options: { journal: { append: rejected } } },
  'an async logger': { options: { logger: { info: rejected, warn: rejected, error: rejected } } },
  'an async tripping policy': {
    breaker: {
      tripping: [
        { kind: 'consecutive', threshold: 1 },
        { onSuccess: rejected, onFailure: () => false, reset: rejected, forget: rejected },
      ],
    },
  },
}

describe('code that throws hurts nobody and leaks no permit', () => {
  it.each(Object.entries(saboteurs))('%s', async (_name, saboteur) => {
    const unhandled = await unhandledIn(async () => {
      let healthy = false
      const { gear, clock } = setUp(
        [
          {
            name: 'a',
            invoke: () => (healthy ? Promise.resolve('from a') : Promise.reject(status(500))),
            maxRetries: 1,
            circuitBreaker: {
              tripping: { kind: 'consecutive', threshold: 1 },
              cooldownMs: 1000,
              ...saboteur.breaker,
            },
            ...saboteur.target,
          },
          { name: 'b', invoke: answer('from b') },
        ],
        saboteur.options,
      )
      gear.on('transition', boom)
      const call = async () => {
        const running = gear.call('x', saboteur.report && { report: saboteur.report })
        await turn()
        if (!healthy) clock.advance(500)
        return fate(running)
      }
      expect(await call()).toEqual({ value: 'from b' })
      expect(gear.getCircuitState()).toBe('open')
      expect(await call()).toEqual({ value: 'from b' })
      clock.advance(40_000)
      expect(gear.getCircuitState()).toBe('half-open')
      expect(await call()).toEqual({ value: 'from b' })
      expect(gear.getCircuitState()).toBe('open')
      clock.advance(40_000)
      expect(gear.getStatus()?.probes.inFlight).toBe(0)
      healthy = true
      expect(await call()).toEqual({ value: 'from a' })
      expect(gear.getCircuitState()).toBe('closed')
      expect(gear.supervisor.getSnapshot().context.chains).toBe(0)
      expect(await fate(gear.close())).toEqual({ value: undefined })
      expect(clock.pending).toBe(0)
    })
    expect(unhandled).toEqual([])
  })

  it('a random that throws inside one timeout does not take the other calls of that instant along', async () => {
    const { gear, clock } = setUp([{ name: 'a', invoke: never, timeoutMs: 100, maxRetries: 0 }], {
      random: boom,
    })
    const calls = [gear.call('1'), gear.call('2'), gear.call('3')]
    try {
      clock.advance(100)
    } catch {
      // what reaches the timer is judged by the calls below
    }
    expect(await Promise.all(calls.map(async (call) => (await fate(call)) === 'pending'))).toEqual([
      false,
      false,
      false,
    ])
  })
})

describe('code that calls back in', () => {
  it('a listener may call the switchgear inside a transition; what that causes is told afterwards', async () => {
    const told: string[] = []
    const inner: Promise<string>[] = []
    const { gear } = setUp([
      { name: 'a', invoke: failing(status(500)), maxRetries: 0, circuitBreaker: { threshold: 1 } },
      { name: 'b', invoke: answer('from b'), circuitBreaker: true },
    ])
    gear.on('transition', ({ bucket, from, to }) => {
      told.push(`${bucket}: ${from} → ${to}`)
      if (bucket !== 'a') return
      inner.push(gear.call('inner'))
      gear.openCircuit({ name: 'b' })
      gear.closeCircuit({ name: 'b' })
      told.push('end of the first listener')
    })
    expect(await gear.call('x')).toBe('from b')
    expect(await Promise.all(inner)).toEqual(['from b'])
    expect(told).toEqual([
      'a: closed → open',
      'end of the first listener',
      'b: closed → open',
      'b: open → closed',
    ])
  })

  /** Every place at which somebody else's code runs in the middle of a call, with the caller's abort inside it. */
  type Place = {
    readonly options?: (abort: () => void) => Options
    readonly prepare?: (gear: ReturnType<typeof setUp>['gear'], clock: VirtualClock) => void
    readonly first?: Partial<Target>
  }
  const places: Record<string, Place> = {
    'onEvent of a failed attempt': {
      options: (abort) => ({
        onEvent: (event: SwitchgearEvent) => {
          if (event.type === 'attempt_failed') abort()
        },
      }),
    },
    'onStateChange at the trip': {
      options: (abort) => ({
        onStateChange: (_from, to) => {
          if (to === 'open') abort()
        },
      }),
    },
    fallbackOn: {
      options: (abort) => ({
        fallbackOn: () => {
          abort()
          return 'next'
        },
      }),
    },
    'onStateChange at the admission': {
      options: (abort) => ({
        onStateChange: (_from, to) => {
          if (to === 'half-open') abort()
        },
      }),
      prepare: (gear, clock) => {
        gear.openCircuit()
        // the timer was late: the call itself notices that the cooldown is over
        clock.dropTimers()
        clock.advance(60_000)
      },
    },
    'onStateChange at the recovery': {
      first: { invoke: answer('from a') },
      options: (abort) => ({
        onStateChange: (_from, to) => {
          if (to === 'closed') abort()
        },
      }),
      prepare: (gear, clock) => {
        gear.openCircuit()
        clock.advance(60_000)
      },
    },
    detectSoftFailure: {
      first: { invoke: answer('from a') },
      options: (abort) => ({
        detectSoftFailure: () => {
          abort()
          return false
        },
      }),
    },
  }

  it.each(Object.entries(places))(
    "the caller's abort inside %s ends the call once: one report, no chain, no permit, no lost count",
    async (_name, place) => {
      const controller = new AbortController()
      const reports: CallReport[] = []
      const unhandled = await unhandledIn(async () => {
        const gate = Promise.withResolvers<string>()
        const { gear, clock } = setUp(
          [
            {
              name: 'a',
              invoke: failing(status(500)),
              maxRetries: 0,
              circuitBreaker: { threshold: 1, cooldownMs: 1000 },
              ...place.first,
            },
            {
              name: 'b',
              invoke: (request) => (request === 'wait' ? gate.promise : never()),
              circuitBreaker: true,
            },
          ],
          place.options?.(() => controller.abort('in the middle')),
        )
        place.prepare?.(gear, clock)
        const call = gear.call('x', { signal: controller.signal, report: (report) => reports.push(report) })
        expect(await fate(call)).not.toBe('pending')
        expect(reports).toHaveLength(1)
        expect(gear.supervisor.getSnapshot().context.chains).toBe(0)
        expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
        for (const name of ['a', 'b']) expect(gear.getStatus({ name })?.probes.inFlight).toBe(0)

        // the count of running calls is right: close() waits for the one that still runs
        gear.openCircuit({ name: 'a' }, { hold: true })
        const running = gear.call('wait')
        await turn()
        const closing = gear.close()
        expect(await fate(closing)).toBe('pending')
        gate.resolve('done')
        expect(await fate(running)).toEqual({ value: 'done' })
        expect(await fate(closing)).toEqual({ value: undefined })
        expect(clock.pending).toBe(0)
      })
      expect(unhandled).toEqual([])
    },
  )

  it("an abort inside the trip of the first target does not take the second one's probe slot", async () => {
    const controller = new AbortController()
    let asked = 0
    const { gear, clock } = setUp(
      [
        { name: 'a', invoke: failing(status(500)), maxRetries: 0, circuitBreaker: { threshold: 1 } },
        {
          name: 'b',
          invoke: () => {
            asked++
            return 'from b'
          },
          circuitBreaker: { cooldownMs: 1000 },
        },
      ],
      {
        onStateChange: (_from, to, _n, _model, { bucket }) => {
          if (to === 'open' && bucket === 'a') controller.abort('stop')
        },
      },
    )
    gear.openCircuit({ name: 'b' })
    clock.advance(1000)
    expect(gear.getCircuitState({ name: 'b' })).toBe('half-open')
    expect(await errorOf(gear.call('x', { signal: controller.signal }))).toBe('stop')
    expect(asked).toBe(0)
    expect(gear.canExecute({ name: 'b' })).toBe(true)
  })
})

describe('bounds', () => {
  it.each(['the first target', 'a later target'])(
    'a full registry refuses the call at %s with ERR_REGISTRY_FULL and leaves nothing running',
    async (place) => {
      const isolating: Target = {
        name: 'iso',
        invoke: (_request: string, { model }: AttemptContext) => `from ${model}`,
        circuitBreaker: { isolateByModel: true },
      }
      const before: Target = { name: 'before', invoke: failing(status(500)), maxRetries: 0 }
      const { gear } = setUp(place === 'the first target' ? [isolating] : [before, isolating], {
        maxBuckets: 1,
      })
      gear.openCircuit({ name: 'iso', model: 'held' }, { hold: true })
      const controller = new AbortController()
      const unhandled = await unhandledIn(async () => {
        const call = gear.call('x', { model: 'other', signal: controller.signal })
        expect(await errorOf(call)).toMatchObject({ code: 'ERR_REGISTRY_FULL' })
        expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
        expect(gear.supervisor.getSnapshot().context.chains).toBe(0)
        expect(await fate(gear.close())).toEqual({ value: undefined })
      })
      expect(unhandled).toEqual([])
    },
  )

  // a kind made of each error's text must not grow for ever
  it('a breaker counts a hundred kinds of failure, and the rest as one', () => {
    const breaker = createBreaker({ clock: new VirtualClock(1), threshold: Infinity })
    for (let i = 0; i < 500; i++) {
      const permit = breaker.tryAcquire()
      if (permit.admitted) breaker.settle(permit, { outcome: 'failure', failure: `kind ${i}` })
    }
    const kinds = breaker.getFailureBreakdown()
    expect(Object.keys(kinds)).toHaveLength(101)
    expect(kinds['other']).toBe(400)
  })

  it('the retry budget bounds the retries of the whole chain, never a first visit', async () => {
    const asked: string[] = []
    const { gear, clock } = setUp(
      ['a', 'b'].map((name) => ({
        name,
        invoke: () => {
          asked.push(name)
          return Promise.reject(status(500))
        },
        maxRetries: 5,
      })),
      { retryBudget: { capacity: 2, perCall: 0 } },
    )
    const call = inBackground(gear.call('x'))
    for (let i = 0; i < 20; i++) {
      await turn()
      clock.advance(10_000)
    }
    await errorOf(call)
    expect(asked).toEqual(['a', 'a', 'a', 'b'])
  })

  it('after calls of every kind: no chain, nothing running, no timer', async () => {
    let n = 0
    const { gear, clock } = setUp(
      [
        {
          name: 'a',
          invoke: () => {
            const kind = n++ % 8
            if (kind === 0) return never()
            if (kind === 1) throw status(500)
            if (kind === 2) return ''
            if (kind === 3) return Promise.reject(status(400))
            if (kind === 4)
              return Promise.reject(Object.assign(status(429), { headers: { 'retry-after': '2' } }))
            return Promise.resolve('ok')
          },
          timeoutMs: 700,
          circuitBreaker: { threshold: 3, cooldownMs: 900 },
        },
        {
          name: 'b',
          invoke: () => (n % 2 === 0 ? Promise.reject(status(503)) : Promise.resolve('b')),
          circuitBreaker: { threshold: 2, cooldownMs: 500, degradation: {} },
        },
      ],
      { random: () => 0.7, whenAllOpen: { waitMs: 2000 }, deadlineMs: 5000 },
    )
    const calls: Promise<unknown>[] = []
    for (let i = 0; i < 300; i++) {
      const controller = new AbortController()
      const options = { ...(i % 5 === 0 && { deadlineMs: 300 + i }), signal: controller.signal }
      calls.push(gear.call('x', options).catch(() => {}))
      if (i % 7 === 0) controller.abort(i)
      if (i % 3 === 0) await turn()
      clock.advance(i % 11 === 0 ? 400 : 10)
    }
    const closing = gear.close()
    for (let i = 0; i < 40; i++) {
      await turn()
      clock.advance(500)
    }
    expect(await fate(Promise.all(calls))).not.toBe('pending')
    expect(gear.supervisor.getSnapshot().context.chains).toBe(0)
    expect(await fate(closing)).toEqual({ value: undefined })
    expect(clock.pending).toBe(0)
  })
})

describe('when every circuit refuses', () => {
  const targets = (): Target[] =>
    ['a', 'b'].map((name, i) => ({
      name,
      invoke: answer(`from ${name}`),
      circuitBreaker: { cooldownMs: 1000 * (i + 1) },
    }))

  it('fail: names both, asks nobody, and says the smallest wait', async () => {
    const { gear } = setUp(targets())
    gear.openCircuit({ name: 'a' })
    gear.openCircuit({ name: 'b' })
    const reports: CallReport[] = []
    const error = await errorOf(gear.call('x', { report: (report) => reports.push(report) }))
    expect(error).toBeInstanceOf(FallbackExhaustedError)
    expect(error).toMatchObject({
      retryAfterMs: 1000,
      attempts: [
        { target: 'a', outcome: 'refused', retryAfterMs: 1000 },
        { target: 'b', outcome: 'refused', retryAfterMs: 2000 },
      ],
    })
    expect(reports).toEqual([
      { target: undefined, model: undefined, attempts: 0, fallbackIndex: -1, durationMs: 0, ok: false },
    ])
  })

  it('a single target: its own CircuitOpenError with the error that tripped it as the cause', async () => {
    const tripping = status(500)
    const { gear, clock } = setUp([
      { name: 'a', invoke: failing(tripping), maxRetries: 0, circuitBreaker: { threshold: 1 } },
    ])
    await errorOf(gear.call('x'))
    const error = await errorOf(gear.call('x'))
    expect(error).toBeInstanceOf(CircuitOpenError)
    expect(error).toMatchObject({ cause: tripping, retryAfterMs: 30_000, retryAfter: clock.wall() + 30_000 })
  })

  it('waitMs: waits for the first to return', async () => {
    const { gear, clock } = setUp(targets(), { whenAllOpen: { waitMs: 1000 } })
    gear.openCircuit({ name: 'a' })
    gear.openCircuit({ name: 'b' })
    const call = gear.call('x')
    clock.advance(999)
    expect(await fate(call)).toBe('pending')
    clock.advance(1)
    expect(await fate(call)).toEqual({ value: 'from a' })
  })

  it('waitMs shorter than the remaining wait fails at once', async () => {
    const { gear } = setUp(targets(), { whenAllOpen: { waitMs: 999 } })
    gear.openCircuit({ name: 'a' })
    gear.openCircuit({ name: 'b' })
    expect(await errorOf(gear.call('x'))).toBeInstanceOf(FallbackExhaustedError)
  })

  it('a waiter wakes when an operator closes a circuit', async () => {
    const { gear } = setUp(targets(), { whenAllOpen: { waitMs: 5000 } })
    gear.openCircuit({ name: 'a' })
    gear.openCircuit({ name: 'b' })
    const call = gear.call('x')
    gear.closeCircuit({ name: 'b' })
    expect(await fate(call)).toEqual({ value: 'from b' })
  })

  it('an aborted waiter leaves with its reason and is not woken', async () => {
    const { gear, clock } = setUp(targets(), { whenAllOpen: { waitMs: 5000 } })
    gear.openCircuit({ name: 'a' })
    gear.openCircuit({ name: 'b' })
    const controller = new AbortController()
    const call = gear.call('x', { signal: controller.signal })
    controller.abort('no patience')
    expect(await errorOf(call)).toBe('no patience')
    clock.advance(5000)
    await turn()
    expect(gear.getStatus()?.probes.inFlight).toBe(0)
    await gear.close()
    expect(clock.pending).toBe(0)
  })

  it('last-resort: the one that returns first, once, never a held one, and nothing is decided by it', async () => {
    const asked: string[] = []
    const transitions: Transition[] = []
    const { gear } = setUp(
      ['held', 'a', 'b'].map((name, i) => ({
        name,
        invoke: () => {
          asked.push(name)
          return Promise.reject(status(500))
        },
        circuitBreaker: { cooldownMs: 1000 * (i + 1) },
      })),
      { whenAllOpen: 'last-resort' },
    )
    gear.openCircuit({ name: 'held' }, { hold: true, ttlMs: 10 })
    gear.openCircuit({ name: 'a' })
    gear.openCircuit({ name: 'b' })
    gear.on('transition', (transition) => transitions.push(transition))
    expect(await errorOf(gear.call('x'))).toBeInstanceOf(FallbackExhaustedError)
    expect(asked).toEqual(['a'])
    expect(transitions).toEqual([])
    expect(gear.getStatus({ name: 'a' })?.reopenCount).toBe(0)
  })
})
