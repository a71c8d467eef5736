import { describe, expect, it } from 'vitest'

import {
  duration,
  latency,
  moment,
  percent,
  short,
  summary,
  meaning,
  timeLeft,
} from '../../visualizations/dashboard/in-words.ts'
import { circuit } from './fake-admin.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('numbers and times in words', () => {
  it.each([
    [-5, '0 s'],
    [999, '0 s'],
    [59_999, '59 s'],
    [MINUTE, '1 min'],
    [90_500, '1 min 30 s'],
    [HOUR, '1 h'],
    [26 * HOUR, '1 d 2 h'],
  ])('%i ms have lasted %s', (ms, words) => {
    expect(duration(ms)).toBe(words)
  })

  it.each([
    [1, '1 s'],
    [1000, '1 s'],
    [1001, '2 s'],
    [59_001, '1 min'],
    [9 * MINUTE + 1, '9 min 1 s'],
    [10 * MINUTE + 1, '11 min'],
  ])('%i ms are left: %s, never less than there is', (ms, words) => {
    expect(timeLeft(ms)).toBe(words)
  })

  it('tells latencies, shares and large counts', () => {
    expect([null, 38, 999, 1500, 130_000].map(latency)).toEqual([
      '–',
      '38 ms',
      '999 ms',
      '1.5 s',
      '2 min 10 s',
    ])
    expect(percent(0.6251)).toBe('62.5 %')
    expect([0, 999, 12_034].map(short)).toEqual(['0', '999', '12K'])
  })

  it('names the day of a moment that is not of today', () => {
    const now = new Date(2026, 10, 30, 12, 0, 0).getTime()
    expect(moment(now - 3000, now)).toBe('11:59:57')
    expect(moment(now - 24 * HOUR, now)).toBe('29 Nov 2026, 12:00:00')
    expect(moment(now - 3000, now, true)).toBe('11:59')
  })

  it('tells the whole board in one sentence', () => {
    const [a, b] = [circuit('a'), circuit('b', { state: 'degraded' })]
    const open = circuit('c', { state: 'open' })
    const trying = circuit('d', { state: 'half-open' })
    expect(summary([])).toBe('No circuit has been used yet.')
    expect(summary([a])).toBe('The one circuit is closed: calls flow.')
    expect(summary([a, b])).toBe('All 2 circuits are closed: calls flow; 1 near the threshold.')
    expect(summary([a, b, open])).toBe('1 of 3 circuits is open: calls refused.')
    expect(summary([a, open, trying])).toBe('1 of 3 circuits is open: calls refused; 1 on trial.')
    expect(summary([a, trying])).toBe('1 of 2 circuits is on trial; none is open.')
  })

  it('tells apart what is only observed', () => {
    const a = circuit('a')
    const open = circuit('b', { state: 'open' })
    const watched = circuit('c', { state: 'open', observed: true })
    const tried = circuit('d', { state: 'half-open', observed: true })
    expect(summary([watched])).toBe('No circuit refuses a call; 1 would, were it not only observed.')
    expect(summary([a, watched, tried])).toBe(
      'No circuit refuses a call; 2 would, were they not only observed.',
    )
    expect(summary([a, open, watched])).toBe(
      '1 of 3 circuits is open: calls refused; 1 more would be, were it not only observed.',
    )
    expect([a, open, watched, tried].map(meaning)).toEqual([
      'calls flow',
      'calls refused',
      'only observed: nothing is refused',
      'only observed: nothing is refused',
    ])
    expect(meaning({ ...a, observed: true })).toBe('calls flow, only observed')
  })
})
