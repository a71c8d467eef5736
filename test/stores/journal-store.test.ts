import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JournalStore } from '../../src/stores/journal-store.ts'
import { memoryJournal } from '../../src/stores/memory-journal.ts'
import { sqliteJournal } from '../../src/stores/sqlite-journal.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { OPEN, START, entry } from './entry.ts'
import { desk, listeningLogger, scratch } from './support.ts'

interface Kind {
  readonly name: string
  readonly open: (runtime: object) => JournalStore
}

const kinds: Kind[] = [
  { name: 'memory', open: (runtime) => memoryJournal(runtime) },
  { name: 'sqlite', open: (runtime) => sqliteJournal({ file: join(scratch(), 'journal.db'), ...runtime }) },
]

describe.each(kinds)('a journal in $name', ({ open }) => {
  const start = () => {
    const clock = new VirtualClock(START)
    const { lines, logger } = listeningLogger()
    return { clock, lines, journal: open({ clock, logger }) }
  }

  it('gives back what was appended, the newest first, in words and as data', () => {
    using journal = start().journal
    journal.append(entry('a'))
    const by = { by: 'kim', reason: 'the bill' }
    const opened = { type: 'operator.opened', at: START, roll: 0.5, hold: true, ...by } as const
    const held = {
      ...OPEN,
      openUntil: null,
      hold: { until: null, ...by },
      cause: { why: 'operator', ...by },
    } as const
    journal.append(entry('b', { event: opened, saved: held, call: undefined }))
    const [second, first] = journal.rows()
    expect(first).toMatchObject({
      seq: 1,
      at: START,
      circuit: 'a',
      type: 'call.failed',
      from: 'closed',
      to: 'open',
      call: 'call-1',
      saved: OPEN,
      why: 'server_error; next try in 30 s',
    })
    expect(first?.event).toEqual(JSON.parse(JSON.stringify(entry('a').event)))
    expect(second).toMatchObject({
      seq: 2,
      ...by,
      why: 'by hand, by kim ("the bill"), held until somebody ends it',
    })
    expect(second).not.toHaveProperty('call')
    expect(first?.hash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('tells how many calls were refused before a row, where they were counted', () => {
    using journal = start().journal
    const event = { type: 'cooldown.elapsed', at: START } as const
    const elapsed = {
      event,
      from: 'open',
      to: 'half-open',
      saved: { ...OPEN, cause: { why: 'cooldown_over' } },
    } as const
    journal.append(entry('a'))
    for (const refused of [undefined, 0, 1, 117]) journal.append(entry('a', { ...elapsed, refused }))
    expect(
      journal
        .rows()
        .map(({ refused, why }) => [refused, why])
        .toReversed(),
    ).toEqual([
      [undefined, 'server_error; next try in 30 s'],
      [undefined, 'the cooldown is over, probes may pass'],
      [0, 'the cooldown is over, probes may pass'],
      [1, 'the cooldown is over, probes may pass; 1 call was refused before'],
      [117, 'the cooldown is over, probes may pass; 117 calls were refused before'],
    ])
    expect(journal.verify().ok).toBe(true)
  })

  it('filters by circuit, time, type, place and number', () => {
    using journal = start().journal
    const probe = { type: 'probe.requested', at: START, permit: 1 } as const
    for (let i = 0; i < 10; i++) {
      const stays = { event: probe, from: 'half-open', to: 'half-open' } as const
      journal.append(entry(i % 2 ? 'a' : 'b', { at: START + i, ...(i > 6 && stays) }))
    }
    journal.recordConfig('{}')
    const seqs = (filter: Parameters<JournalStore['rows']>[0]) => journal.rows(filter).map(({ seq }) => seq)
    expect(seqs({ circuit: 'a' })).toEqual([10, 8, 6, 4, 2])
    expect(seqs({ circuit: null })).toEqual([11])
    expect(seqs({ circuit: 'c' })).toEqual([])
    expect(seqs({ circuit: 'a', since: START + 3, until: START + 7 })).toEqual([8, 6, 4])
    expect(seqs({ type: 'probe.requested' })).toEqual([10, 9, 8])
    expect(seqs({ type: 'transition', circuit: 'a' })).toEqual([6, 4, 2])
    expect(seqs({ after: 8 })).toEqual([11, 10, 9])
    expect(seqs({ limit: 2 })).toEqual([11, 10])
    expect(seqs({ limit: Infinity })).toHaveLength(11)
    for (const limit of [0, NaN, 1.5]) expect(() => seqs({ limit })).toThrow(RangeError)
  })

  it('gives the hundred newest where nobody says how many', () => {
    using journal = start().journal
    for (let i = 0; i < 120; i++) journal.append(entry('a'))
    expect(journal.rows()).toHaveLength(100)
  })

  it('knows how every circuit last stood, but for those that were forgotten', () => {
    using journal = start().journal
    for (const name of ['a', 'b', '__proto__', 'c']) journal.append(entry(name))
    journal.append(entry('a', { saved: { ...OPEN, state: 'half-open' } }))
    journal.append(entry('b', { event: { type: 'breaker.evicted', at: START } }))
    const latest = journal.latest()
    expect(Object.keys(latest).sort()).toEqual(['__proto__', 'a', 'c'])
    expect(latest['a']).toEqual({ ...OPEN, state: 'half-open' })
    expect(latest['c']).toEqual(OPEN)
  })

  it('leaves out a saved circuit that makes no sense, with a warning', () => {
    const { journal, lines } = start()
    journal.append(entry('a'))
    journal.append(entry('b', { saved: { ...OPEN, openUntil: null } }))
    expect(Object.keys(journal.latest())).toEqual(['a'])
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        text: expect.stringMatching(
          /^the saved circuit 'b' in row 2 .* starts closed: b.openUntil is not what/,
        ),
      }),
    ])
    journal.close()
  })

  it('notes a configuration once, until it is another', () => {
    using journal = start().journal
    for (const text of ['{"a":1}', '{"a":1}', '{"a":2}', '{"a":2}', '{"a":1}']) journal.recordConfig(text)
    const events = journal.rows({ circuit: null }).map(({ event }) => event)
    expect(events.map((event) => 'text' in event && event.text)).toEqual(['{"a":1}', '{"a":2}', '{"a":1}'])
    expect(events[0]).toMatchObject({
      // of the text itself: anybody can compute it
      hash: '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862',
    })
  })

  it('tells listeners after the append; one that throws hurts nobody', () => {
    const { journal, lines } = start()
    const heard: unknown[] = []
    journal.onRow(() => {
      throw new Error('boom')
    })
    const stop = journal.onRow((row) => heard.push([row, journal.rows({ limit: 1 })[0]]))
    journal.append(entry('a'))
    expect(heard).toHaveLength(1)
    expect((heard[0] as unknown[])[0]).toEqual((heard[0] as unknown[])[1])
    expect(lines.map(({ level, text }) => `${level}: ${text}`)).toEqual([
      'error: a listener of the journal threw: boom',
    ])
    stop()
    journal.append(entry('a'))
    expect(heard).toHaveLength(1)
    journal.close()
  })

  it('is whole', () => {
    using journal = start().journal
    expect(journal.verify()).toMatchObject({ ok: true, rows: 0 })
    for (let i = 0; i < 20; i++) journal.append(entry(`${i % 3}`))
    const [last] = journal.rows({ limit: 1 })
    expect(journal.verify()).toEqual({
      ok: true,
      rows: 20,
      prunedUpTo: 0,
      head: { seq: 20, hash: last?.hash },
      faults: [],
    })
    expect(journal.health).toEqual({ state: 'ok' })
  })

  it('takes names and numbers that no database likes, and stays whole', () => {
    const { journal, lines } = start()
    for (const bucket of ['a\0b', '\ud800x', '', "'; DROP TABLE rows; --", '🔌', 'x'.repeat(10_000)])
      journal.append(entry(bucket, { call: bucket }))
    for (const at of [START + 0.5, NaN, Infinity, -1]) journal.append(entry('a', { at }))
    expect(journal.rows({ limit: 4 }).map(({ at }) => at)).toEqual([-1, 0, 0, START + 0.5])
    expect(journal.verify()).toMatchObject({ ok: true, rows: 10 })
    expect(journal.health).toEqual({ state: 'ok' })
    expect(lines).toEqual([])
    journal.close()
  })

  it('refuses rows once it is closed, and closes twice', () => {
    const { journal } = start()
    journal.close()
    journal.close()
    expect(() => journal.append(entry('a'))).toThrow('closed')
  })
})

