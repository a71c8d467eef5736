import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import {
  AttemptTimeoutError,
  DeadlineExceededError,
  StreamInterruptedError,
  createSwitchgear,
} from '../../src/index.ts'
import type {
  AttemptContext,
  CallReport,
  PartKind,
  SwitchgearOptions,
  TargetOptions,
} from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

type Target = TargetOptions<string, string, string>
type Options = Partial<SwitchgearOptions<string, string, string>>
type Fate<T> = { value: T } | { error: unknown } | 'pending'

function setUp(targets: Target[], options: Options = {}) {
  const clock = new VirtualClock(1_000_000)
  const gear = createSwitchgear<string, string, string>({ targets, clock, random: () => 0, ...options })
  return { clock, gear }
}

const turns = async () => {
  for (let i = 0; i < 5; i++) await turn()
}

async function fate<T>(promise: PromiseLike<T>): Promise<Fate<T>> {
  let found: Fate<T> = 'pending'
  promise.then(
    (value) => (found = { value }),
    (error: unknown) => (found = { error }),
  )
  await turns()
  return found
}

async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  const found = await fate(promise)
  if (found === 'pending') throw new Error('still pending')
  if ('value' in found) throw new Error(`no error but ${JSON.stringify(found.value)}`)
  return found.error
}

async function unhandledIn(run: () => Promise<unknown>): Promise<unknown[]> {
  const watchers = process.listeners('unhandledRejection')
  const seen: unknown[] = []
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', (error) => seen.push(error))
  try {
    await run()
    await turns()
  } finally {
    process.removeAllListeners('unhandledRejection')
    for (const watcher of watchers) process.on('unhandledRejection', watcher)
  }
  return seen
}

/** A source driven by hand: every read waits until the test says what comes. */
class Source implements AsyncIterableIterator<string> {
  reads = 0
  returned = 0
  signal: AbortSignal | undefined
  #waiting: PromiseWithResolvers<IteratorResult<string>>[] = []
  #ready: ((waiting: PromiseWithResolvers<IteratorResult<string>>) => void)[] = []

  next(): Promise<IteratorResult<string>> {
    this.reads++
    const waiting = Promise.withResolvers<IteratorResult<string>>()
    const ready = this.#ready.shift()
    if (ready) ready(waiting)
    else this.#waiting.push(waiting)
    return waiting.promise
  }
  return(): Promise<IteratorResult<string>> {
    this.returned++
    return Promise.resolve({ done: true, value: undefined })
  }
  [Symbol.asyncIterator](): this {
    return this
  }
  #say(then: (waiting: PromiseWithResolvers<IteratorResult<string>>) => void): void {
    const waiting = this.#waiting.shift()
    if (waiting) then(waiting)
    else this.#ready.push(then)
  }
  part(value: string): this {
    this.#say(({ resolve }) => resolve({ done: false, value }))
    return this
  }
  end(): this {
    this.#say(({ resolve }) => resolve({ done: true, value: undefined }))
    return this
  }
  break(error: unknown): this {
    this.#say(({ reject }) => reject(error))
    return this
  }
  get target(): Pick<Target, 'stream'> {
    return {
      stream: (_request: string, context: AttemptContext) => {
        this.signal = context.signal
        return this
      },
    }
  }
}

async function* parts(...all: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const part of all) {
    if (part instanceof Error) throw part
    yield part
  }
}

/** 'p:…' preamble, 'k:…' keepalive, 'e:…' error, 'END' terminal, everything else content. */
const classifyPart = (part: string): PartKind =>
  part.startsWith('p:')
    ? 'preamble'
    : part.startsWith('k:')
      ? 'keepalive'
      : part.startsWith('e:')
        ? 'error'
        : part === 'END'
          ? 'terminal'
          : 'content'

async function readAll(stream: AsyncIterable<string>): Promise<{ read: string[]; error?: unknown }> {
  const read: string[] = []
  try {
    for await (const part of stream) read.push(part)
    return { read }
  } catch (error) {
    return { read, error }
  }
}

const broken = () => Object.assign(new Error('gone'), { status: 500 })

