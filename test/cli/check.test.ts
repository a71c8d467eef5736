import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkCommand } from '../../src/cli/check.ts'

const scenario = (name: string, state: string) =>
  `kind: breaker\nname: ${name}\nbreaker: {threshold: 1}\nsteps:\n  - {admit: a}\n  - {fail: a, expect: ${state}}\n`

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'check-'))
  mkdirSync(join(dir, 'more'))
  writeFileSync(join(dir, 'b.yaml'), scenario('Second', 'open'))
  writeFileSync(join(dir, 'a.yaml'), scenario('First', 'open'))
  writeFileSync(join(dir, 'notes.md'), 'no scenario')
  writeFileSync(join(dir, 'more', 'c.yml'), scenario('Third', 'open'))
})
afterEach(() => {
  rmSync(dir, { recursive: true })
  process.exitCode = undefined
})

async function check(...args: string[]): Promise<{ lines: string[]; exitCode: unknown }> {
  let out = ''
  const command = checkCommand().configureOutput({ writeOut: (text) => (out += text) })
  await command.parseAsync(args, { from: 'user' })
  return { lines: out.trimEnd().split('\n'), exitCode: process.exitCode }
}

describe('switchgear check', () => {
  it('plays every scenario below a directory, sorted', async () => {
    expect(await check(dir)).toEqual({
      lines: ['ok First', 'ok Second', 'ok Third', '3 passed, 0 failed'],
      exitCode: undefined,
    })
  })

  it('names the first step that does not hold, and goes on', async () => {
    const file = join(dir, 'a.yaml')
    writeFileSync(file, scenario('First', 'closed'))
    expect(await check(file, join(dir, 'b.yaml'))).toEqual({
      lines: [
        `FAIL ${file}: step 2: expected the state 'closed', got 'open' (line 6)`,
        'ok Second',
        '1 passed, 1 failed',
      ],
      exitCode: 1,
    })
  })

  it('names what is wrong with a malformed file', async () => {
    const file = join(dir, 'a.yaml')
    writeFileSync(file, scenario('First', 'opne'))
    const { lines, exitCode } = await check(file)
    expect(lines[0]).toBe(`FAIL ${file}:6 steps[1].expect: This is 'opne'. Did you mean 'open'?`)
    expect(exitCode).toBe(1)
  })

  it('says what plays a load', async () => {
    const file = join(dir, 'load.yaml')
    writeFileSync(file, 'kind: load\nname: A day\nduration: 1h\n')
    const { lines, exitCode } = await check(file)
    expect(lines[0]).toBe(
      `FAIL ${file}: this is a load, not a scenario. Play it with: switchgear simulate ${file}`,
    )
    expect(exitCode).toBe(1)
  })

  it('says that a file is missing, and that a directory is empty', async () => {
    const empty = mkdtempSync(join(dir, 'empty-'))
    expect(await check(join(dir, 'none.yaml'), empty)).toEqual({
      lines: [
        `FAIL ${join(dir, 'none.yaml')}: there is no such file.`,
        `FAIL ${empty}: there is no .yaml file in this directory.`,
        '0 passed, 2 failed',
      ],
      exitCode: 1,
    })
  })

  it('prints one JSON object on request', async () => {
    const file = join(dir, 'a.yaml')
    writeFileSync(file, scenario('First', 'closed'))
    const { lines, exitCode } = await check('--json', file, join(dir, 'b.yaml'))
    expect(JSON.parse(lines.join('\n'))).toEqual({
      passed: 1,
      failed: 1,
      files: [
        { file, name: 'First', passed: false, failure: { step: 2, line: 6, what: expect.any(String) } },
        { file: join(dir, 'b.yaml'), name: 'Second', passed: true },
      ],
    })
    expect(exitCode).toBe(1)
  })
})
