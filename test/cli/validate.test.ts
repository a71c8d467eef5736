import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { validateCommand } from '../../src/cli/validate.ts'
import { configJsonSchema } from '../../src/gateway/config/json-schema.ts'
import { everyKey } from '../gateway/config-support.ts'

let dir: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'validate-'))
  file = join(dir, 'gateway.yaml')
})
afterEach(() => {
  rmSync(dir, { recursive: true })
  process.exitCode = undefined
  vi.unstubAllEnvs()
})

async function validate(...args: string[]): Promise<{ out: string; exitCode: unknown }> {
  let out = ''
  const command = validateCommand()
    .exitOverride()
    .configureOutput({ writeOut: (text) => (out += text), writeErr: () => {} })
  await command.parseAsync(args, { from: 'user' })
  return { out, exitCode: process.exitCode }
}

describe('switchgear validate', () => {
  it('tells what a configuration means', async () => {
    writeFileSync(file, everyKey)
    const { out, exitCode } = await validate(file)
    expect(exitCode).toBeUndefined()
    expect(out).toBe(`${file} is valid.

listens on
  0.0.0.0:4010, for team-a, team-b
  127.0.0.1:4011 for admin, for alice, bob

targets
  gpt-5: gpt-5 at https://api.openai.com/v1
    Only observed, refuses nobody. Opens on 7 failures in a row. After 10 s a trial closes it once 1 of 1 probe succeeded.
  gpt-5-azure: gpt-5 at https://x.openai.azure.com/openai/v1
    Only observed, refuses nobody. Opens on 50 % of at least 20 calls failed within 60 s. After 10 s a trial closes it once 1 of 1 probe succeeded.
  sonnet: claude-sonnet-4-5 at https://api.anthropic.com/v1 (api anthropic)
    Only observed, refuses nobody. Opens on 7 failures in a row. After 10 s a trial closes it once 1 of 1 probe succeeded.
  local: the model asked for at http://127.0.0.1:8000 without a key
    No circuit breaker.
  own: the model asked for at https://llm.example.com/v1
    Only observed, refuses nobody. Opens on 7 failures in a row. After 10 s a trial closes it once 1 of 1 probe succeeded.

models
  gpt-5: gpt-5, gpt-5-azure (round-robin) → local → own
  claude: sonnet
  small: local → own
  any other model: own → local → sonnet

journal
  ${join(dir, 'data/journal.db')}, 7 days, 64 MB at most

alerts
  hooks.example.com: open, flapping
  127.0.0.1:9 (not signed): open, hold, stuck-half-open, flapping, auth, quota

health checks
  every 5 s while a circuit is open, 12 an hour and target at most

notes
  server.allowMocks: whoever may call can make a circuit open with x-switchgear-mock; not for production
  target local has no model of its own: as a fallback of gpt-5 it is asked for gpt-5
  target own has no model of its own: as a fallback of gpt-5 it is asked for gpt-5
`)
  })

  it('tells the chain of a configuration without groups', async () => {
    writeFileSync(file, 'journal: false\ntargets: [{ name: a, baseUrl: http://a }, { baseUrl: http://b }]')
    const { out } = await validate(file)
    expect(out).toContain('  any model: a → fallback[0]\n')
    expect(out).toContain('none: circuits forget at a restart')
    expect(out).toContain('open to everybody who reaches it')
  })

  it('notes what is allowed and perhaps not meant', async () => {
    writeFileSync(
      file,
      `server: { host: 0.0.0.0 }
targets:
  - { name: a, baseUrl: http://a }
  - { name: b, baseUrl: http://b, api: anthropic }
  - { name: c, baseUrl: http://c }
models: { m: [a, b] }
`,
    )
    expect((await validate(file)).out).toMatch(
      /\nnotes\n {2}everybody who reaches 0.0.0.0:4000 may use your keys/,
    )
    const { notes } = JSON.parse((await validate(file, '--json')).out) as { notes: string[] }
    expect(notes).toEqual([
      'everybody who reaches 0.0.0.0:4000 may use your keys: set server.clientKeys',
      'target c is in no group and in no fallbacks: only x-switchgear-target reaches it',
      'group m mixes the APIs openai and anthropic: a request goes to those that speak its own',
    ])
  })

  it('lists every fault with exit code 1', async () => {
    writeFileSync(file, 'server: { prot: 1 }\ntargets:\n  - { baseUrl: http://a, maxRetries: -1 }\n')
    expect(await validate(file)).toEqual({
      out: `${file}:1 server.prot: unknown key. Did you mean 'port'?
${file}:3 targets[0].maxRetries: is -1; it must be an integer of at least 0.
2 faults
`,
      exitCode: 1,
    })
  })

  it('tells one missing colon once, with the place and the line', async () => {
    writeFileSync(
      file,
      'server:\n  port: 4000\ntargets\n  - name: a\n    baseUrl: http://a\n    apiKey: sk-0123456789\n  - name: b\n    baseUrl: http://b\nmodels: { m: [a] }\n',
    )
    expect(await validate(file)).toEqual({
      out: `${file}:3:1: a colon is missing behind 'targets', write targets: and then its value
  3 | targets
    | ^
1 fault
`,
      exitCode: 1,
    })
    expect(JSON.parse((await validate(file, '--json')).out)).toEqual({
      valid: false,
      file,
      faults: [
        {
          line: 3,
          column: 1,
          path: '',
          text: "a colon is missing behind 'targets', write targets: and then its value",
          excerpt: '  3 | targets\n    | ^',
        },
      ],
    })
  })

  it('prints JSON on request, for either', async () => {
    writeFileSync(file, 'targets: [{ baseUrl: "${URL}" }]\n')
    const bad = await validate(file, '--json')
    expect([JSON.parse(bad.out), bad.exitCode]).toEqual([
      {
        valid: false,
        file,
        faults: [
          {
            line: 1,
            path: 'targets[0].baseUrl',
            text: 'the environment variable URL is not set, set it or write ${URL:-default}',
          },
        ],
      },
      1,
    ])
    process.exitCode = undefined
    vi.stubEnv('URL', 'http://a')
    const good = await validate(file, '--json')
    expect(good.exitCode).toBeUndefined()
    expect(JSON.parse(good.out)).toMatchObject({
      valid: true,
      file,
      targets: [{ name: 'primary', baseUrl: 'http://a', api: 'openai', hasKey: false }],
      notes: [],
    })
  })

  it('prints nothing secret', async () => {
    writeFileSync(file, everyKey)
    const told = (await validate(file)).out + (await validate(file, '--json')).out
    expect(told).not.toMatch(/sk-|key-of|token-of|azure-key|whsec|secretpath/)
  })

  it('prints the JSON Schema', async () => {
    expect(JSON.parse((await validate('--schema')).out)).toEqual(
      JSON.parse(JSON.stringify(configJsonSchema())),
    )
  })

  it('asks for a file, and says why one cannot be read', async () => {
    await expect(validate()).rejects.toThrow('name the file to validate')
    await expect(validate(join(dir, 'none.yaml'))).rejects.toThrow('cannot be read, there is no such file.')
    await expect(validate(dir)).rejects.toThrow('cannot be read, it is a directory.')
  })
})
