import { describe, expect, it } from 'vitest'

import { SseReader } from '../../visualizations/dashboard/sse-reader.ts'

const whole =
  'retry: 2000\n\n: keep-alive\n\nevent: circuits\ndata: {"a":1}\n\nevent: transition\r\ndata: one\r\ndata: two\r\n\r\n:\n\ndata:bare\n\n'
const events = [
  { event: 'circuits', data: '{"a":1}' },
  { event: 'transition', data: 'one\ntwo' },
  { event: 'message', data: 'bare' },
]

describe('the reader of server-sent events', () => {
  it('reads events and reads over comments', () => {
    expect(new SseReader().push(whole)).toEqual(events)
  })

  it('reads the same wherever the text is cut', () => {
    for (let cut = 0; cut <= whole.length; cut++) {
      const reader = new SseReader()
      expect([...reader.push(whole.slice(0, cut)), ...reader.push(whole.slice(cut))]).toEqual(events)
    }
  })

  it('reads the same one character at a time', () => {
    const reader = new SseReader()
    expect([...whole].flatMap((character) => reader.push(character))).toEqual(events)
  })

  it('keeps back what is not complete', () => {
    const reader = new SseReader()
    expect(reader.push('event: circuits\ndata: {')).toEqual([])
    expect(reader.push('}\n')).toEqual([])
    expect(reader.push('\n')).toEqual([{ event: 'circuits', data: '{}' }])
  })
})
