import { describe, expect, it } from 'vitest'

import type { JournalRowView } from '../../src/gateway/admin/wire.ts'
import {
  changeInWords,
  entryOfRow,
  entryOfTransition,
  merge,
} from '../../visualizations/dashboard/timeline-entry.ts'

const row = (traits: Partial<JournalRowView>): JournalRowView => ({
  seq: 1,
  at: 1000,
  circuit: 'a',
  type: 'call.failed',
  from: 'closed',
  to: 'open',
  event: { at: 1000 },
  why: '5 failures in a row',
  hash: '',
  ...traits,
})
const heard = (at: number, to: 'open' | 'half-open' = 'open') =>
  entryOfTransition({
    ...{ circuit: 'a', from: 'closed', to, at, openUntil: at + 30_000 },
    ...{ why: '5 failures in a row', told: '5 failures in a row; next try in 30 s' },
  })

describe('the timeline', () => {
  it('shows what changed a state, what an operator did and when a hold was over, nothing else', () => {
    expect(entryOfRow(row({}))).toHaveLength(1)
    expect(entryOfRow(row({ from: 'open', type: 'operator.opened', by: 'alice' }))).toHaveLength(1)
    expect(entryOfRow(row({ from: 'closed', to: 'closed', type: 'hold.ended' }))).toHaveLength(1)
    expect(entryOfRow(row({ from: 'half-open', to: 'half-open', type: 'probe.requested' }))).toEqual([])
    expect(entryOfRow(row({ circuit: null, from: null, to: null, type: 'config.recorded' }))).toEqual([])
  })

  it('leaves an operator in his own words, and reads the end of a hold on the clock of the wall', () => {
    const event = { at: 400, hold: true, until: 900 }
    const [held] = entryOfRow(row({ type: 'operator.opened', by: 'alice', reason: 'down', event }))
    expect(held).toMatchObject({ why: '', by: 'alice', reason: 'down', heldUntil: 1500 })
    const [forEver] = entryOfRow(
      row({ type: 'operator.opened', by: 'alice', event: { at: 1000, hold: true } }),
    )
    expect(forEver?.heldUntil).toBeNull()
  })

  it('tells once what the journal and the live events both tell, the newest first', () => {
    const told = entryOfRow(row({}))
    const all = merge(told, [heard(1002), heard(3000, 'half-open')])
    expect(all.map(({ at, to }) => [at, to])).toEqual([
      [3000, 'half-open'],
      [1000, 'open'],
    ])
  })

  it('tells what is heard in the words of the journal', () => {
    expect(heard(1000).why).toBe('5 failures in a row; next try in 30 s')
  })

  it('keeps two transitions apart that only look alike', () => {
    expect(merge(entryOfRow(row({})), [heard(9000)])).toHaveLength(2)
  })

  it('keeps the last 500', () => {
    const rows = Array.from({ length: 600 }, (_, i) => row({ seq: i, at: i * 1000 })).flatMap(entryOfRow)
    const kept = merge(rows, [])
    expect([kept.length, kept[0]?.at]).toEqual([500, 599_000])
  })

  it('says what happened', () => {
    const words = (traits: Partial<JournalRowView>) => entryOfRow(row(traits)).map(changeInWords).join()
    expect(words({})).toBe('closed → open')
    const byHand = { from: 'open', type: 'operator.opened', by: 'alice' } as const
    expect(words(byHand)).toBe('open again')
    expect(words({ ...byHand, event: { hold: true } })).toBe('held open')
    expect(words({ to: 'closed', type: 'hold.ended' })).toBe('closed, hold over')
  })
})
