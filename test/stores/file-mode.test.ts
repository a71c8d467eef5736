import { chmodSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readJournal } from '../../src/stores/read-only-file.ts'
import { outcomeRecorder } from '../../src/stores/outcome-recorder.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { START, entry } from './entry.ts'
import { desk, scratch } from './support.ts'

const modesIn = (dir: string) =>
  Object.fromEntries(
    readdirSync(dir).map((name) => [name, (statSync(join(dir, name)).mode & 0o777).toString(8)]),
  )

describe('a journal', () => {
  it('is for its owner alone, and so is what stands beside it', () => {
    const { file, journal } = desk()
    journal.append(entry('a'))
    expect(modesIn(dirname(file))).toEqual({
      'journal.db': '600',
      'journal.db-shm': '600',
      'journal.db-wal': '600',
      'journal.db.lock': '600',
    })
    using reader = readJournal(file, { live: true })
    expect(reader.rows()).toHaveLength(1)
    expect(Object.values(modesIn(dirname(file)))).toEqual(['600', '600', '600', '600'])
  })

  it('that is there already keeps its mode, and what is made beside it has the same', () => {
    const { file, journal, open } = desk()
    journal.append(entry('a'))
    journal.close()
    chmodSync(file, 0o640)
    open().append(entry('a'))
    expect(modesIn(dirname(file))).toMatchObject({ 'journal.db': '640', 'journal.db-wal': '640' })
  })

  it('that somebody has made empty keeps its mode', () => {
    const file = join(scratch(), 'journal.db')
    writeFileSync(file, '', { mode: 0o644 })
    desk({ file }).journal.append(entry('a'))
    expect(modesIn(dirname(file))['journal.db']).toBe('644')
  })

  it('is for its owner alone behind a link, too', () => {
    const dir = scratch()
    symlinkSync(join(dir, 'there.db'), join(dir, 'journal.db'))
    desk({ file: join(dir, 'journal.db') }).journal.append(entry('a'))
    expect(modesIn(dir)['there.db']).toBe('600')
  })
})

describe('a recording', () => {
  it('is for its owner alone, every file of it', async () => {
    const dir = scratch()
    const file = join(dir, 'outcomes.jsonl')
    const clock = new VirtualClock(START)
    const recorder = outcomeRecorder({ file, clock })
    const listeners = new Map<string, (told: never) => void>()
    recorder.attach({
      on: (event, listener) => {
        listeners.set(event, listener)
        return () => {}
      },
      stats: () => ({ breakers: [] }),
    })
    for (let i = 0; i < 3; i++) {
      const outcome = {
        at: clock.wall(),
        target: 'a',
        bucket: 'a',
        outcome: 'failure',
        failure: 'server_error',
      }
      listeners.get('outcome')?.(outcome as never)
      await recorder.flush()
      clock.advance(90_000_000)
    }
    await recorder.close()
    const modes = Object.values(modesIn(dir))
    expect(modes.length).toBeGreaterThan(1)
    expect(new Set(modes)).toEqual(new Set(['600']))
    expect(readFileSync(file, 'utf8')).not.toBe('')
  })
})
