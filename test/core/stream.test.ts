import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { AttemptTimeoutError, DeadlineExceededError, StreamInterruptedError } from '../../src/index.ts'
import type { CallReport, PartKind } from '../../src/index.ts'
import { errorOf, fate, settle, unhandledIn } from '../support/fate.ts'
import { PartSource } from '../support/part-source.ts'
import { HOSTILE, rig, status } from '../support/rig.ts'
import type { Options, Rig, Target } from '../support/rig.ts'

const KINDS: Record<string, PartKind> = {
  p: 'preamble',
  k: 'keepalive',
  '!': 'error',
  $: 'terminal',
}
const classifyPart = (part: string): PartKind => KINDS[part[0] ?? ''] ?? 'content'

function whole(...parts: string[]): PartSource {
  const source = new PartSource(...parts)
  source.end()
  return source
}

/** A target fed by hand, and one behind it that answers. */
function streams(source: PartSource, first: Partial<Target> = {}, options: Options = {}): Rig {
  return rig(
    [
      {
        name: 'a',
        stream: () => source,
        classifyPart,
        maxRetries: 0,
        circuitBreaker: { threshold: 1, cooldownMs: 1000 },
        ...first,
      },
      { name: 'b', stream: () => whole('from b', '$'), classifyPart },
    ],
    options,
  )
}

