import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { JournalRow } from '../../src/stores/journal-row.ts'
import { OPEN, entry } from '../stores/entry.ts'
import { desk, scratch, tamper } from '../stores/support.ts'

const root = join(import.meta.dirname, '../..')

function start(args: readonly string[], cwd = root) {
  const main = join(root, 'src/cli/main.ts')
  const child = spawn(process.execPath, [main, 'journal', ...args], { cwd })
  const told = { out: '', err: '' }
  child.stdout.on('data', (data) => (told.out += data))
  child.stderr.on('data', (data) => (told.err += data))
  const says = async (what: string) => {
    while (!told.out.includes(what)) await once(child.stdout, 'data')
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...told }))
  return { child, says, ended }
}

const run = (...args: string[]) => start(args).ended
const MINUTE = 60_000

/** A journal of an outage that began an hour ago. */
function outage() {
  const at = desk()
  const now = systemClock.wall()
  const ago = (minutes: number) => now - minutes * MINUTE
  const story = (bucket: string, minutes: number, more: Parameters<typeof entry>[1] = {}) =>
    at.journal.append(entry(bucket, { at: ago(minutes), ...more }))
  const cooling = { ...OPEN, openUntil: ago(60) + 30_000 }
  story('openai', 60, { saved: cooling })
  const by = { by: 'kim', reason: 'the \u001b[31mbill' }
  const event = { type: 'operator.opened', at: ago(30), roll: 0.5, ...by } as const
  story('backup', 30, { event, saved: { ...OPEN, openUntil: null, cause: { why: 'operator', ...by } } })
  const probe = { type: 'probe.requested', at: ago(2), permit: 1 } as const
  story('openai', 2, { event: probe, from: 'half-open', to: 'half-open' })
  return { ...at, ago }
}

const circuits = (out: string) =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => line.split('  ')[1])

