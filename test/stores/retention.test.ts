import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readJournal } from '../../src/stores/read-only-file.ts'
import { START, entry } from './entry.ts'
import { DAY_MS, desk, tamper } from './support.ts'
import type { Desk } from './support.ts'

const LONG_AGO = START - 40 * DAY_MS

const size = ({ file }: Desk) => statSync(file).size

/** Days of rows up to now, and then time for retention to look after them. */
function days(at: Desk, count: number, perDay = 500): void {
  for (let day = count; day > 0; day--) {
    const day0 = at.clock.now() - day * DAY_MS
    for (let i = 0; i < perDay; i++) at.journal.append(entry(`c${i % 7}`, { at: day0 + i }))
  }
  at.clock.advance(120_000)
}

describe('retention', () => {
  it('drops rows that are too old, within a day, and nothing else', () => {
    const at = desk({ keepDays: 3 })
    days(at, 10)
    const rows = at.journal.rows({ limit: Infinity }).filter(({ circuit }) => circuit !== null)
    const oldest = at.clock.now() - 4 * DAY_MS
    expect(rows.every((row) => row.at >= oldest)).toBe(true)
    expect(rows.filter((row) => row.at >= at.clock.now() - 3 * DAY_MS)).toHaveLength(1000)
  })

  it('is no tampering: what was dropped is written down, and the chain joins on to it', () => {
    const at = desk({ keepDays: 3 })
    days(at, 10)
    const { ok, prunedUpTo, faults, head } = at.journal.verify()
    expect(faults).toEqual([])
    expect([ok, prunedUpTo > 2500]).toEqual([true, true])
    const [pruned] = at.journal.rows({ type: 'journal.pruned', limit: 1 })
    expect(pruned).toMatchObject({ circuit: null, why: `retention dropped the rows up to ${prunedUpTo}` })
    at.journal.close()
    expect(at.open().verify().head).toEqual(head)
  })

  it('keeps how every circuit last stood, however long ago', () => {
    const at = desk({ keepDays: 2 })
    at.journal.append(entry('quiet', { at: LONG_AGO }))
    at.journal.append(entry('gone', { at: LONG_AGO }))
    at.journal.append(entry('gone', { at: LONG_AGO, event: { type: 'breaker.evicted', at: LONG_AGO } }))
    at.journal.recordConfig('{"first":true}')
    days(at, 8)
    expect(Object.keys(at.journal.latest()).sort()).toEqual([
      'c0',
      'c1',
      'c2',
      'c3',
      'c4',
      'c5',
      'c6',
      'quiet',
    ])
    const seqs = (circuit: string | null) =>
      at.journal.rows({ circuit, limit: Infinity }).map(({ seq }) => seq)
    expect(seqs('quiet')).toEqual([1])
    expect(seqs('gone')).toEqual([])
    expect(seqs(null)).toContain(4)
    expect(at.journal.verify().ok).toBe(true)
  })

  it('lets what it kept go once the circuit has moved on', () => {
    const at = desk({ keepDays: 2 })
    at.journal.append(entry('quiet', { at: LONG_AGO }))
    days(at, 5)
    expect(at.journal.rows({ circuit: 'quiet' }).map(({ seq }) => seq)).toEqual([1])
    at.journal.append(entry('quiet', { at: at.clock.now() }))
    at.journal.close()
    at.clock.advance(10 * DAY_MS)
    const journal = at.open()
    days({ ...at, journal }, 5)
    expect(journal.rows({ circuit: 'quiet' }).map(({ seq }) => seq > 2000)).toEqual([true])
    expect(journal.verify().ok).toBe(true)
  })

  it('is not held up by a row of a clock that was wrong', () => {
    const at = desk({ keepDays: 3 })
    at.journal.append(entry('a', { at: START + 4000 * DAY_MS }))
    days(at, 8)
    expect(at.journal.verify()).toMatchObject({ ok: true, prunedUpTo: 3001 })
  })

  it('keeps the file within its size, and whole', () => {
    const at = desk({ maxMegabytes: 1, keepDays: Infinity })
    for (let i = 0; i < 8; i++) {
      days(at, 1, 512)
    }
    expect(at.journal.health).toEqual({ state: 'ok' })
    expect(size(at)).toBeLessThan(1.1 * 1_048_576)
    expect(at.journal.rows({ limit: Infinity }).length).toBeGreaterThan(800)
    expect(at.journal.verify()).toMatchObject({ ok: true, prunedUpTo: expect.any(Number) })
  })

  it('makes a file smaller that may be smaller from now on', () => {
    const at = desk({ keepDays: Infinity })
    days(at, 1, 4000)
    at.journal.close()
    expect(size(at)).toBeGreaterThan(2_000_000)
    const smaller = at.open({ maxMegabytes: 1 })
    at.clock.advance(120_000)
    expect(smaller.verify().ok).toBe(true)
    smaller.close()
    expect(size(at)).toBeLessThan(1_100_000)
  })

  it('does a bounded piece of work at a time', () => {
    const at = desk({ keepDays: 1 })
    for (let i = 0; i < 3000; i++) at.journal.append(entry(`c${i % 7}`, { at: START - 3 * DAY_MS }))
    const left = () => at.journal.rows({ limit: Infinity, circuit: 'c0' }).length
    const seen = [left()]
    while (at.clock.now() < START + 1000) {
      at.clock.set(at.clock.nextAt ?? Infinity)
      seen.push(left())
    }
    expect(seen[0]).toBe(429)
    expect(Math.min(...seen)).toBe(1)
    for (const [i, n] of seen.entries()) expect((seen[i - 1] ?? n) - n).toBeLessThanOrEqual(75)
  })

  it('does not cover up what was altered before it came', () => {
    const at = desk({ keepDays: 3 })
    days(at, 1)
    at.journal.close()
    tamper(at.file, 'DELETE FROM rows WHERE seq = 400')
    const again = at.open()
    expect(again.verify().ok).toBe(false)
  })

  it('dropping rows and saying that retention did it shows', () => {
    const at = desk({ keepDays: 3 })
    days(at, 8)
    at.journal.close()
    const { prunedUpTo } = readJournal(at.file).verify()
    const upTo = prunedUpTo + 10
    tamper(
      at.file,
      `DELETE FROM rows WHERE seq <= ${upTo}`,
      `UPDATE rows SET event = json_set(event, '$.upTo', ${upTo}) WHERE type = 'journal.pruned'`,
    )
    using journal = readJournal(at.file)
    expect(journal.verify().faults.map(({ what }) => what)).toContainEqual(
      expect.stringContaining('was edited'),
    )
  })

  it('a circuit that retention has kept cannot be taken away unseen', () => {
    const at = desk({ keepDays: 2 })
    at.journal.append(entry('quiet', { at: LONG_AGO }))
    days(at, 8)
    at.journal.close()
    tamper(at.file, `DELETE FROM rows WHERE circuit = 'quiet'`)
    using journal = readJournal(at.file)
    expect(journal.verify().faults).toEqual([
      {
        seq: expect.any(Number),
        what: expect.stringContaining('a row that it left standing was taken away'),
      },
    ])
  })
})
