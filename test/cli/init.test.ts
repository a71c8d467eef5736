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

  it('falls back to the OpenAI-compatible endpoint of Anthropic where nothing else could, and says what that means', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-0123456789')
    vi.stubEnv('ANTHROPIC_API_KEY', 'sk-ant-0123456789')
    expect(await init(file))
      .toBe(`Wrote ${file}: openai, anthropic-chat, anthropic, from OPENAI_API_KEY, ANTHROPIC_API_KEY.
Note:
  OpenAI and Anthropic speak different APIs, and neither can stand in for the other. So that gpt-5 has a fallback,
  anthropic-chat is the OpenAI-compatible endpoint of Anthropic. It answers chat completions only, ignores
  response_format and strict, and is meant for tests by Anthropic itself: if that will not do, take it out of fallbacks
  and put in another provider that speaks OpenAI's API.
  claude-sonnet-4-5 (POST /v1/messages) has no fallback: no other provider here speaks Anthropic's API.
Next:
  switchgear validate ${file}
  switchgear serve --config ${file}
`)
    const text = readFileSync(file, 'utf8')
    const env = { OPENAI_API_KEY: 'sk-0123456789', ANTHROPIC_API_KEY: 'sk-ant-0123456789' }
    const { targets, groups } = resolved(text, env)
    expect(targets[1]).toMatchObject({
      name: 'anthropic-chat',
      api: 'openai',
      baseUrl: 'https://api.anthropic.com/v1',
      apiKey: 'sk-ant-0123456789',
      auth: { header: 'authorization', prefix: 'Bearer ' },
      model: 'claude-sonnet-4-5',
    })
    expect([...(groups ?? [])].map(([name, group]) => [name, group.targets, group.fallbacks])).toEqual([
      ['gpt-5', ['openai'], ['anthropic-chat']],
      ['*', ['openai'], ['anthropic-chat']],
      ['claude-sonnet-4-5', ['anthropic'], []],
    ])
    expect(text).toContain(
      '# OpenAI and Anthropic speak different APIs, and neither can stand in for the other.',
    )
    expect(text).toContain(
      '# claude-sonnet-4-5 (POST /v1/messages) has no fallback: no other provider here speaks',
    )
  })

  it.each([
    [
      ['OPENAI_API_KEY'],
      /^ {2}There is one provider, and so nothing to fall back to: while its circuit is open, calls fail\.$/m,
    ],
    [['ANTHROPIC_API_KEY'], /^ {2}There is one provider, and so nothing to fall back to/m],
    [
      ['OPENAI_API_KEY', 'GROQ_API_KEY', 'ANTHROPIC_API_KEY'],
      /^ {2}claude-sonnet-4-5 \(POST \/v1\/messages\) has no fallback/m,
    ],
  ])('says of %j what has no fallback', async (keys, note) => {
    for (const key of keys) vi.stubEnv(key, 'key-0123456789')
    const told = await init(file)
    expect(told).toMatch(note)
    expect(told).not.toContain('anthropic-chat')
    const comment = new RegExp(note.source.replace('^ {2}', '^# ').replace(/\$$/, ''), 'm')
    expect(readFileSync(file, 'utf8')).toMatch(comment)
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