describe('before the first content', () => {
  it('nothing is sent before the first read, and nothing after a return before it', async () => {
    let sent = 0
    const { gear } = setUp([
      {
        stream: () => {
          sent++
          return parts('a')
        },
      },
    ])
    const unread = gear.stream('x')
    await turns()
    expect(sent).toBe(0)
    expect(await unread.return?.()).toEqual({ done: true, value: undefined })
    expect(await unread.next()).toEqual({ done: true, value: undefined })
    expect(sent).toBe(0)
    expect(await readAll(gear.stream('x'))).toEqual({ read: ['a'] })
    expect(sent).toBe(1)
  })

  const failures: Record<string, Target['stream']> = {
    'a synchronous throw': () => {
      throw broken()
    },
    'a rejected opening': () => Promise.reject(broken()),
    'a break after preamble and keepalive': () => parts('p:1', 'k:1', broken()),
    'an error part': () => parts('p:1', 'e:overloaded'),
    'an empty stream': () => parts(),
    'a terminal part without content': () => parts('p:1', 'END'),
    'an end without terminal part': () => parts('p:1'),
    'something that is no iterable': () => 5 as unknown as AsyncIterable<string>,
    'an iterator whose next() throws': () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => {
          throw broken()
        },
      }),
    }),
    'an iterator whose next() gives no object': () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve(undefined as unknown as IteratorResult<string>),
      }),
    }),
    'an iterator whose return() throws': () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(broken()),
        return: () => {
          throw new Error('return')
        },
      }),
    }),
    'an iterator whose return() rejects': () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(broken()),
        return: () => Promise.reject(new Error('return')),
      }),
    }),
    'an iterator whose return() never settles': () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(broken()),
        return: () => new Promise<never>(() => {}),
      }),
    }),
  }

  it.each(Object.entries(failures))('%s falls over silently and counts once', async (_name, stream) => {
    let found: unknown
    const unhandled = await unhandledIn(async () => {
      const { gear } = setUp([
        { name: 'a', stream: stream!, classifyPart, maxRetries: 0, circuitBreaker: { kinds: {} } },
        { name: 'b', stream: () => parts('p:b', 'from b', 'END'), classifyPart },
      ])
      found = await fate(readAll(gear.stream('x')))
    })
    expect(found).toEqual({ value: { read: ['p:b', 'from b', 'END'] } })
    expect(unhandled).toEqual([])
  })

  it.each([
    ['an empty stream', () => parts(), 'empty_response'],
    ['a terminal part without content', () => parts('p:1', 'END'), 'empty_response'],
    ['content without the terminal part', () => parts('c'), 'truncated_stream'],
  ] as const)('%s counts as a failure of its own kind', async (_name, stream, kind) => {
    const { gear } = setUp([{ name: 'a', stream, classifyPart, maxRetries: 0, circuitBreaker: true }])
    expect(await readAll(gear.stream('x'))).toHaveProperty('error')
    expect(gear.getFailureBreakdown()).toEqual({ [kind]: 1 })
  })

  it('without classifyPart every part is content and a normal end is terminal', async () => {
    const { gear } = setUp([{ name: 'a', stream: () => parts('p:1', 'END', 'x'), circuitBreaker: true }])
    const reports: CallReport[] = []
    const stream = gear.stream('x', { report: (report) => reports.push(report) })
    expect(await readAll(stream)).toEqual({ read: ['p:1', 'END', 'x'] })
    expect(reports).toMatchObject([{ target: 'a', ok: true, attempts: 1, fallbackIndex: 0 }])
  })

  it('keepalives are dropped before the first content, preamble is kept in order', async () => {
    const { gear } = setUp([
      { stream: () => parts('k:1', 'p:1', 'k:2', 'p:2', 'c', 'k:3', 'END'), classifyPart },
    ])
    expect(await readAll(gear.stream('x'))).toEqual({ read: ['p:1', 'p:2', 'c', 'k:3', 'END'] })
  })

  it.each([
    ['63 held parts fall over', 63, 'p:', true],
    ['the 64th held part commits', 64, 'p:', false],
    ['just below 256 KiB falls over', 3, `p:${'x'.repeat(64 * 1024)}`, true],
    ['256 KiB commit', 4, `p:${'x'.repeat(64 * 1024)}`, false],
  ])('%s', async (_name, count, part, fallsOver) => {
    const { gear } = setUp([
      {
        name: 'a',
        stream: () => parts(...Array.from({ length: count }, () => part), broken()),
        classifyPart,
        maxRetries: 0,
      },
      { name: 'b', stream: () => parts('from b', 'END'), classifyPart },
    ])
    const { read, error } = await readAll(gear.stream('x'))
    if (fallsOver) expect([read, error]).toEqual([['from b', 'END'], undefined])
    else {
      expect(read).toHaveLength(count)
      expect(error).toBeInstanceOf(StreamInterruptedError)
      expect(error).toMatchObject({ delivered: count })
    }
  })

  it('keepalives alone never commit, however many', async () => {
    const { gear } = setUp([
      {
        stream: () => parts(...Array.from({ length: 500 }, () => 'k:'), broken()),
        classifyPart,
        maxRetries: 0,
      },
      { stream: () => parts('from b', 'END'), classifyPart },
    ])
    expect(await readAll(gear.stream('x'))).toEqual({ read: ['from b', 'END'] })
  })
})

