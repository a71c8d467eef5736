import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { endpoints } from '../../src/gateway/endpoints.ts'
import { SseJudge } from '../../src/gateway/sse/judge.ts'
import type { SseRules } from '../../src/gateway/sse/judge.ts'
import type { SsePart } from '../../src/gateway/sse/parts.ts'
import { SseSplitter } from '../../src/gateway/sse/splitter.ts'
import type { SseBlock } from '../../src/gateway/sse/splitter.ts'
import { endpointShapes } from '../../src/testing/endpoint-shapes.ts'
import { providerErrors } from '../../src/testing/provider-errors.ts'

/** What comes out of a splitter: every event as text. */
function eventsOf(chunks: readonly Buffer[]): string[] {
  const splitter = new SseSplitter()
  const events: string[] = []
  const add = (block: SseBlock | undefined) => {
    let start = 0
    for (const end of block?.ends ?? []) {
      events.push(block!.bytes.toString('utf8', start, end))
      start = end
    }
    if (block !== undefined) expect(start).toBe(block.bytes.length)
  }
  for (const chunk of chunks) add(splitter.push(chunk))
  add(splitter.rest())
  return events
}

function cut(text: string, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text)
  const at = [
    0,
    ...[...places].map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ]
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end))
}

describe('events out of bytes', () => {
  it.each([
    ['LF', 'data: a\n\ndata: b\n\n', ['data: a\n\n', 'data: b\n\n']],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['data: a\r\n\r\n', 'data: b\r\n\r\n']],
    ['CR', 'data: a\r\rdata: b\r\r', ['data: a\r\r', 'data: b\r\r']],
    ['mixed', 'data: a\n\r\ndata: b\r\n\ndata: c\r\r', ['data: a\n\r\n', 'data: b\r\n\n', 'data: c\r\r']],
    ['several lines', ': x\nevent: e\ndata: a\n\n', [': x\nevent: e\ndata: a\n\n']],
    ['no end', 'data: a\n\ndata: b', ['data: a\n\n', 'data: b']],
    ['blank lines', '\n\ndata: a\n\n', ['\n', '\n', 'data: a\n\n']],
    ['nothing', '', []],
  ])('with %s', (_what, text, expected) => {
    expect(eventsOf([Buffer.from(text)])).toEqual(expected)
    if (!text.includes('\r\r'))
      expect(eventsOf([...Buffer.from(text)].map((byte) => Buffer.from([byte])))).toEqual(expected)
  })

  it('an event that ends in CR does not wait for the next one', () => {
    const splitter = new SseSplitter()
    expect(splitter.push(Buffer.from('data: a\r\r'))?.ends).toEqual([9])
    // with CRLF the second half of the line end is waited for
    expect(splitter.push(Buffer.from('data: a\r\n\r'))).toBeUndefined()
    expect(splitter.push(Buffer.from('\n'))?.ends).toEqual([11])
  })

  it('wherever a stream is cut, the events are the same', () => {
    const line = fc.constantFrom('data: {"a":"ü😀"}', ': c', 'event: x', 'data:')
    const ends = fc.constantFrom('\n', '\r\n')
    const streams = fc.array(fc.tuple(fc.array(line, { minLength: 1, maxLength: 3 }), ends), { maxLength: 6 })
    fc.assert(
      fc.property(streams, fc.array(fc.nat(), { maxLength: 12 }), (events, places) => {
        const written = events.map(([lines, end]) => lines.map((text) => text + end).join('') + end)
        expect(eventsOf(cut(written.join(''), places))).toEqual(written)
      }),
    )
  })

  it('takes an event of megabytes in small pieces, and no event without an end', () => {
    const splitter = new SseSplitter()
    const piece = Buffer.alloc(1024, 'x')
    const startedAt = performance.now()
    for (let i = 0; i < 8 * 1024; i++) expect(splitter.push(piece)).toBeUndefined()
    expect(splitter.push(Buffer.from('\n\n'))?.bytes.length).toBe(8 * 1024 * 1024 + 2)
    // copied once and not eight thousand times: that would take 30 s and more
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect(() => {
      for (let i = 0; i < 17 * 1024; i++) splitter.push(piece)
    }).toThrow()
  })
})

const rulesOf = (name: string, rest: Partial<SseRules> = {}): SseRules => ({
  choices: 1,
  refusalIsError: false,
  telling: endpoints.find((endpoint) => endpoint.name === name)!.telling,
  ...rest,
})

/** Kinds of the parts with their bytes, neighbours of one kind joined, and what is wrong in the end. */
function judged(rules: SseRules, chunks: readonly Buffer[]): { parts: [string, string][]; wrong?: unknown } {
  const splitter = new SseSplitter()
  const judge = new SseJudge(rules)
  const parts: [string, string][] = []
  for (const block of [...chunks.map((chunk) => splitter.push(chunk)), splitter.rest()]) {
    if (block === undefined) continue
    const found: SsePart[] = []
    const wrong = judge.judge(block, found)
    for (const { kind, bytes } of found) {
      const last = parts.at(-1)
      if (last?.[0] === kind) last[1] += bytes.toString('latin1')
      else parts.push([kind, bytes.toString('latin1')])
    }
    if (wrong !== undefined) return { parts, wrong: wrong.body }
  }
  return { parts }
}

