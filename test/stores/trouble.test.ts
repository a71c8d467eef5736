import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, vi } from 'vitest'
import { sqliteJournal } from '../../src/stores/sqlite-journal.ts'
import { OPEN, START, entry } from './entry.ts'
import { desk, scratch, tamper } from './support.ts'

const RETRY_MS = 10_000

/** A journal whose file is in trouble from the start. */
function troubled(file: string, options: Parameters<typeof desk>[0] = {}) {
  const at = desk({ file, ...options })
  const { health } = at.journal
  return { ...at, reason: health.state === 'degraded' ? health.reason : 'none' }
}

describe('a file that cannot be used', () => {
  const cases: [string, (file: string) => void, RegExp][] = [
    [
      'a text',
      (file) => writeFileSync(file, 'a text\n'.repeat(1000)),
      /no SQLite database and is left untouched/,
    ],
    ['a directory', (file) => mkdirSync(file), /neither opened nor created/],
    [
      'in a directory that is not there',
      (file) => rmSync(join(file, '..'), { recursive: true }),
      /neither opened nor created/,
    ],
    [
      'the database of another program',
      (file) => tamper(file, 'CREATE TABLE users (name TEXT)'),
      /database of another program/,
    ],
    [
      'written by a newer version',
      (file) => {
        desk({ file }).journal.close()
        tamper(file, 'PRAGMA user_version = 2')
      },
      /another version of switchgear \(format 2; this one knows 1\)/,
    ],
    [
      'damaged',
      (file) => {
        desk({ file }).journal.close()
        const bytes = readFileSync(file)
        writeFileSync(file, bytes.fill(0xff, 100, 8000))
      },
      /it is damaged; move it away/,
    ],
  ]

  it.each(cases)(
    '%s: it is told once, loudly, everything goes on in memory, and the file stays as it is',
    (_what, prepare, why) => {
      const file = join(scratch(), 'journal.db')
      prepare(file)
      const read = () => {
        try {
          return readFileSync(file)
        } catch {
          return undefined
        }
      }
      const before = read()
      const { journal, lines, clock, reason } = troubled(file)
      expect(reason).toMatch(why)
      expect(journal.latest()).toEqual({})
      journal.append(entry('a'))
      clock.advance(10 * RETRY_MS)
      journal.append(entry('b'))
      expect(journal.rows().map(({ circuit }) => circuit)).toEqual(['b', 'a'])
      expect(Object.keys(journal.latest())).toEqual(['a', 'b'])
      expect(journal.verify().ok).toBe(false)
      expect(journal.health).toMatchObject({ state: 'degraded', since: START, waiting: 2, lost: 0 })
      expect(lines.map(({ level }) => level)).toEqual(['error'])
      expect(lines[0]?.text).toContain(file)
      expect(lines[0]?.text).toContain('kept in memory only')
      journal.close()
      expect(lines.at(-1)?.text).toContain('2 rows are lost')
      expect(read()).toEqual(before)
    },
  )

  it('is taken again once it can be used, with everything that memory holds', () => {
    const file = join(scratch(), 'journal.db')
    writeFileSync(file, 'a text\n'.repeat(1000))
    const { journal, lines, clock, open } = troubled(file)
    for (const name of ['a', 'b', 'a']) journal.append(entry(name))
    rmSync(file)
    clock.advance(RETRY_MS)
    expect(journal.health).toEqual({ state: 'ok' })
    expect(lines.map(({ level, text }) => [level, text.slice(-39)])).toEqual([
      ['error', expect.any(String)],
      ['warn', expect.stringContaining('in use again: 3 rows written, 0 lost')],
    ])
    journal.append(entry('c'))
    journal.close()
    const again = open()
    const rows = again.rows()
    expect(rows.map(({ circuit, type }) => circuit ?? type)).toEqual([
      'c',
      'a',
      'b',
      'a',
      'journal.interrupted',
    ])
    expect(rows.at(-1)).toMatchObject({
      event: { since: START, lost: 0 },
      why: expect.stringMatching(/^what follows could not be written in time: it is no SQLite database/),
    })
    expect(again.verify().ok).toBe(true)
  })

  it('a second journal on one file is refused, restores what the first wrote, and takes over when that ends', () => {
    const first = desk()
    first.journal.append(entry('a'))
    const second = first.open()
    expect(second.health).toMatchObject({
      state: 'degraded',
      reason: expect.stringContaining('another switchgear writes it'),
    })
    expect(second.latest()).toEqual({ a: OPEN })
    second.append(entry('b'))
    first.journal.append(entry('c'))
    first.clock.advance(3 * RETRY_MS)
    expect(second.health).toMatchObject({ waiting: 1 })
    expect(first.journal.health).toEqual({ state: 'ok' })
    first.journal.close()
    first.clock.advance(RETRY_MS)
    expect(second.health).toEqual({ state: 'ok' })
    expect(second.rows().map(({ circuit }) => circuit)).toEqual(['b', null, 'c', 'a'])
    expect(second.verify().ok).toBe(true)
    expect(first.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  it('that another program locks: goes on in memory, and comes back', () => {
    const { file, journal, clock, lines } = desk()
    journal.append(entry('a'))
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    journal.append(entry('b'))
    journal.append(entry('c'))
    expect(journal.health).toMatchObject({
      state: 'degraded',
      reason: 'another program has locked it',
      waiting: 2,
    })
    clock.advance(3 * RETRY_MS)
    expect(journal.health.state).toBe('degraded')
    expect(Object.keys(journal.latest())).toEqual(['a', 'b', 'c'])
    other.exec('COMMIT')
    other.close()
    clock.advance(RETRY_MS)
    expect(journal.health).toEqual({ state: 'ok' })
    expect(journal.rows().map(({ circuit }) => circuit)).toEqual(['c', 'b', null, 'a'])
    expect(journal.verify().ok).toBe(true)
    expect(lines.map(({ level }) => level)).toEqual(['error', 'warn'])
  })

  it('that is full: goes on in memory, makes room, and comes back', () => {
    const { journal, clock, lines } = desk({ maxMegabytes: 0.25 })
    let rows = 0
    // no timer fires: retention has no chance to keep up
    while (journal.health.state === 'ok' && rows < 10_000) journal.append(entry(`c${rows++ % 5}`))
    expect(journal.health).toMatchObject({
      state: 'degraded',
      reason: expect.stringContaining('is full'),
      waiting: 1,
    })
    clock.advance(2 * RETRY_MS)
    expect(journal.health).toEqual({ state: 'ok' })
    expect(journal.verify()).toMatchObject({ ok: true, prunedUpTo: expect.any(Number) })
    expect(journal.rows({ circuit: null, type: 'journal.interrupted' })).toHaveLength(1)
    expect(Object.keys(journal.latest()).sort()).toEqual(['c0', 'c1', 'c2', 'c3', 'c4'])
    expect(lines.map(({ level }) => level)).toEqual(['error', 'warn'])
  })

  it('that was removed while it was written: a new one is begun, with how every circuit stands', () => {
    const { file, journal, clock, open } = desk()
    journal.append(entry('a'))
    for (const more of ['', '-wal', '-shm']) rmSync(file + more)
    clock.advance(60_000)
    expect(journal.health).toMatchObject({
      state: 'degraded',
      reason: expect.stringContaining('was removed'),
    })
    journal.append(entry('b'))
    clock.advance(RETRY_MS)
    expect(journal.health).toEqual({ state: 'ok' })
    journal.close()
    const again = open()
    expect(Object.keys(again.latest())).toEqual(['a', 'b'])
    expect(again.rows().map(({ circuit, type }) => [circuit, type])).toEqual([
      ['b', 'call.failed'],
      ['a', 'circuit.saved'],
      [null, 'journal.interrupted'],
    ])
  })

  it('that is damaged while it is written: reading it throws nothing, and everything goes on', () => {
    const { file, journal, clock, open, lines } = desk()
    for (let i = 0; i < 6000; i++) journal.append(entry(`c${i % 50}`))
    journal.close()
    const again = open()
    const bytes = openSync(file, 'r+')
    writeSync(bytes, Buffer.alloc(2_000_000, 0xff), 0, 2_000_000, 8192)
    closeSync(bytes)
    again.append(entry('a'))
    again.rows({ limit: Infinity })
    expect(again.health).toMatchObject({
      state: 'degraded',
      reason: expect.stringContaining('it is damaged'),
    })
    expect(again.verify()).toMatchObject({ ok: false })
    again.append(entry('b'))
    clock.advance(60_000)
    expect(Object.keys(again.latest())).toHaveLength(52)
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1)
    again.close()
    expect(Object.keys(open().latest())).toEqual([])
  })

  it('for too long: memory keeps the newest rows and how every circuit stands, and says what is lost', () => {
    const file = join(scratch(), 'journal.db')
    writeFileSync(file, 'a text\n')
    const { journal, clock, open } = troubled(file)
    journal.append(entry('early'))
    for (let i = 0; i < 5100; i++) journal.append(entry('late'))
    expect(journal.health).toMatchObject({ waiting: 5000, lost: 101 })
    rmSync(file)
    clock.advance(RETRY_MS)
    journal.close()
    const again = open()
    expect(Object.keys(again.latest()).sort()).toEqual(['early', 'late'])
    expect(again.rows({ circuit: null })[0]).toMatchObject({
      event: { lost: 101 },
      why: expect.stringMatching(/; 101 rows lost$/),
    })
  })

  it('is written at the end, where it can be used again by then', () => {
    const first = desk()
    const second = first.open()
    second.append(entry('b'))
    first.journal.close()
    second.close()
    expect(first.lines.at(-1)?.text).toContain('in use again: 1 rows written')
    expect(Object.keys(first.open().latest())).toEqual(['b'])
  })

  it('warns the process where nobody gave a logger', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    sqliteJournal({ file: join(scratch(), 'nowhere', 'journal.db') }).close()
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('cannot be used'), 'SwitchgearJournalWarning')
  })

  it('in a directory where nothing may be written: goes on in memory', () => {
    const dir = scratch()
    const file = join(dir, 'journal.db')
    desk({ file }).journal.close()
    chmodSync(file, 0o444)
    chmodSync(`${file}.lock`, 0o444)
    chmodSync(dir, 0o555)
    // who is root may write anywhere
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const child = spawnSync(process.execPath, ['test/stores/read-only-child.ts', file], {
      cwd: join(import.meta.dirname, '../..'),
      encoding: 'utf8',
      ...nobody,
    })
    chmodSync(dir, 0o755)
    expect(child.stderr).toContain('kept in memory only')
    expect(JSON.parse(child.stdout)).toMatchObject({
      rows: 1,
      health: {
        state: 'degraded',
        reason: expect.stringMatching(/read-only|may not write|neither opened nor created/),
      },
    })
  })
})