describe('after the first content', () => {
  it.each([
    ['a broken source', broken(), true],
    ['an error part', 'e:overloaded', false],
  ])('%s reaches the reader as StreamInterruptedError with delivered and cause', async (_name, end, own) => {
    let next = 0
    const { gear } = setUp([
      { name: 'a', stream: () => parts('p:1', 'c1', 'c2', end), classifyPart, circuitBreaker: true },
      {
        name: 'b',
        stream: () => {
          next++
          return parts('from b')
        },
      },
    ])
    const stream = gear.stream('x')
    const { read, error } = await readAll(stream)
    expect(read).toEqual(['p:1', 'c1', 'c2'])
    expect(error).toBeInstanceOf(StreamInterruptedError)
    expect(error).toMatchObject({ delivered: 3, target: 'a', cause: own ? end : 'e:overloaded' })
    expect(next).toBe(0)
    expect(gear.getStatus()?.failureCount).toBe(1)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect(await fate(gear.close())).toEqual({ value: undefined })
  })

  it('a missing terminal part is an error, never a clean end', async () => {
    const { gear } = setUp([{ name: 'a', stream: () => parts('c1'), classifyPart, circuitBreaker: true }])
    const { read, error } = await readAll(gear.stream('x'))
    expect(read).toEqual(['c1'])
    expect(error).toBeInstanceOf(StreamInterruptedError)
    expect((error as Error).cause).toMatchObject({ code: 'ERR_TRUNCATED_STREAM' })
    expect(gear.getFailureBreakdown()).toEqual({ truncated_stream: 1 })
  })

  it.each([
    ['more parts', ['usage', 'k:1'], ['usage', 'k:1']],
    ['an error part', ['e:late', 'usage'], ['e:late', 'usage']],
    ['a break', ['usage', broken()], ['usage']],
  ] as const)('after the terminal part, %s pass and cannot fail the call', async (_name, tail, seen) => {
    const { gear } = setUp([
      { name: 'a', stream: () => parts('c', 'END', ...tail), classifyPart, circuitBreaker: { threshold: 1 } },
    ])
    const reports: CallReport[] = []
    const stream = gear.stream('x', { report: (report) => reports.push(report) })
    expect(await readAll(stream)).toEqual({ read: ['c', 'END', ...seen] })
    expect(reports).toMatchObject([{ ok: true }])
    expect(gear.getFailureBreakdown()).toEqual({})
  })

  it('success is recorded at the terminal part, not before and not at the end', async () => {
    const source = new Source()
    const { gear, clock } = setUp([
      { name: 'a', ...source.target, classifyPart, circuitBreaker: { cooldownMs: 1000 } },
    ])
    gear.openCircuit()
    clock.advance(1000)
    const stream = gear.stream('x')
    source.part('c').part('END')
    await stream.next()
    expect(gear.getCircuitState()).toBe('half-open')
    expect(await stream.next()).toEqual({ done: false, value: 'END' })
    expect(gear.getCircuitState()).toBe('closed')
  })

  it('nothing is read ahead of the reader after the first content', async () => {
    const source = new Source()
    const { gear } = setUp([{ ...source.target, classifyPart }])
    const stream = gear.stream('x')
    source.part('c1').part('c2').part('c3')
    await stream.next()
    await turns()
    expect(source.reads).toBe(1)
    await stream.next()
    expect(source.reads).toBe(2)
  })

  // one call a stream, whoever reads on and from wherever
  it('a read from within the first one waits for it and begins no second call', async () => {
    const { gear, clock } = setUp([
      { name: 'a', stream: () => parts('one', 'two'), circuitBreaker: { cooldownMs: 1000 } },
    ])
    gear.openCircuit()
    clock.dropTimers()
    clock.advance(1000)
    const stream = gear.stream('x')
    let again: Promise<unknown> | undefined
    gear.on('transition', () => (again ??= stream.next()))
    expect(await stream.next()).toEqual({ done: false, value: 'one' })
    expect(await again).toEqual({ done: false, value: 'two' })
    await stream.next()
    expect(gear.stats().calls).toMatchObject({ answered: 1, refused: 0 })
  })

  it('a read from within a later one waits for it', async () => {
    const source = new Source()
    const { gear } = setUp([{ name: 'a', ...source.target }])
    const stream = gear.stream('x')
    const first = stream.next()
    source.part('one')
    await first
    let again: Promise<unknown> | undefined
    const next = source.next.bind(source)
    source.next = () => {
      again ??= stream.next()
      return next()
    }
    const second = stream.next()
    source.part('two').part('three')
    expect(await fate(second)).toEqual({ value: { done: false, value: 'two' } })
    expect(await again).toEqual({ done: false, value: 'three' })
  })

  it('several next() at a time are answered in order, each with its own part', async () => {
    const source = new Source()
    const { gear } = setUp([{ ...source.target, classifyPart }])
    const stream = gear.stream('x')
    const reads = Array.from({ length: 5 }, () => stream.next())
    source.part('p:1').part('c1').part('c2').part('END').end()
    expect(await fate(Promise.all(reads))).toEqual({
      value: [
        { done: false, value: 'p:1' },
        { done: false, value: 'c1' },
        { done: false, value: 'c2' },
        { done: false, value: 'END' },
        { done: true, value: undefined },
      ],
    })
  })

  it('reads that were waiting when it broke: one error, then the end', async () => {
    const source = new Source()
    const { gear } = setUp([{ ...source.target, classifyPart }])
    const stream = gear.stream('x')
    const reads = Array.from({ length: 3 }, () => stream.next())
    source.part('c1').break(broken())
    const found = await Promise.all(reads.map((read) => fate(read)))
    expect(found[0]).toEqual({ value: { done: false, value: 'c1' } })
    expect(found[1]).toMatchObject({ error: expect.any(StreamInterruptedError) })
    expect(found[2]).toEqual({ value: { done: true, value: undefined } })
  })
})