const streamOf = (name: 'chat' | 'responses' | 'messages', text?: string) =>
  endpointShapes[name].reply({ number: 1, model: 'm', stream: true, includeUsage: true, provider: 'p' }, text)

describe.each(['chat', 'responses', 'messages'] as const)('a stream of %s', (name) => {
  const reply = streamOf(name)
  const kinds = (chunks: readonly string[], rest: Partial<SseRules> = {}) => {
    const { parts, wrong } = judged(
      rulesOf(name, rest),
      chunks.map((chunk) => Buffer.from(chunk)),
    )
    return [...parts.map(([kind]) => kind), ...(wrong === undefined ? [] : ['wrong'])]
  }

  it('is preamble, content, and its end, event by event', () => {
    expect(kinds(reply.preamble).filter((kind) => kind !== 'keepalive')).toEqual(['preamble'])
    expect(kinds(reply.content)).toEqual(['content'])
    const whole = kinds([...reply.preamble, ...reply.content, ...reply.finish])
    expect(whole.filter((kind) => kind !== 'keepalive').slice(0, 3)).toEqual([
      'preamble',
      'content',
      'terminal',
    ])
    // what follows the end is nobody's business
    expect(new Set(whole.slice(whole.indexOf('terminal') + 1))).toEqual(
      name === 'responses' ? new Set() : new Set(['preamble']),
    )
  })

  it('in one piece is content and its end: no part is lost, none is doubled', () => {
    const text = [...reply.preamble, ...reply.content, ...reply.finish].join('')
    const { parts } = judged(rulesOf(name), [Buffer.from(text)])
    expect(parts.map(([, bytes]) => bytes).join('')).toBe(text)
    expect(parts.map(([kind]) => kind).slice(-2)).toEqual(['content', 'terminal'])
  })

  it('with an error inside is wrong from there on', () => {
    const failure = reply.failure(providerErrors.serverError)
    expect(kinds([...reply.preamble, failure]).at(-1)).toBe('wrong')
    const text = [...reply.preamble, ...reply.content, failure, ...reply.content].join('')
    const { parts, wrong } = judged(rulesOf(name), [Buffer.from(text)])
    expect(JSON.stringify(wrong)).toContain('error')
    expect(parts.map(([, bytes]) => bytes).join('')).toBe([...reply.preamble, ...reply.content].join(''))
  })

  it('with an event that is no JSON is wrong, before and after the first content', () => {
    expect(kinds(['data: {"broken\n\n']).at(-1)).toBe('wrong')
    expect(kinds([...reply.content, 'data: {"broken\n\n']).at(-1)).toBe('wrong')
  })

  it('is judged alike with a glance and with care, wherever it is cut', () => {
    const odd = [
      ': comment\n\n',
      'event: ping\ndata: {"type":"ping"}\n\n',
      'data: {"choices":[{"index":0,"delta":{"content":"he said \\"error\\" and \\"finish_reason\\": \\"stop\\""},"finish_reason":null}]}\n\n',
      'data: {"choices":[],"usage":{"total_tokens":1}}\r\n\r\n',
      'id: 1\ndata: {"choices":[]}\n\n',
      reply.failure(providerErrors.overloaded),
    ]
    const event = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...reply.preamble, ...reply.content) },
      { weight: 2, arbitrary: fc.constantFrom(...reply.finish) },
      { weight: 2, arbitrary: fc.constantFrom(...odd) },
    )
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        (events, places) => {
          const text = events.join('')
          const careful = judged(
            rulesOf(name, { telling: /(?:)/g }),
            [...events].map((one) => Buffer.from(one)),
          )
          const quick = judged(rulesOf(name), cut(text, places))
          expect(quick.parts.map(([, bytes]) => bytes).join('')).toBe(
            careful.parts.map(([, bytes]) => bytes).join(''),
          )
          expect(quick.wrong).toEqual(careful.wrong)
          const weighty = ({ parts }: typeof quick) =>
            ['content', 'terminal'].filter((kind) => parts.some(([found]) => found === kind))
          expect(weighty(quick)).toEqual(weighty(careful))
        },
      ),
    )
  })
})

describe('the first event', () => {
  it('may begin with the mark of UTF-8', () => {
    const text = `\u{feff}${streamOf('chat').content[0]}`
    expect(judged(rulesOf('chat'), [Buffer.from(text)]).parts).toEqual([
      ['content', Buffer.from(text).toString('latin1')],
    ])
  })

  it('may hold the whole answer: first it commits, then it completes', () => {
    const text = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
    expect(judged(rulesOf('chat'), [Buffer.from(text)]).parts).toEqual([
      ['content', text],
      ['terminal', ''],
    ])
  })

  it('may end an answer that has no content: it completes and does not commit', () => {
    const text = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    expect(judged(rulesOf('chat'), [Buffer.from(text)]).parts).toEqual([['terminal', text]])
  })

  it('may be a refusal of the Responses API', () => {
    const refusal = 'event: response.refusal.delta\ndata: {"type":"response.refusal.delta","delta":"No"}\n\n'
    expect(judged(rulesOf('responses'), [Buffer.from(refusal)]).parts).toEqual([['content', refusal]])
    expect(judged(rulesOf('responses', { refusalIsError: true }), [Buffer.from(refusal)]).wrong).toBeDefined()
  })
})
