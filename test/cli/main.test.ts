import { exec, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { commands, loadCommand } from '../../src/cli/commands.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(exec)

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The command line in a process of its own. */
function start(args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], { cwd: root })
  let out = ''
  let err = ''
  child.stdout.on('data', (data) => (out += data))
  child.stderr.on('data', (data) => (err += data))
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, out, err })))
  const says = async (what: RegExp) => {
    for (let i = 0; i < 1000 && !what.test(out); i++) await new Promise((resolve) => setTimeout(resolve, 20))
    return out
  }
  return { child, ended, says }
}

const main = (...args: string[]) => start(args).ended

describe('the command line', () => {
  it('helps, with examples and every command', async () => {
    const { code, out } = await main('--help')
    expect(code).toBe(0)
    expect(out).toContain('switchgear serve --config gateway.yaml')
    for (const { name, summary } of commands)
      expect(out).toMatch(new RegExp(`${name} .*${summary.slice(0, 20)}`))
  })

  it('knows its version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    expect((await main('--version')).out).toBe(`${version}\n`)
  })

  it('says in the list what each command says of itself', async () => {
    for (const { name, summary } of commands) {
      const command = await loadCommand(name)
      expect([command.name(), command.description().split('\n')[0]]).toEqual([name, summary])
    }
  })

  it('answers mistakes in one line and with exit code 1', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const mistakes = [
      [['surve'], /^error: unknown command 'surve'\n\(Did you mean serve\?\)\n$/],
      [
        ['serve', '--port', 'x'],
        /^error: option '--port <number>' argument 'x' is invalid. A port is a whole number/,
      ],
      [
        ['serve', '--port', String(port)],
        new RegExp(`^error: port ${port} on 127.0.0.1 is in use: [^\n]*\n$`),
      ],
      [
        ['serve', '--config', 'nowhere.yaml'],
        /^error: nowhere.yaml: cannot be read, there is no such file.\n$/,
      ],
    ] as const
    const results = await Promise.all(mistakes.map(([args]) => main(...args)))
    taken.close()
    for (const [i, { code, out, err }] of results.entries()) {
      expect(err).toMatch(mistakes[i]![1])
      expect([code, out]).toEqual([1, ''])
    }
  })
})

/** Runs a line that the gateway has printed to be pasted. */
async function pasted(lines: readonly string[], name: string): Promise<string> {
  const line = lines.find((candidate) => candidate.trim().startsWith(name))
  const command = /curl .*?(?= {3}\(|$)/.exec(line ?? '')?.[0] ?? 'false'
  return (await run(command)).stdout
}

describe('an output that ends', () => {
  const long = ['audit', '--format', 'markdown', '--out', '-']

  it('ends a command quietly where the reader of a pipe has seen enough', async () => {
    const { child, ended } = start(long)
    child.stdout.destroy()
    expect(await ended).toMatchObject({ code: 0, err: '' })
  })

  it('does not end a server: it goes on for its clients', async () => {
    const { child, says, ended } = start(['serve', '--port', '0'])
    const lines = (await says(/end the outage.*\n/)).trimEnd().split('\n')
    child.stdout.destroy()
    child.stderr.destroy()
    await pasted(lines, 'cause an outage')
    // the circuit opens on the way, which is a line that nobody reads
    for (let i = 0; i < 8; i++) expect(await pasted(lines, 'a normal call')).toContain('Hello from backup')
    expect(await pasted(lines, 'watch the circuit')).toContain("Circuit 'primary' is open")
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0 })
  })

  it('is told of in one line where it cannot be written', async () => {
    const full = openSync('/dev/full', 'w')
    const args = ['--import', 'tsx', 'src/cli/main.ts', ...long]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', full, 'pipe'] })
    let err = ''
    child.stderr?.on('data', (data) => (err += data))
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect([code, err]).toEqual([1, 'error: standard output: cannot be written, the disk is full.\n'])
  })
})

describe('serve without a configuration', () => {
  let server: ReturnType<typeof start>
  let lines: string[]

  beforeAll(async () => {
    server = start(['serve', '--port', '0'])
    lines = (await server.says(/end the outage.*\n/)).trimEnd().split('\n')
  })
  afterAll(() => server.child.kill('SIGKILL'))

  const paste = (name: string) => pasted(lines, name)

  it('says in five lines what to try, and every line works as it stands', async () => {
    expect(lines).toHaveLength(5)
    const dashboard = /dashboard (\S+) /.exec(lines[3] ?? '')?.[1] ?? ''
    expect((await fetch(dashboard)).headers.get('content-type')).toContain('text/html')
    expect(await paste('a normal call')).toMatch(
      /^HTTP\/1.1 200 OK[\s\S]*x-switchgear-target: primary[\s\S]*Hello from primary/,
    )
    expect(await paste('watch the circuit')).toContain("Circuit 'primary' is closed (calls flow)")
    expect(await paste('cause an outage')).toBe('{"outage":true}')
    for (let i = 0; i < 5; i++) expect(await paste('a normal call')).toContain('Hello from backup')
    expect(await paste('watch the circuit')).toContain("Circuit 'primary' is open (calls refused)")
    expect(await server.says(/primary {2}closed → open/)).toMatch(
      /closed → open: 5 failures in a row.*next try in 5 s/,
    )
    expect(await paste('end the outage')).toBe('{"outage":false}')
  })

  it('ends in order at SIGTERM', async () => {
    server.child.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0, err: '' })
  })
})

it('serve --config serves what the file says, and names its faults', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'switchgear-'))
  const good = join(dir, 'good.yaml')
  const bad = join(dir, 'bad.yaml')
  writeFileSync(good, 'server: { port: 0 }\ntargets:\n  - baseUrl: http://127.0.0.1:1/v1\n')
  writeFileSync(bad, 'targets:\n  - baseUrl: http://127.0.0.1:1/v1\n    timeoutMs: 0\n    key: x\n')
  const server = start(['serve', '--config', good])
  const failed = await main('serve', '--config', bad)
  expect(failed).toMatchObject({
    code: 1,
    err: `error: ${bad}:3 targets[0].timeoutMs: is 0; it must be a number greater than 0, or Infinity.\n${bad}:4 targets[0].key: unknown key. Known: name, provider, baseUrl, apiKey, api, auth, headers, query, model, weight, set, drop, healthCheck, bucket, circuitBreaker, maxRetries, retry, timeoutMs, firstContentTimeoutMs, idleTimeoutMs.\n`,
  })
  const url = /http:\S+(?=\/v1)/.exec(await server.says(/listens on/))?.[0]
  const status = (await (await fetch(`${url}/status`)).json()) as { targets: unknown }
  expect(status.targets).toEqual([{ name: 'primary', breaker: true }])
  server.child.kill('SIGINT')
  expect((await server.ended).code).toBe(0)
  rmSync(dir, { recursive: true })
})

it('demo ends well in less than 15 s', async () => {
  const startedAt = Date.now()
  const { code, out, err } = await main('demo')
  expect([code, err]).toEqual([0, ''])
  expect(Date.now() - startedAt).toBeLessThan(15_000)
  expect(out).toContain('Timeline')
  expect(out).toMatch(/primary {2}half-open → closed: the trial succeeded/)
  expect(out).toMatch(/calls answered +(\d+) of \1 /)
}, 45_000)