describe('switchgear journal', () => {
  it('lists when, which, from where to where, why and by whom, the newest last', async () => {
    const { file, ago } = outage()
    const time = (minutes: number) => new Date(ago(minutes)).toISOString()
    expect(await run(file)).toEqual({
      code: 0,
      err: '',
      out: [
        `${time(60)}  openai  closed → open  server_error; next try in 30 s`,
        `${time(30)}  backup  closed → open  by hand, by kim ("the \uFFFD[31mbill")`,
        `${time(2)}  openai  half-open  a call passes as a probe`,
        '',
      ].join('\n'),
    })
  })

  it.each([
    [
      ['--circuit', 'opnai'],
      4,
      /^error: \S+: There is no circuit 'opnai' in it\. Did you mean 'openai'\? It has backup, openai\.\n$/,
    ],
    [['--circuit', 'x'.repeat(30)], 4, /in it\. It has backup, openai\.\n$/],
    [
      ['--type', 'operator.open'],
      1,
      /^error: \S+: There is no type 'operator\.open'\. Did you mean 'operator\.opened'\? It has call\.failed, operator\.opened, probe\.requested\.\n$/,
    ],
    [['--type', 'transitions'], 1, /Did you mean 'transition'\?/],
    [
      ['--type', 'hold.ended'],
      0,
      /^\S+: It has no row of the type 'hold\.ended'\. It has call\.failed, operator\.opened, probe\.requested\.\n$/,
    ],
    [['--circuit', 'openai', '--type', 'operator.opened'], 0, /^\S+: No row fits all of this\.\n$/],
  ] as const)('says that there is nothing of %j, and what there is', async (args, code, err) => {
    const { file } = outage()
    expect(await run(file, ...args)).toEqual({ code, out: '', err: expect.stringMatching(err) as string })
  })

  it('says of an empty journal that it has none', async () => {
    const { file } = desk()
    expect(await run(file, '--circuit', 'a')).toMatchObject({
      code: 4,
      err: `error: ${file}: There is no circuit 'a' in it. It has none at all.\n`,
    })
  })

  it('follows a circuit that is not there yet, and says so', async () => {
    const { file, journal } = outage()
    const { child, says, ended } = start([file, '--follow', '--circuit', 'later'])
    await once(child.stderr, 'data')
    journal.append(entry('later'))
    await says('later')
    child.kill('SIGINT')
    expect((await ended).err).toMatch(/There is no circuit 'later' in it\./)
  })

  it('filters', async () => {
    const { file, ago } = outage()
    const of = async (...args: string[]) => circuits((await run(file, ...args)).out)
    const [circuit, since, until, type, moved, limit, between] = await Promise.all([
      of('--circuit', 'openai'),
      of('--since', '45m'),
      of('--until', new Date(ago(45)).toISOString()),
      of('--type', 'operator.opened'),
      of('--type', 'transition'),
      of('--limit', '1'),
      of('--since', '0.75h', '--until', '10m'),
    ])
    expect({ circuit, since, until, type, moved, limit, between }).toEqual({
      circuit: ['openai', 'openai'],
      since: ['backup', 'openai'],
      until: ['openai'],
      type: ['backup'],
      moved: ['openai', 'backup'],
      limit: ['openai'],
      between: ['backup'],
    })
  })

  it('--json prints one object a line, as it was journalled', async () => {
    const { file, journal } = outage()
    const { out } = await run(file, '--json', '--limit', '0')
    const rows = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JournalRow)
    expect(rows).toEqual(journal.rows().toReversed())
  })

  it('--follow goes on while the gateway writes, until somebody stops it', async () => {
    const { file, journal } = outage()
    const { child, says, ended } = start([file, '--follow', '--limit', '1', '--circuit', 'openai'])
    await says('a call passes as a probe')
    journal.append(entry('backup'))
    journal.append(entry('openai'))
    await says('server_error')
    child.kill('SIGINT')
    const { code, out, err } = await ended
    expect([code, err]).toEqual([0, ''])
    expect(circuits(out)).toEqual(['openai', 'openai'])
  })

  it('reads ./switchgear.db where nobody says otherwise, also when nobody writes it', async () => {
    const cwd = scratch()
    const at = desk({ file: join(cwd, 'switchgear.db') })
    at.journal.append(entry('openai'))
    at.journal.close()
    expect(await start([], cwd).ended).toMatchObject({ code: 0, out: expect.stringContaining('openai') })
    expect(await start(['verify'], cwd).ended).toMatchObject({
      code: 0,
      out: expect.stringContaining('ok ./switchgear.db: 1 rows'),
    })
  })

  it('does not mind a reader who has seen enough', async () => {
    const { file } = outage()
    const { child, ended } = start([file])
    child.stdout.destroy()
    expect(await ended).toMatchObject({ err: '' })
  })

  it('answers mistakes in one line', async () => {
    const text = join(scratch(), 'text.db')
    writeFileSync(text, 'a text '.repeat(100))
    const mistakes = await Promise.all([
      run('nowhere.db'),
      run(text),
      run('--since', 'yesterday'),
      run('--limit', '-1'),
      run('verify', 'nowhere.db'),
    ])
    expect(mistakes.map(({ code }) => code)).toEqual([1, 1, 1, 1, 1])
    const said = mistakes.map(({ err }) => err.trimEnd())
    expect(said[0]).toBe('error: nowhere.db: there is no such file.')
    expect(said[1]).toBe(
      `error: ${text}: it is no SQLite database and is left untouched; name another file, or move this one away.`,
    )
    expect(said[2]).toMatch(/A time is a date and time such as .*, or how long ago: 90s, 15m, 24h, 7d\.$/)
    expect(said[3]).toMatch(/A limit is a whole number; 0 stands for all\.$/)
    expect(said[4]).toBe(said[0])
  })
})

describe('switchgear journal verify', () => {
  it('says that all is there, with a hash to note, while the gateway runs', async () => {
    const { file, journal } = outage()
    const { hash } = journal.verify().head
    expect(await run('verify', file)).toEqual({
      code: 0,
      err: '',
      out: `ok ${file}: 3 rows, whole and unaltered. Row 3 has the hash ${hash}.\n`,
    })
  })

  it('says at which row what is wrong, and exits with 1', async () => {
    const { file, journal } = outage()
    journal.close()
    tamper(file, 'DELETE FROM rows WHERE seq = 2')
    expect(await run('verify', file)).toEqual({
      code: 1,
      err: '',
      out: `BROKEN ${file}: 2 rows.\n  row 3 follows row 1: row 2 is missing\n`,
    })
  })
})