async function readAll(stream: AsyncIterable<string>): Promise<string[]> {
  const parts: string[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

const part = (value: string) => ({ value: { done: false, value } })
const DONE = { value: { done: true, value: undefined } }

describe('before the first content', () => {
  it('nothing is sent before the first read', async () => {
    const source = new PartSource('c', '$')
    let asked = 0
    const { gear } = rig([
      {
        stream: () => {
          asked++
          return source
        },
      },
    ])
    const stream = gear.stream('x')
    await settle()
    expect(asked).toBe(0)
    void stream.next()
    expect(await fate(Promise.resolve())).toEqual({ value: undefined })
    expect(asked).toBe(1)
  })

  it('a reader that leaves before the first read has sent nothing', async () => {
    let asked = 0
    const { gear } = rig([{ stream: () => (asked++, new PartSource('c')) }])
    const stream = gear.stream('x')
    expect(await fate(stream.return!())).toEqual(DONE)
    expect(await fate(stream.next())).toEqual(DONE)
    expect(asked).toBe(0)
  })

  it.each([
    ['an error', (s: PartSource) => s.fail(status(503)), 'server_error'],
    ['an error part', (s: PartSource) => s.push('!'), undefined],
    ['an end after keep-alives and preamble', (s: PartSource) => s.end(), 'truncated_stream'],
    ['an end without a terminal part', (s: PartSource) => (s.push('p'), s.end()), 'truncated_stream'],
    ['a terminal part without content', (s: PartSource) => (s.push('p'), s.push('$')), 'empty_response'],
  ] as const)('%s falls over, and nothing of the first target is shown', async (name, feed, failure) => {
    const source = new PartSource('p1', 'k')
    feed(source)
    const { gear } = streams(source)
    expect(await readAll(gear.stream('x'))).toEqual(['from b', '$'])
    // what has ended by itself has nobody to be told
    expect(source.returned).toBe(name.startsWith('an end') ? 0 : 1)
    if (failure !== undefined) expect(gear.getFailureBreakdown()).toEqual({ [failure]: 1 })
    expect(gear.getCircuitState()).toBe('open')
  })

  it('keep-alives and preamble are not content: they neither commit nor end the wait for the first content', async () => {
    const source = new PartSource('p1')
    const { gear, clock } = streams(source, { firstContentTimeoutMs: 100 })
    const read = gear.stream('x').next()
    for (let i = 0; i < 9; i++) {
      source.push('k')
      await settle()
      clock.advance(11)
    }
    expect(await fate(read)).toBe('pending')
    clock.advance(1)
    expect(await fate(read)).toEqual(part('from b'))
    expect(gear.getFailureBreakdown()).toEqual({ first_content_timeout: 1 })
    expect(source.returned).toBe(1)
  })

  it('timeoutMs ends with the first part of any kind', async () => {
    const quiet = new PartSource()
    const first = streams(quiet, { timeoutMs: 50 })
    const read = first.gear.stream('x').next()
    await settle()
    first.clock.advance(50)
    expect(await fate(read)).toEqual(part('from b'))
    expect(first.gear.getFailureBreakdown()).toEqual({ timeout: 1 })

    const greeting = new PartSource('p')
    const second = streams(greeting, { timeoutMs: 50 })
    const later = second.gear.stream('x').next()
    await settle()
    second.clock.advance(5000)
    greeting.push('c')
    await settle()
    expect(await fate(later)).toEqual(part('p'))
  })

  it('sixty-four parts commit, sixty-three do not', async () => {
    for (const [n, found] of [
      [63, ['from b', '$']],
      [64, 'interrupted'],
    ] as const) {
      const source = new PartSource(...Array.from({ length: n }, (_, i) => `p${i}`))
      source.fail(status(500))
      const { gear } = streams(source)
      const read = readAll(gear.stream('x')).catch((error: unknown) =>
        error instanceof StreamInterruptedError ? 'interrupted' : error,
      )
      expect(await fate(read)).toEqual({ value: found })
    }
  })

  it('256 KiB of preamble commit', async () => {
    const source = new PartSource(`p${'x'.repeat(256 * 1024)}`)
    const { gear } = streams(source)
    expect(await fate(gear.stream('x').next())).toMatchObject({ value: { done: false } })
    expect(source.reads).toBe(1)
  })

  it('without classifyPart every part is content and a normal end is terminal', async () => {
    const source = new PartSource('p', 'k', '$')
    source.end()
    const { gear } = rig([{ stream: () => source, circuitBreaker: { threshold: 1 } }])
    expect(await readAll(gear.stream('x'))).toEqual(['p', 'k', '$'])
    expect(gear.getStatus()?.failureCount).toBe(0)
  })

  it('the upstream is read only as fast as the reader reads', async () => {
    const source = new PartSource('c1', 'c2', 'c3', '$')
    const { gear } = streams(source)
    const stream = gear.stream('x')
    await stream.next()
    await settle()
    expect(source.reads).toBe(1)
  })
})

describe('after the first content', () => {
  it('an error reaches the reader as StreamInterruptedError with what was delivered and the cause', async () => {
    const source = new PartSource('p', 'c1', 'c2')
    const cause = status(500)
    source.fail(cause)
    const { gear } = streams(source)
    const stream = gear.stream('x')
    for (const expected of ['p', 'c1', 'c2']) expect(await fate(stream.next())).toEqual(part(expected))
    const error = await errorOf(stream.next())
    expect(error).toBeInstanceOf(StreamInterruptedError)
    expect(error).toMatchObject({ code: 'ERR_STREAM_INTERRUPTED', delivered: 3, target: 'a', cause })
    expect(await fate(stream.next())).toEqual(DONE)
    expect(gear.getCircuitState()).toBe('open')
  })

  it('an end without a terminal part is no clean end', async () => {
    const source = new PartSource('c1')
    source.end()
    const { gear } = streams(source)
    expect(await errorOf(readAll(gear.stream('x')))).toMatchObject({
      code: 'ERR_STREAM_INTERRUPTED',
      delivered: 1,
    })
    expect(gear.getFailureBreakdown()).toEqual({ truncated_stream: 1 })
  })

  it('success is recorded at the terminal part, before the source has ended', async () => {
    const source = new PartSource('c1', '$')
    const reports: CallReport[] = []
    const { gear, clock } = streams(source)
    gear.openCircuit()
    clock.advance(1000)
    const stream = gear.stream('x', { report: (report) => reports.push(report) })
    await stream.next()
    expect(gear.getCircuitState()).toBe('half-open')
    await stream.next()
    expect(gear.getCircuitState()).toBe('closed')
    expect(reports).toMatchObject([{ target: 'a', ok: true, fallbackIndex: 0, attempts: 1 }])
  })

  it.each([
    ['more parts and an end', (s: PartSource) => (s.push('usage'), s.end())],
    ['more parts and an error', (s: PartSource) => (s.push('usage'), s.fail(status(500)))],
    ['more parts and an error part', (s: PartSource) => (s.push('usage'), s.push('!'), s.end())],
  ])('after the terminal part: %s pass through and cannot fail the call', async (_name, feed) => {
    const source = new PartSource('c1', '$')
    feed(source)
    const { gear } = streams(source)
    expect((await readAll(gear.stream('x'))).slice(0, 3)).toEqual(['c1', '$', 'usage'])
    expect(gear.getStatus()?.failureCount).toBe(0)
  })

  it('the idle limit runs only while a read is pending', async () => {
    const source = new PartSource('c1', 'c2')
    const { gear, clock } = streams(source, { idleTimeoutMs: 100 })
    const stream = gear.stream('x')
    await stream.next()
    clock.advance(10_000)
    expect(await fate(stream.next())).toEqual(part('c2'))
    clock.advance(10_000)
    const read = stream.next()
    await settle()
    clock.advance(99)
    expect(await fate(read)).toBe('pending')
    clock.advance(1)
    const error = await errorOf(read)
    expect(error).toMatchObject({ code: 'ERR_STREAM_INTERRUPTED', delivered: 2 })
    expect((error as Error).cause).toBeInstanceOf(AttemptTimeoutError)
    expect(gear.getFailureBreakdown()).toEqual({ idle_timeout: 1 })
    expect(source.returned).toBe(1)
  })

  it('a keep-alive does not start the idle limit anew', async () => {
    const source = new PartSource('c1')
    const { gear, clock } = streams(source, { idleTimeoutMs: 100 })
    const stream = gear.stream('x')
    await stream.next()
    const first = stream.next()
    await settle()
    clock.advance(90)
    source.push('k')
    expect(await fate(first)).toEqual(part('k'))
    const second = stream.next()
    await settle()
    clock.advance(10)
    expect(await errorOf(second)).toMatchObject({ code: 'ERR_STREAM_INTERRUPTED' })
  })

  it('concurrent reads are answered in order', async () => {
    const source = new PartSource('p', 'c1')
    const { gear } = streams(source)
    const stream = gear.stream('x')
    const reads = [stream.next(), stream.next(), stream.next(), stream.next(), stream.next()]
    await settle()
    source.push('c2')
    source.push('$')
    source.end()
    const found = (await Promise.all(reads)).map(({ value }) => value)
    expect(found).toEqual(['p', 'c1', 'c2', '$', undefined])
  })

  it('content renews the lease of a probe: a long healthy stream is not lost', async () => {
    const source = new PartSource('c1')
    const { gear, clock } = streams(source, {
      idleTimeoutMs: Infinity,
      circuitBreaker: { cooldownMs: 1000, probeLeaseMs: 100 },
    })
    gear.openCircuit()
    clock.advance(1000)
    const stream = gear.stream('x')
    await stream.next()
    for (let i = 0; i < 10; i++) {
      clock.advance(90)
      const read = stream.next()
      await settle()
      source.push(`c${i}`)
      await read
    }
    expect(gear.getCircuitState()).toBe('half-open')
    source.push('$')
    await stream.next()
    expect(gear.getCircuitState()).toBe('closed')
  })

  it('keep-alives do not renew it', async () => {
    const source = new PartSource('c1')
    const { gear, clock } = streams(source, {
      idleTimeoutMs: Infinity,
      circuitBreaker: { cooldownMs: 1000, probeLeaseMs: 100 },
    })
    gear.openCircuit()
    clock.advance(1000)
    const stream = gear.stream('x')
    await stream.next()
    for (let i = 0; i < 2; i++) {
      clock.advance(60)
      source.push('k')
      await stream.next()
    }
    expect(gear.getCircuitState()).toBe('open')
    expect(gear.getStatus()?.lastFailureKind).toBe('probe_lost')
  })
})

describe('a reader that leaves', () => {
  it('with a read pending: return() does not wait, the read ends, the upstream is told, nothing is held against it', async () => {
    const source = new PartSource('c1')
    let signal: AbortSignal | undefined
    const { gear, clock } = streams(source, {
      stream: (_request, context) => {
        signal = context.signal
        return source
      },
    })
    gear.openCircuit()
    clock.advance(1000)
    const stream = gear.stream('x')
    await stream.next()
    const pending = stream.next()
    await settle()
    expect(await fate(stream.return!())).toEqual(DONE)
    expect(await fate(pending)).toEqual(DONE)
    expect(await fate(stream.next())).toEqual(DONE)
    expect(source.returned).toBe(1)
    expect(signal?.aborted).toBe(true)
    expect(gear.getStatus()).toMatchObject({ state: 'half-open', probes: { inFlight: 0 } })
  })

  it('break in a for-await loop is the same', async () => {
    const source = new PartSource('c1', 'c2')
    const { gear } = streams(source)
    for await (const got of gear.stream('x')) if (got === 'c1') break
    expect(source.returned).toBe(1)
    expect(gear.getStatus()?.failureCount).toBe(0)
    expect(await fate(gear.close())).toEqual({ value: undefined })
  })

  it('before the first content: the read ends and the call with it', async () => {
    const source = new PartSource('p')
    const { gear, clock } = streams(source)
    const stream = gear.stream('x')
    const read = stream.next()
    await settle()
    void stream.return!()
    expect(await fate(read)).toEqual(DONE)
    expect(source.returned).toBe(1)
    expect(await fate(gear.close())).toEqual({ value: undefined })
    expect(clock.pending).toBe(0)
  })

  it('after the terminal part with a read pending: the read ends', async () => {
    const source = new PartSource('c1', '$')
    const { gear } = streams(source)
    const stream = gear.stream('x')
    await stream.next()
    await stream.next()
    const pending = stream.next()
    await settle()
    expect(await fate(stream.return!())).toEqual(DONE)
    expect(source.returned).toBe(1)
    expect(await fate(pending)).toEqual(DONE)
  })
})

describe('a source that has said its last word but never ends', () => {
  it('does not hang its reader for ever: the idle limit ends the stream cleanly', async () => {
    const source = new PartSource('c1', '$')
    const { gear, clock } = streams(source, { idleTimeoutMs: 100 })
    const stream = gear.stream('x')
    await stream.next()
    await stream.next()
    const read = stream.next()
    await settle()
    clock.advance(100_000)
    expect(await fate(read)).toEqual(DONE)
    expect(source.returned).toBe(1)
    expect(gear.getStatus()?.failureCount).toBe(0)
  })

  it("the caller's abort still ends the read and cancels the upstream", async () => {
    const source = new PartSource('c1', '$')
    const controller = new AbortController()
    const { gear } = streams(source)
    const stream = gear.stream('x', { signal: controller.signal })
    await stream.next()
    await stream.next()
    const read = stream.next()
    await settle()
    controller.abort('bye')
    expect(await fate(read)).not.toBe('pending')
    expect(source.returned).toBe(1)
  })
})

describe('the caller and the clock in the middle', () => {
  it("an abort after the first content reaches the reader as the caller's own reason, neutral", async () => {
    const source = new PartSource('c1')
    const controller = new AbortController()
    const { gear } = streams(source)
    const stream = gear.stream('x', { signal: controller.signal })
    await stream.next()
    const read = stream.next()
    await settle()
    controller.abort('enough')
    expect(await errorOf(read)).toBe('enough')
    expect(source.returned).toBe(1)
    expect(gear.getStatus()?.failureCount).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  it('an abort between two reads is told at the next one', async () => {
    const source = new PartSource('c1', 'c2')
    const controller = new AbortController()
    const { gear } = streams(source)
    const stream = gear.stream('x', { signal: controller.signal })
    await stream.next()
    controller.abort('enough')
    expect(await errorOf(stream.next())).toBe('enough')
  })

  it('a deadline in the middle ends the stream with DeadlineExceededError', async () => {
    const source = new PartSource('c1')
    const { gear, clock } = streams(source)
    const stream = gear.stream('x', { deadlineMs: 500 })
    await stream.next()
    const read = stream.next()
    await settle()
    clock.advance(500)
    expect(await errorOf(read)).toBeInstanceOf(DeadlineExceededError)
    expect(source.returned).toBe(1)
    expect(gear.getStatus()?.failureCount).toBe(0)
  })

  it('a signal that has fired before sends nothing and rejects the first read with its reason', async () => {
    const source = new PartSource('c1')
    const { gear } = streams(source)
    const stream = gear.stream('x', { signal: AbortSignal.abort('no') })
    expect(await errorOf(stream.next())).toBe('no')
    expect(source.reads).toBe(0)
    expect(await fate(stream.next())).toEqual(DONE)
  })

  it('a switchgear that is closed refuses at the first read', async () => {
    const { gear } = streams(new PartSource('c1'))
    const stream = gear.stream('x')
    await gear.close()
    expect(await errorOf(stream.next())).toMatchObject({ code: 'ERR_CLOSED' })
  })
})

describe('sources that misbehave', () => {
  const never = new Promise<never>(() => {})
  const iteratorOf = (iterator: object) =>
    ({ [Symbol.asyncIterator]: () => iterator }) as AsyncIterable<string>
  const boom = () => {
    throw status(500)
  }
  const sources: readonly (readonly [
    string,
    () => AsyncIterable<string> | Promise<AsyncIterable<string>>,
  ])[] = [
    ['stream() throws', boom],
    ['stream() rejects', () => Promise.reject(status(500))],
    ['it is no iterable', () => 5 as never],
    ['it is undefined', () => undefined as never],
    ['[Symbol.asyncIterator]() throws', () => ({ [Symbol.asyncIterator]: boom })],
    ['[Symbol.asyncIterator]() gives nothing', () => ({ [Symbol.asyncIterator]: () => undefined as never })],
    ['next() throws', () => iteratorOf({ next: boom })],
    ['next() gives undefined', () => iteratorOf({ next: () => Promise.resolve(undefined) })],
    ['next() gives null', () => iteratorOf({ next: () => Promise.resolve(null) })],
    ['next() gives a number', () => iteratorOf({ next: () => Promise.resolve(5) })],
    [
      'next() gives a result whose `done` throws',
      () =>
        iteratorOf({
          next: async () => ({
            get done() {
              return boom()
            },
          }),
        }),
    ],
    ['return() throws', () => iteratorOf({ next: boom, return: boom })],
    ['return() rejects', () => iteratorOf({ next: boom, return: () => Promise.reject(status(500)) })],
    ['return() never settles', () => iteratorOf({ next: boom, return: () => never })],
    [
      '`return` is a getter that throws',
      () =>
        iteratorOf({
          next: boom,
          get return() {
            return boom()
          },
        }),
    ],
  ]
  it.each(sources)('%s: it falls over, nothing is left unhandled', async (_name, stream) => {
    const unhandled = await unhandledIn(async () => {
      const { gear, clock } = streams(new PartSource(), { stream })
      const read = gear.stream('x').next()
      await settle()
      clock.advance(60_000)
      expect(await fate(read)).toEqual(part('from b'))
    })
    expect(unhandled).toEqual([])
  })

  it('next() that gives no result after content is an interruption', async () => {
    const unhandled = await unhandledIn(async () => {
      let n = 0
      const next = async () => (n++ === 0 ? { done: false, value: 'c1' } : undefined)
      const { gear } = streams(new PartSource(), { stream: () => iteratorOf({ next }) })
      const stream = gear.stream('x')
      await stream.next()
      expect(await errorOf(stream.next())).toMatchObject({ code: 'ERR_STREAM_INTERRUPTED' })
    })
    expect(unhandled).toEqual([])
  })

  it('a next() and a return() that never settle are ended by the limits', async () => {
    const { gear, clock } = streams(new PartSource(), {
      stream: () => iteratorOf({ next: () => never, return: () => never }),
      timeoutMs: 100,
    })
    const read = gear.stream('x').next()
    await settle()
    clock.advance(100)
    expect(await fate(read)).toEqual(part('from b'))
  })

  it('a stream that opens after its limit is closed again', async () => {
    const source = new PartSource('late')
    const opening = Promise.withResolvers<PartSource>()
    const { gear, clock } = streams(source, { stream: () => opening.promise, timeoutMs: 100 })
    const read = gear.stream('x').next()
    await settle()
    clock.advance(100)
    await read
    opening.resolve(source)
    await settle()
    expect(source.returned).toBe(1)
    expect(source.reads).toBe(0)
  })

  it('a late error of a source that was given up is nobody’s', async () => {
    const unhandled = await unhandledIn(async () => {
      const source = new PartSource('p')
      const { gear, clock } = streams(source, { firstContentTimeoutMs: 100 })
      const read = gear.stream('x').next()
      await settle()
      clock.advance(100)
      expect(await fate(read)).toEqual(part('from b'))
      source.fail(status(500))
      await settle()
      expect(gear.getStatus()).toMatchObject({ failureCount: 1 })
    })
    expect(unhandled).toEqual([])
  })

  it('a classifyPart that throws takes the part for content', async () => {
    const source = new PartSource('c1')
    source.end()
    const { gear } = streams(source, {
      classifyPart: () => {
        throw new Error('boom')
      },
    })
    expect(await fate(gear.stream('x').next())).toEqual(part('c1'))
  })

  it.each(HOSTILE)('it fails with %s, before and after the first content', async (_name, thrown) => {
    const unhandled = await unhandledIn(async () => {
      const early = new PartSource('p')
      early.fail(thrown)
      expect(await fate(streams(early).gear.stream('x').next())).toEqual(part('from b'))

      const late = new PartSource('c1')
      late.fail(thrown)
      const stream = streams(late).gear.stream('x')
      await stream.next()
      const found = await fate(stream.next())
      expect(found).not.toBe('pending')
      expect((found as { error: { code: string } }).error.code).toBe('ERR_STREAM_INTERRUPTED')
    })
    expect(unhandled).toHaveLength(0)
  })
})
