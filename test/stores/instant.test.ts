import { describe, expect, it } from 'vitest'
import { parseInstant } from '../../src/stores/instant.ts'

describe('a date and time in words', () => {
  it.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T12:05', '2026-03-01T12:05:00.000Z'],
    ['2026-03-01T12:05Z', '2026-03-01T12:05:00.000Z'],
    ['2026-03-01 12:05:30', '2026-03-01T12:05:30.000Z'],
    ['2026-03-01 12:05:30 +01:00', '2026-03-01T11:05:30.000Z'],
    ['2026-03-01T12:05:30-0530', '2026-03-01T17:35:30.000Z'],
    [' 2026-03-01t12:05:30z ', '2026-03-01T12:05:30.000Z'],
    ['2023-11-16 18:17:03.9799600', '2023-11-16T18:17:03.979Z'],
    ['2023-11-16T18:17:03.5', '2023-11-16T18:17:03.500Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])("'%s' is %s", (text, iso) => {
    expect(new Date(parseInstant(text)).toISOString()).toBe(iso)
  })

  it.each([
    ['', 'nothing'],
    ['1', 'a number, which JavaScript takes for 2001'],
    ['24', 'no month'],
    ['March 1, 2026', 'a language'],
    ['01/03/2026', 'a day or a month first'],
    ['2026-02-30', 'a day that there is not'],
    ['2026-13-01', 'a month that there is not'],
    ['2026-03-01T25:00', 'an hour that there is not'],
    ['2026-03-01T12:60', 'a minute that there is not'],
    ['2026-03-01T12', 'no minutes'],
    ['2026-03-01T12:05:30.', 'nothing behind the point'],
    ['2026-03-01T12:05 PST', 'a name for a zone'],
    ['2026-03-01T12:05Z and more', 'more than a time'],
  ])("'%s' is none: %s", (text) => {
    expect(parseInstant(text)).toBeNaN()
  })
})
