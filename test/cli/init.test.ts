import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { initCommand } from '../../src/cli/init.ts'
import { starterConfig } from '../../src/gateway/config/starter-config.ts'
import { starterProviders } from '../../src/gateway/config/starter-providers.ts'
import { faultsOf, resolved } from '../gateway/config-support.ts'

const variables = [...starterProviders.flatMap(({ variables }) => variables), 'AZURE_OPENAI_ENDPOINT']

let dir: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'init-'))
  file = join(dir, 'gateway.yaml')
  for (const variable of variables) vi.stubEnv(variable, undefined)
})
afterEach(() => {
  rmSync(dir, { recursive: true })
  vi.unstubAllEnvs()
})

async function init(...args: string[]): Promise<string> {
  let out = ''
  const command = initCommand()
    .exitOverride()
    .configureOutput({ writeOut: (text) => (out += text), writeErr: () => {} })
  await command.parseAsync(args, { from: 'user' })
  return out
}

describe('switchgear init', () => {
  it('writes a configuration for the keys in the environment, without the keys', async () => {
    vi.stubEnv('GROQ_API_KEY', 'gsk-0123456789')
    vi.stubEnv('OPENAI_API_KEY', 'sk-0123456789')
    expect(await init(file)).toBe(`Wrote ${file}: openai, groq, from OPENAI_API_KEY, GROQ_API_KEY.
Next:
  switchgear validate ${file}
  switchgear serve --config ${file}
`)
    const text = readFileSync(file, 'utf8')
    expect(text).not.toMatch(/sk-0123456789/)
    const env = { OPENAI_API_KEY: 'sk-0123456789', GROQ_API_KEY: 'gsk-0123456789' }
    const config = resolved(text, env)
    expect(config.targets).toMatchObject([
      { name: 'openai', baseUrl: 'https://api.openai.com/v1', apiKey: 'sk-0123456789' },
      { name: 'groq', baseUrl: 'https://api.groq.com/openai/v1', apiKey: 'gsk-0123456789' },
    ])
    expect(
      [...(config.groups ?? [])].map(([name, { targets, fallbacks }]) => [name, targets, fallbacks]),
    ).toEqual([
      ['gpt-5', ['openai'], ['groq']],
      ['*', ['openai'], ['groq']],
    ])
    expect(faultsOf(text)).toHaveLength(2)
  })

  it('writes placeholders that name what to set where there is no key', async () => {
    expect(await init(file)).toContain('no key was found in the environment. Set OPENAI_API_KEY, or put in')
    const text = readFileSync(file, 'utf8')
    expect(faultsOf(text)).toEqual([])
    expect(text).toContain('# Set OPENAI_API_KEY before you start it.')
    expect(resolved(text).targets[0]?.apiKey).toBe('set-OPENAI_API_KEY')
  })

  it('takes the endpoint of Azure from its variable, or leaves a place for it', () => {
    const key = { AZURE_OPENAI_API_KEY: 'azure-0123456789' }
    const withEndpoint = { ...key, AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/' }
    expect(resolved(starterConfig(withEndpoint).text, withEndpoint).targets[0]).toMatchObject({
      baseUrl: 'https://mine.openai.azure.com/openai/v1',
      auth: { header: 'api-key' },
    })
    expect(resolved(starterConfig(key).text, key).targets[0]?.baseUrl).toContain('your-resource')
  })

  it('gives each API a group of its own', () => {
    const env = { ANTHROPIC_API_KEY: 'sk-ant-0123456789', MISTRAL_API_KEY: 'mistral-0123456789' }
    const { groups } = resolved(starterConfig(env).text, env)
    expect([...(groups?.values() ?? [])].map(({ targets }) => targets)).toEqual([
      ['mistral'],
      ['mistral'],
      ['anthropic'],
    ])
  })

  it('is valid for any keys', () => {
    fc.assert(
      fc.property(fc.subarray(variables), (names) => {
        const env = Object.fromEntries(names.map((name) => [name, 'https://value-of-the-variable.example']))
        const { text } = starterConfig(env)
        expect(faultsOf(text, env)).toEqual([])
        expect(text).not.toContain('value-of-the-variable')
      }),
    )
  })

  it('tells what is wrong with a variable it uses', async () => {
    vi.stubEnv('AZURE_OPENAI_API_KEY', 'azure-0123456789')
    vi.stubEnv('AZURE_OPENAI_ENDPOINT', 'mine')
    expect(await init(file)).toMatch(
      /To be mended first:\n.*gateway.yaml:\d+ providers.azure.baseUrl: is a text that/,
    )
  })

  it('overwrites nothing unless told to', async () => {
    await init(file)
    vi.stubEnv('XAI_API_KEY', 'xai-0123456789')
    await expect(init(file)).rejects.toThrow('is already there and stays as it is; --force overwrites it.')
    expect(readFileSync(file, 'utf8')).not.toContain('XAI')
    await init(file, '--force')
    expect(readFileSync(file, 'utf8')).toContain('XAI')
  })

  it.each([
    ['no/such/dir.yaml', 'there is no such directory.'],
    ['gateway.json', 'must end in .yaml: what is written has comments.'],
  ])('does not write %s', async (name, why) => {
    await expect(init(join(dir, name))).rejects.toThrow(why)
    expect(readdirSync(dir)).toEqual([])
  })
})