describe('memoryJournal', () => {
  it('keeps the newest rows and how every circuit last stood', () => {
    const journal = memoryJournal({ capacity: 10 })
    journal.append(entry('early'))
    for (let i = 0; i < 95; i++) journal.append(entry('late'))
    expect(journal.rows().map(({ seq }) => seq)).toEqual([96, 95, 94, 93, 92, 91, 90, 89, 88, 87])
    expect(Object.keys(journal.latest())).toEqual(['early', 'late'])
    expect(journal.verify()).toMatchObject({ ok: true, rows: 10, prunedUpTo: 86 })
  })

  it('refuses what cannot work', () => {
    expect(() => memoryJournal({ capacity: 0 })).toThrow(RangeError)
    expect(() => memoryJournal({ size: 1 } as object)).toThrow('size')
  })
})

describe('sqliteJournal', () => {
  it('refuses what cannot work', () => {
    const file = join(scratch(), 'journal.db')
    expect(() => sqliteJournal({ file, keepDays: NaN })).toThrow(RangeError)
    expect(() => sqliteJournal({ file, maxMegabytes: 0 })).toThrow(RangeError)
    expect(() => sqliteJournal({ file: '' })).toThrow('file')
    expect(() => sqliteJournal({ file, path: 'x' } as never)).toThrow('path')
  })

  it('goes on where it ended', () => {
    const { journal, open } = desk()
    journal.append(entry('a'))
    journal.close()
    const again = open()
    again.append(entry('b'))
    expect(again.rows().map(({ seq, circuit }) => [seq, circuit])).toEqual([
      [2, 'b'],
      [1, 'a'],
    ])
    expect(again.verify()).toMatchObject({ ok: true, rows: 2 })
    expect(Object.keys(again.latest())).toEqual(['a', 'b'])
  })
})
