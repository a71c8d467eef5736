import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { loadCommand } from '../../src/cli/commands.ts'

const CONFIG =
  'targets:\n  - { name: a, baseUrl: https://a.example.com/v1, model: m, circuitBreaker: { threshold: 3 } }\n'
const SCENARIO = 'kind: breaker\nname: a\nbreaker: { threshold: 1 }\nsteps:\n  - fail\n'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'output-'))
})
afterEach(() => {
  rmSync(dir, { recursive: true })
  process.exitCode = undefined
})

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}

/** What a command says of a mistake, and what it had printed by then. */
async function run(
  name: string,
  ...args: string[]
): Promise<{ message: string; exitCode: number; out: string }> {
  let out = ''
  const command = (await loadCommand(name))
    .exitOverride()
    .configureOutput({ writeOut: (text) => (out += text), writeErr: () => {} })
  const failed = await command.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: Error & { exitCode?: number }) => error,
  )
  if (failed === undefined) return { message: 'none', exitCode: Number(process.exitCode ?? 0), out }
  return { message: failed.message, exitCode: failed.exitCode ?? 1, out }
}

describe('what a command reads is never what it writes', () => {
  it.each([
    ['audit', ['FILE', '--out', 'FILE']],
    ['paths', ['FILE', '--out', 'FILE']],
    ['diff', ['FILE', 'OTHER', '--html', 'FILE']],
    ['diff', ['OTHER', 'FILE', '--html', 'FILE']],
    ['simulate', ['FILE', '--html', 'FILE']],
    ['simulate', ['OTHER', '--config', 'FILE', '--html', 'FILE']],
    ['shrink', ['--outcomes', 'FILE', '--at', '2026-01-01', '--out', 'FILE']],
    ['shrink', ['--outcomes', 'OTHER', '--policy', 'FILE', '--at', '2026-01-01', '--out', 'FILE']],
    ['replay', ['--outcomes', 'FILE', '--html', 'FILE']],
    ['replay', ['--outcomes', 'OTHER', '--policy', 'FILE', '--html', 'FILE']],
    ['replay', ['--incidents', 'FILE', '--traffic', 'OTHER', '--html', 'FILE']],
    ['replay', ['--incidents', 'OTHER', '--traffic', 'FILE', '--html', 'FILE']],
  ])('%s %j', async (name, args) => {
    // the endings of all that is written: it is not the ending that protects it
    for (const ending of ['html', 'yaml', 'test.ts']) {
      const text = name === 'simulate' ? SCENARIO : CONFIG
      const own = file(`own.${ending}`, text)
      const other = file('other.yaml', text)
      const given = args.map((word) => (word === 'FILE' ? own : word === 'OTHER' ? other : word))
      const { message, out } = await run(name, ...given)
      expect(message).toContain(`${own}: is not written: the command reads it`)
      expect(out).toBe('')
      expect(readFileSync(own, 'utf8')).toBe(text)
    }
  })

  it('under another name neither', async () => {
    const own = file('own.yaml', CONFIG)
    symlinkSync(own, join(dir, 'soft.html'))
    linkSync(own, join(dir, 'hard.html'))
    for (const name of ['soft.html', 'hard.html'])
      expect((await run('audit', own, '--out', join(dir, name))).message).toContain('the command reads it')
    expect(readFileSync(own, 'utf8')).toBe(CONFIG)
  })
})

describe('a file that is there', () => {
  it.each([
    ['audit', '--out', 'switchgear.db', 'none of .html, .htm, .md, .markdown'],
    ['paths', '--out', 'breaker.ts', 'not .test.ts'],
    ['diff', '--html', 'switchgear.db', 'none of .html, .htm'],
  ])('stays where %s %s would not have written it: %s', async (name, option, there, why) => {
    const [own, other] = [file('own.yaml', CONFIG), file('other.yaml', CONFIG)]
    const kept = file(there, 'kept')
    const { message } = await run(name, own, ...(name === 'diff' ? [other] : []), option, kept)
    expect(message).toContain(`${kept}: is already there and stays as it is: its ending is ${why}`)
    expect(message).toContain('Name another file, or delete this one first.')
    expect(readFileSync(kept, 'utf8')).toBe('kept')
  })

  it('stays where a scenario would take the place of a configuration', async () => {
    const kept = file('gateway.yaml', CONFIG)
    const recording = file('r.jsonl', '')
    const { message } = await run('shrink', '--outcomes', recording, '--at', '2026-01-01', '--out', kept)
    expect(message).toContain(`${kept}: is already there and stays as it is: it is no scenario`)
  })

  it('is overwritten where the command may have written it', async () => {
    const [own, report] = [file('own.yaml', CONFIG), file('report.html', 'old')]
    expect((await run('audit', own, '--out', report)).message).toBe('none')
    expect(readFileSync(report, 'utf8')).toContain('<html')
  })
})

it('says in words why a file cannot be written', async () => {
  const own = file('own.yaml', CONFIG)
  mkdirSync(join(dir, 'folder.html'))
  const reasons = [
    ['folder.html', 'it is a directory'],
    ['none/report.html', 'there is no such directory'],
    ['own.yaml/report.html', 'there is no such directory'],
  ] as const
  for (const [name, reason] of reasons) {
    const out = join(dir, name)
    expect((await run('audit', own, '--out', out)).message).toBe(`${out}: cannot be written, ${reason}.`)
  }
})

it('diff ends with 2 where a file cannot be written, never with the code of a difference', async () => {
  const [a, b] = [file('a.yaml', CONFIG), file('b.yaml', CONFIG.replace('3', '4'))]
  expect(await run('diff', a, b, '--html', join(dir, 'none/x.html'))).toMatchObject({
    message: expect.stringContaining('there is no such directory'),
    exitCode: 2,
  })
  expect(await run('diff', a, b, '--out', a)).toMatchObject({
    message: `error: ${a}: cannot be written, it is a file, not a directory.`,
    exitCode: 2,
  })
})