describe('a reader that leaves', () => {
  it.each([
    ['before the first content', [], 'half-open'],
    ['in the middle', ['c1'], 'half-open'],
  ])(
    '%s, with a read pending: nothing hangs, the upstream is told, neutral',
    async (_name, before, state) => {
      const source = new Source()
      const { gear, clock } = setUp([
        { name: 'a', ...source.target, classifyPart, circuitBreaker: { cooldownMs: 1000 } },
      ])
      gear.openCircuit()
      clock.advance(1000)
      const stream = gear.stream('x')
      for (const part of before) {
        source.part(part)
        await stream.next()
      }
      const pending = stream.next()
      await turns()
      expect(await fate(stream.return!())).toEqual({ value: { done: true, value: undefined } })
      expect(await fate(pending)).toEqual({ value: { done: true, value: undefined } })
      expect(source.returned).toBe(1)
      expect(source.signal?.aborted).toBe(true)
      expect(gear.getCircuitState()).toBe(state)
      expect(gear.canExecute()).toBe(true)
      expect(gear.getFailureBreakdown()).toEqual({})
      expect(await fate(gear.close())).toEqual({ value: undefined })
      expect(clock.pending).toBe(0)
    },
  )

  it('while the opening never settles: neutral, and an iterator that comes later is closed', async () => {
    const opening = Promise.withResolvers<AsyncIterable<string>>()
    const source = new Source()
    const { gear } = setUp([{ stream: () => opening.promise, circuitBreaker: true }])
    const stream = gear.stream('x')
    const pending = stream.next()
    await turns()
    await stream.return!()
    expect(await fate(pending)).toEqual({ value: { done: true, value: undefined } })
    opening.resolve(source)
    await turns()
    expect([source.returned, source.reads]).toEqual([1, 0])
    expect(await fate(gear.close())).toEqual({ value: undefined })
  })

  it('break in for await cancels the upstream and is neutral', async () => {
    const source = new Source()
    const { gear } = setUp([{ ...source.target, classifyPart, circuitBreaker: true }])
    source.part('c1').part('c2')
    // oxlint-disable-next-line no-unreachable-loop
    for await (const part of gear.stream('x')) {
      expect(part).toBe('c1')
      break
    }
    expect(source.returned).toBe(1)
    expect(source.signal?.aborted).toBe(true)
    expect(gear.getFailureBreakdown()).toEqual({})
  })

  it('after the terminal part, with a read pending on a source that never ends: nothing hangs', async () => {
    const source = new Source()
    const { gear } = setUp([{ ...source.target, classifyPart }])
    const stream = gear.stream('x')
    source.part('c').part('END')
    await stream.next()
    await stream.next()
    const pending = stream.next()
    await turns()
    await stream.return!()
    expect(source.returned).toBe(1)
    expect(await fate(pending)).toEqual({ value: { done: true, value: undefined } })
  })

  it("the caller's abort after the terminal part ends a read on a source that never ends", async () => {
    const source = new Source()
    const { gear } = setUp([{ ...source.target, classifyPart }])
    const controller = new AbortController()
    const stream = gear.stream('x', { signal: controller.signal })
    source.part('c').part('END')
    await stream.next()
    await stream.next()
    const pending = stream.next()
    await turns()
    controller.abort('gone')
    expect(await fate(pending)).not.toBe('pending')
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('return')
      },
    ],
    ['rejects', () => Promise.reject(new Error('return'))],
    ['never settles', () => new Promise<never>(() => {})],
  ] as const)('a source whose return() %s cannot hold the reader', async (_name, leave) => {
    const unhandled = await unhandledIn(async () => {
      const iterator = {
        next: () => Promise.resolve({ done: false, value: 'c' } as const),
        return: leave,
      }
      const { gear } = setUp([{ stream: () => ({ [Symbol.asyncIterator]: () => iterator }) }])
      const stream = gear.stream('x')
      await stream.next()
      expect(await fate(stream.return!())).toEqual({ value: { done: true, value: undefined } })
      expect(await fate(gear.close())).toEqual({ value: undefined })
    })
    expect(unhandled).toEqual([])
  })

  it('throw() leaves like return() and rejects with what was thrown', async () => {
    const source = new Source()
    const { gear } = setUp([{ ...source.target, classifyPart }])
    const stream = gear.stream('x')
    source.part('c')
    await stream.next()
    expect(await fate(stream.throw!('mine'))).toEqual({ error: 'mine' })
    expect(source.returned).toBe(1)
    expect(await fate(gear.close())).toEqual({ value: undefined })
  })

  it('a reader that leaves inside an event of its own failing stream ends the call once', async () => {
    const source = new Source()
    const gate = Promise.withResolvers<string>()
    const reports: CallReport[] = []
    let stream: AsyncIterableIterator<string, undefined> | undefined
    const { gear } = setUp(
      [{ ...source.target, invoke: () => gate.promise, classifyPart, circuitBreaker: true }],
      { onEvent: () => void stream?.return?.() },
    )
    stream = gear.stream('x', { report: (report) => reports.push(report) })
    source.part('c').break(broken())
    await stream.next()
    expect(await fate(stream.next())).not.toBe('pending')
    expect(reports).toHaveLength(1)
    const running = gear.call('y')
    const closing = gear.close()
    expect(await fate(closing)).toBe('pending')
    gate.resolve('done')
    await running
    expect(await fate(closing)).toEqual({ value: undefined })
  })
})

