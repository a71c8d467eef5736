import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'

import { Viewer } from '../../src/adapters/inspect/viewer.ts'

/** A connection that takes up what it is given when it is told to. */
function connection() {
  const written: string[] = []
  const response = {
    writableLength: 0,
    destroyed: false,
    on: () => response,
    write(text: string) {
      written.push(text)
      response.writableLength += text.length
    },
    destroy() {
      response.destroyed = true
    },
  }
  return { response, written, viewer: new Viewer(response as unknown as ServerResponse, () => true) }
}

const MEGABYTE = 'x'.repeat(1024 * 1024)

describe('a viewer that does not read', () => {
  it('is held so much for, is told how much it missed, and gets a new picture', () => {
    const { response, written, viewer } = connection()
    viewer.send(MEGABYTE, 10)
    viewer.send('a little more', 3)
    viewer.send('too much', 5)
    viewer.send('too much', 7)
    expect(written).toEqual([MEGABYTE, 'a little more'])
    viewer.catchUp((missed) => `picture, ${missed} missed`)
    expect(written).toHaveLength(2)
    // a part of it is not enough: what is new must come after what is held
    response.writableLength = 100
    viewer.send('out of turn', 1)
    viewer.catchUp((missed) => `picture, ${missed} missed`)
    response.writableLength = 0
    viewer.catchUp((missed) => `picture, ${missed} missed`)
    viewer.send('news', 1)
    viewer.catchUp(() => 'no other picture')
    expect(written.slice(2)).toEqual(['picture, 13 missed', 'news'])
  })

  it('is lost after fifteen seconds, unless it has read everything in between', () => {
    const { response, viewer } = connection()
    expect(viewer.isLost(0)).toBe(false)
    viewer.send('news', 1)
    expect([viewer.isLost(1000), viewer.isLost(15_999)]).toEqual([false, false])
    response.writableLength = 0
    expect(viewer.isLost(16_000)).toBe(false)
    viewer.send('news', 1)
    expect([viewer.isLost(20_000), viewer.isLost(34_999), viewer.isLost(35_000)]).toEqual([
      false,
      false,
      true,
    ])
  })
})
