import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { SseScanner } from '../../src/adapters/fetch/sse-scanner.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function scan(chunks: readonly Uint8Array[], longest?: number): [string, string | undefined][] {
  const events: [string, string | undefined][] = []
  const scanner = new SseScanner(
    ({ name, data, oversized }) => events.push([name, oversized ? '(oversized)' : data]),
    longest,
  )
  for (const chunk of chunks) scanner.push(chunk)
  scanner.end()
  return events
}

/** Cuts the bytes at the given places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [
    0,
    ...[...places].map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ]
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

describe('the scanner of event streams', () => {
  it.each([
    ['one line of data', 'data: a\n\n', [['', 'a']]],
    ['a name', 'event: ping\ndata: {}\n\n', [['ping', '{}']]],
    ['several lines of data', 'data: a\ndata:b\ndata\n\n', [['', 'a\nb\n']]],
    ['only the first blank of a value', 'data:  a\n\n', [['', ' a']]],
    [
      'CRLF',
      'data: a\r\n\r\ndata: b\r\n\r\n',
      [
        ['', 'a'],
        ['', 'b'],
      ],
    ],
    [
      'CR',
      'data: a\r\rdata: b\r\r',
      [
        ['', 'a'],
        ['', 'b'],
      ],
    ],
    ['comments', ': keep-alive\n\n:\n\ndata: a\n: in between\ndata: b\n\n', [['', 'a\nb']]],
    ['other fields', 'id: 7\nretry: 10\nnothing\ndata: a\n\n', [['', 'a']]],
    ['a byte order mark', '\uFEFFdata: a\n\n', [['', 'a']]],
    [
      'a last event without a blank line',
      'data: a\n\ndata: [DONE]',
      [
        ['', 'a'],
        ['', '[DONE]'],
      ],
    ],
    ['nothing', '', []],
    ['blank lines only', '\n\n\r\n', []],
  ])('reads %s', (_what, text, events) => {
    expect(scan([encode(text)])).toEqual(events)
    expect(scan([...encode(text)].map((byte) => Uint8Array.of(byte)))).toEqual(events)
  })

  it('gives the same events however the bytes are cut, and leaves the bytes alone', () => {
    const line = fc.oneof(
      fc.constantFrom('data: {"a":1}', 'data', 'event: x', ': comment', '', 'data: ü€😀', 'id: 1'),
      fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, '')}`),
    )
    const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 20 })
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (lines, places) => {
        const bytes = encode(lines.flat().join(''))
        const before = bytes.slice()
        expect(scan(cut(bytes, places))).toEqual(scan([bytes]))
        expect(bytes).toEqual(before)
      }),
      { numRuns: 500 },
    )
  })

  it('reads a stream back that was written from events', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 }).map((s) => s.replaceAll(/[\r\n]/g, ' '))
    const event = fc.record({ name: text, lines: fc.array(text, { minLength: 1, maxLength: 3 }) })
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        (events, places) => {
          const wire = events.map(
            ({ name, lines }) => `event: ${name}\n${lines.map((one) => `data: ${one}\n`).join('')}\n`,
          )
          const expected = events.map(({ name, lines }) => [name, lines.join('\n')])
          expect(scan(cut(encode(`: start\n\n${wire.join('')}`), places))).toEqual(expected)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('drops data that is too long and finds the next event', () => {
    const text = `event: image\ndata: ${'x'.repeat(50)}\ndata: ${'y'.repeat(50)}\n\ndata: a\n\n`
    const events = [
      ['image', '(oversized)'],
      ['', 'a'],
    ]
    expect(scan([encode(text)], 40)).toEqual(events)
    expect(
      scan(
        [...encode(text)].map((byte) => Uint8Array.of(byte)),
        40,
      ),
    ).toEqual(events)
  })
})