describe('limits', () => {
  it('timeoutMs runs until the first part', async () => {
    const source = new Source()
    const { gear, clock } = setUp([
      {
        name: 'a',
        ...source.target,
        classifyPart,
        timeoutMs: 100,
        firstContentTimeoutMs: 500,
        maxRetries: 0,
        circuitBreaker: true,
      },
      { name: 'b', stream: () => parts('b', 'END'), classifyPart },
    ])
    const read = gear.stream('x').next()
    await turns()
    clock.advance(99)
    expect(await fate(read)).toBe('pending')
    clock.advance(1)
    expect(await fate(read)).toEqual({ value: { done: false, value: 'b' } })
    expect(gear.getFailureBreakdown()).toEqual({ timeout: 1 })
    expect(source.returned).toBe(1)
    expect(source.signal?.reason).toBeInstanceOf(AttemptTimeoutError)
  })

  it.each([['k:'], ['p:']])('firstContentTimeoutMs runs on past a part %s', async (part) => {
    const source = new Source()
    const { gear, clock } = setUp([
      {
        name: 'a',
        ...source.target,
        classifyPart,
        timeoutMs: 100,
        firstContentTimeoutMs: 500,
        maxRetries: 0,
        circuitBreaker: true,
      },
      { name: 'b', stream: () => parts('b', 'END'), classifyPart },
    ])
    const read = gear.stream('x').next()
    source.part(part)
    await turns()
    clock.advance(499)
    expect(await fate(read)).toBe('pending')
    clock.advance(1)
    expect(await fate(read)).toEqual({ value: { done: false, value: 'b' } })
    expect(gear.getFailureBreakdown()).toEqual({ first_content_timeout: 1 })
  })

  async function committed() {
    const source = new Source()
    const { gear, clock } = setUp([
      { name: 'a', ...source.target, classifyPart, idleTimeoutMs: 1000, circuitBreaker: true },
    ])
    const stream = gear.stream('x')
    source.part('c1')
    await stream.next()
    return { source, gear, clock, stream }
  }

  it('idleTimeoutMs counts only while a read is pending: a slow reader is not a slow target', async () => {
    const { source, gear, clock, stream } = await committed()
    clock.advance(100_000)
    const read = stream.next()
    await turns()
    clock.advance(999)
    expect(await fate(read)).toBe('pending')
    source.part('c2')
    expect(await fate(read)).toEqual({ value: { done: false, value: 'c2' } })
    const idle = stream.next()
    await turns()
    clock.advance(1000)
    const error = await errorOf(idle)
    expect(error).toBeInstanceOf(StreamInterruptedError)
    expect(error).toMatchObject({ delivered: 2, cause: { limit: 'idle_timeout' } })
    expect(gear.getFailureBreakdown()).toEqual({ idle_timeout: 1 })
    expect(source.returned).toBe(1)
  })

  it('keepalives do not stop the idle limit', async () => {
    const { source, clock, stream } = await committed()
    let read = stream.next()
    for (let i = 0; i < 3; i++) {
      await turns()
      clock.advance(300)
      source.part('k:')
      expect(await fate(read)).toEqual({ value: { done: false, value: 'k:' } })
      read = stream.next()
    }
    await turns()
    clock.advance(100)
    expect(await errorOf(read)).toMatchObject({ cause: { limit: 'idle_timeout' } })
  })

  it("the reader's own time after a keepalive is not counted as the target's idle time", async () => {
    const { source, clock, stream } = await committed()
    const first = stream.next()
    await turns()
    clock.advance(100)
    source.part('k:')
    await first
    // the reader takes its time: no read is pending
    clock.advance(800)
    const second = stream.next()
    await turns()
    clock.advance(200)
    source.part('c2')
    expect(await fate(second)).toEqual({ value: { done: false, value: 'c2' } })
  })

  it('the time between the first read and the first content is not idle time', async () => {
    const source = new Source()
    const { gear, clock } = setUp([{ ...source.target, classifyPart, idleTimeoutMs: 10 }])
    const read = gear.stream('x').next()
    source.part('p:')
    await turns()
    clock.advance(1000)
    source.part('c')
    expect(await fate(read)).toEqual({ value: { done: false, value: 'p:' } })
  })

  // the time that a reader takes is not the target's
  const preamble = () => parts(...Array<string>(64).fill('p:'), 'c1', 'c2', 'END')
  const latency = {
    tripping: { kind: 'latency', windowMs: 600_000, minCalls: 1, slowMs: 1000, slowRatio: 0.5 },
  } as const

  it('a slow reader of a long preamble is nobody’s failure, and no slow target', async () => {
    const { gear, clock } = setUp([{ name: 'a', stream: preamble, classifyPart, circuitBreaker: latency }])
    const stream = gear.stream('x')
    await stream.next()
    clock.advance(40_000)
    expect((await readAll(stream)).read.at(-1)).toBe('END')
    expect(gear.stats().targets[0]!.stats.firstContent.sumMs).toBe(0)
    expect(gear.getCircuitState()).toBe('closed')
  })

  it('waits for the first content add up, preamble or not', async () => {
    const source = new Source()
    const { gear, clock } = setUp([
      { name: 'a', ...source.target, classifyPart, firstContentTimeoutMs: 1000 },
    ])
    const stream = gear.stream('x')
    for (let i = 0; i < 64; i++) source.part('p:')
    for (let i = 0; i < 64; i++) await stream.next()
    for (let i = 0; i < 3; i++) {
      const read = stream.next()
      await turns()
      clock.advance(300)
      source.part('p:')
      await read
      clock.advance(5000)
    }
    const read = stream.next()
    await turns()
    clock.advance(99)
    expect(await fate(read)).toBe('pending')
    clock.advance(1)
    expect(await errorOf(read)).toMatchObject({ cause: { limit: 'first_content_timeout' } })
  })

  it('a stream that breaks is as slow as its first content was', async () => {
    const source = new Source()
    const { gear, clock } = setUp([{ name: 'a', ...source.target, circuitBreaker: latency }])
    const stream = gear.stream('x')
    const first = stream.next()
    source.part('c1')
    await first
    clock.advance(40_000)
    source.break(broken())
    expect(await errorOf(stream.next())).toBeInstanceOf(StreamInterruptedError)
    expect(gear.getFailureBreakdown()).toEqual({ server_error: 1 })
    expect(gear.getCircuitState()).toBe('closed')
  })

  it('delivered says how many parts the reader had when it was told', async () => {
    const source = new Source()
    const { gear, clock } = setUp([{ ...source.target, classifyPart, firstContentTimeoutMs: 1000 }])
    const stream = gear.stream('x')
    for (let i = 0; i < 64; i++) source.part('p:')
    await stream.next()
    const reading = readAll(stream)
    await turns()
    clock.advance(1000)
    const { read, error } = await reading
    expect(read).toHaveLength(63)
    expect(error).toMatchObject({ delivered: 64 })
  })

  it('content renews the lease of a probe: a long healthy stream is not lost', async () => {
    const source = new Source()
    const { gear, clock } = setUp([
      { name: 'a', ...source.target, classifyPart, circuitBreaker: { cooldownMs: 1000, probeLeaseMs: 5000 } },
    ])
    gear.openCircuit()
    clock.advance(1000)
    const stream = gear.stream('x')
    for (let i = 0; i < 10; i++) {
      const read = stream.next()
      await turns()
      clock.advance(4999)
      source.part(`c${i}`)
      await read
      expect(gear.getCircuitState()).toBe('half-open')
    }
    source.part('END')
    await stream.next()
    expect(gear.getCircuitState()).toBe('closed')
  })

  it('a probe whose stream falls silent for its lease is lost: the circuit reopens and its end is fenced', async () => {
    const source = new Source()
    const { gear, clock } = setUp([
      { name: 'a', ...source.target, classifyPart, circuitBreaker: { cooldownMs: 1000, probeLeaseMs: 5000 } },
    ])
    gear.openCircuit()
    clock.advance(1000)
    const stream = gear.stream('x')
    source.part('c')
    await stream.next()
    clock.advance(5000)
    expect(gear.getCircuitState()).toBe('open')
    expect(gear.getStatus()?.lastFailureKind).toBe('probe_lost')
    source.part('END')
    expect(await fate(stream.next())).toEqual({ value: { done: false, value: 'END' } })
    expect(gear.getCircuitState()).toBe('open')
  })

  it('a deadline in the middle ends the stream with DeadlineExceededError, neutral', async () => {
    const source = new Source()
    const { gear, clock } = setUp([{ ...source.target, classifyPart, circuitBreaker: { threshold: 1 } }], {
      deadlineMs: 10_000,
    })
    const stream = gear.stream('x')
    source.part('c')
    await stream.next()
    const read = stream.next()
    await turns()
    clock.advance(10_000)
    expect(await errorOf(read)).toBeInstanceOf(DeadlineExceededError)
    expect(gear.getCircuitState()).toBe('closed')
    expect(source.returned).toBe(1)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it('a deadline without a pending read is told at the next read', async () => {
    const source = new Source()
    const { gear, clock } = setUp([{ ...source.target, classifyPart }])
    const stream = gear.stream('x', { deadlineMs: 10_000 })
    source.part('c')
    await stream.next()
    clock.advance(10_000)
    expect(await errorOf(stream.next())).toBeInstanceOf(DeadlineExceededError)
    expect(await fate(gear.close())).toEqual({ value: undefined })
  })

  it.each([['a string'], [null], [new DOMException('stop', 'AbortError')]])(
    'an abort in the middle gives the reader the reason itself (%s), neutral',
    async (reason) => {
      const source = new Source()
      const { gear } = setUp([{ ...source.target, classifyPart, circuitBreaker: { threshold: 1 } }])
      const controller = new AbortController()
      const stream = gear.stream('x', { signal: controller.signal })
      source.part('c')
      await stream.next()
      const read = stream.next()
      await turns()
      controller.abort(reason)
      expect(await errorOf(read)).toBe(reason)
      expect(source.signal?.reason).toBe(reason)
      expect(source.returned).toBe(1)
      expect(gear.getFailureBreakdown()).toEqual({})
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    },
  )

  it('where no target can stream, the report is told all the same', async () => {
    const { gear } = setUp([{ name: 'a', invoke: () => Promise.resolve('ok') }])
    const told: CallReport[] = []
    const stream = gear.stream('x', { report: (report) => told.push(report) })
    expect(await errorOf(stream.next())).toMatchObject({ code: 'ERR_CONFIG' })
    expect(told).toMatchObject([{ ok: false, attempts: 0 }])
    expect(gear.stats()).toMatchObject({ running: 0, calls: { rejected: 1 } })
  })

  it('aborted before the first read: nothing is sent', async () => {
    const source = new Source()
    const { gear } = setUp([{ ...source.target, classifyPart }])
    const stream = gear.stream('x', { signal: AbortSignal.abort('before') })
    expect(await errorOf(stream.next())).toBe('before')
    expect(source.signal).toBeUndefined()
  })

  it('a late part of an attempt that timed out is dropped', async () => {
    const slow = new Source()
    const { gear, clock } = setUp([
      { name: 'a', ...slow.target, classifyPart, timeoutMs: 100, maxRetries: 0 },
      { name: 'b', stream: () => parts('b', 'END'), classifyPart },
    ])
    const all = readAll(gear.stream('x'))
    await turns()
    clock.advance(100)
    slow.part('too late').end()
    expect(await fate(all)).toEqual({ value: { read: ['b', 'END'] } })
  })

  it('a classifyPart that throws means content, and hurts nobody', async () => {
    const { gear } = setUp([
      {
        stream: () => parts('a', 'b'),
        classifyPart: () => {
          throw new Error('boom')
        },
      },
    ])
    const { read, error } = await readAll(gear.stream('x'))
    expect(read).toEqual(['a', 'b'])
    expect(error).toBeInstanceOf(StreamInterruptedError)
    expect(await fate(gear.close())).toEqual({ value: undefined })
  })

  it('after streams of every kind: no chain, nothing running, no timer', async () => {
    let n = 0
    const { gear, clock } = setUp(
      [
        {
          name: 'a',
          stream: () => {
            const kind = n++ % 6
            if (kind === 0) return new Source()
            if (kind === 1) return parts('c', broken())
            if (kind === 2) return parts(broken())
            if (kind === 3) return parts('p:', 'END')
            if (kind === 4) return new Promise<never>(() => {})
            return parts('c', 'END', 'tail')
          },
          classifyPart,
          timeoutMs: 300,
          circuitBreaker: { threshold: 4, cooldownMs: 500 },
        },
        { name: 'b', stream: () => parts('b', 'END'), classifyPart, circuitBreaker: true },
      ],
      { deadlineMs: 4000, random: () => 0.5 },
    )
    const all = Promise.all(
      Array.from({ length: 120 }, async (_, i) => {
        const controller = new AbortController()
        const stream = gear.stream('x', { signal: controller.signal })
        const reading = readAll(stream)
        if (i % 4 === 0) controller.abort('now')
        if (i % 7 === 0) await stream.return!()
        await reading
      }),
    )
    for (let i = 0; i < 60; i++) {
      await turn()
      clock.advance(100)
    }
    expect(await fate(all)).not.toBe('pending')
    expect(gear.supervisor.getSnapshot().context.chains).toBe(0)
    expect(await fate(gear.close())).toEqual({ value: undefined })
    expect(clock.pending).toBe(0)
  })
})
