import { describe, expect, it } from 'vitest'
import { BEGINNING, hashOf } from '../../src/stores/journal-row.ts'
import { readJournal } from '../../src/stores/read-only-file.ts'
import { entry } from './entry.ts'
import { desk, tamper } from './support.ts'

/** A file of twenty rows that nobody has open. */
function twentyRows() {
  const opened = desk()
  for (let i = 0; i < 20; i++) opened.journal.append(entry(`${i % 3}`))
  opened.journal.close()
  return opened
}

function faultsIn(file: string) {
  using journal = readJournal(file)
  const { ok, faults } = journal.verify()
  expect(ok).toBe(faults.length === 0)
  return faults.map(({ seq, what }) => `row ${seq} ${what}`)
}

const EDITED = /was edited: its content does not match its hash$/

describe('somebody alters the file', () => {
  it('nobody did: nothing is found', () => {
    expect(faultsIn(twentyRows().file)).toEqual([])
  })

  it.each([
    ['at', '1'],
    ['circuit', "'x'"],
    ['circuit', 'NULL'],
    ['type', "'x'"],
    ['from_state', "'open'"],
    ['to_state', "'closed'"],
    ['event', "'{}'"],
    ['saved', "replace(saved, '30000', '30001')"],
    ['saved', 'NULL'],
    ['call', "'x'"],
    ['call', 'NULL'],
    ['prev', "x'00'"],
  ])('an edited %s (%s) shows at its row', (column, value) => {
    const { file } = twentyRows()
    tamper(file, `UPDATE rows SET ${column} = ${value} WHERE seq = 7`)
    const [first, ...others] = faultsIn(file)
    expect(first).toMatch(/^row 7 /)
    expect(first).toMatch(EDITED)
    expect(others.every((fault) => /^row [78] /.test(fault))).toBe(true)
  })

  it('an edited hash shows at its row, and at the one that builds on it', () => {
    const { file } = twentyRows()
    tamper(file, `UPDATE rows SET hash = zeroblob(32) WHERE seq = 7`)
    expect(faultsIn(file)).toEqual([
      expect.stringMatching(/^row 7 was edited/),
      expect.stringMatching(/^row 8 does not join on to row 7/),
    ])
  })

  it('an edit whose own hash was computed anew shows at the next row', () => {
    const { file } = twentyRows()
    const row = {
      seq: 1,
      prev: BEGINNING.hash,
      at: 1,
      circuit: 'x',
      type: 'x',
      from: null,
      to: null,
      event: '{}',
      saved: null,
      call: null,
    }
    tamper(
      file,
      'DELETE FROM rows WHERE seq = 1',
      `INSERT INTO rows VALUES (1, 1, 'x', 'x', NULL, NULL, '{}', NULL, NULL, x'${row.prev}', x'${hashOf(row)}')`,
    )
    expect(faultsIn(file)).toEqual([
      expect.stringMatching(/^row 2 does not join on to row 1: one of the two was replaced/),
    ])
  })

  it.each([
    ['one row in the middle', 'seq = 7', 'row 8 follows row 6: row 7 is missing'],
    ['rows in the middle', 'seq BETWEEN 7 AND 9', 'row 10 follows row 6: rows 7 to 9 are missing'],
    ['the first rows', 'seq < 4', 'row 4 follows row 0: rows 1 to 3 are missing'],
    ['the last row', 'seq = 20', 'row 19 is the last one: row 20 is missing'],
    ['the last rows', 'seq > 16', 'row 16 is the last one: rows 17 to 20 are missing'],
    ['all rows', 'TRUE', 'row 0 is the last one: rows 1 to 20 are missing'],
  ])('%s taken away: it is told', (_what, where, fault) => {
    const { file } = twentyRows()
    tamper(file, `DELETE FROM rows WHERE ${where}`)
    expect(faultsIn(file)).toEqual([fault])
  })

  it('two rows in another order show', () => {
    const { file } = twentyRows()
    const swap = (from: number, to: number) => `UPDATE rows SET seq = ${to} WHERE seq = ${from}`
    tamper(file, swap(7, 99), swap(8, 7), swap(99, 8), `UPDATE sqlite_sequence SET seq = 20`)
    const faults = faultsIn(file)
    expect(faults[0]).toMatch(/^row 7 was edited/)
    expect(faults.some((fault) => fault.startsWith('row 8 was edited'))).toBe(true)
  })

  it('a row put in between shows', () => {
    const { file } = twentyRows()
    tamper(
      file,
      'UPDATE rows SET seq = seq + 1000 WHERE seq > 10',
      'UPDATE rows SET seq = seq - 999 WHERE seq > 1000',
      'INSERT INTO rows SELECT 11, at, circuit, type, from_state, to_state, event, saved, call, prev, hash FROM rows WHERE seq = 5',
    )
    expect(faultsIn(file)[0]).toMatch(/^row 11 was edited/)
  })

  it('rows cut off at the end stay missing when the gateway goes on writing', () => {
    const { file, open } = twentyRows()
    tamper(file, 'DELETE FROM rows WHERE seq > 16')
    const journal = open()
    journal.append(entry('a'))
    expect(journal.verify().faults).toEqual([{ seq: 21, what: 'follows row 16: rows 17 to 20 are missing' }])
  })

  it('a circuit that somebody edited is not gone on from', () => {
    const { file, open, lines } = twentyRows()
    tamper(
      file,
      `UPDATE rows SET saved = replace(saved, '"hold":null', '"hold":{"until":null,"by":"x","reason":""}') WHERE seq = 20`,
    )
    expect(Object.keys(open().latest())).toEqual(['0', '2'])
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        text: "the saved circuit '1' in row 20 of the journal is not used, and the circuit starts closed: it was edited",
      }),
    ])
  })

  it('a damaged row can still be listed', () => {
    const { file } = twentyRows()
    tamper(file, `UPDATE rows SET event = '{"type":', saved = '{"cause":null}' WHERE seq = 20`)
    using journal = readJournal(file)
    expect(journal.rows({ limit: 1 })).toEqual([
      expect.objectContaining({ seq: 20, why: 'this row is damaged' }),
    ])
  })
})
