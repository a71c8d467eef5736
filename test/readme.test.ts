import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { failureTable } from '../src/classify/failure-table.ts'
import { parseConfig } from '../src/gateway/config/read-config.ts'
import { parseScenario } from '../src/testing/scenario/parse.ts'
import { runScenario } from '../src/testing/scenario/run-scenario.ts'
import { startScriptedProvider } from '../src/testing/scripted-provider.ts'

const root = resolve(import.meta.dirname, '..')
const folder = resolve(root, 'test/examples')
const readme = readFileSync(resolve(root, 'README.md'), 'utf8')
const examples = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text!)
const run = promisify(execFile)

/** What each command of the README is covered by, where it is not run right here. */
const COMMANDS: Record<string, (() => Promise<unknown>) | string> = {
  'npm ci': 'what brought the packages of this run here',
  'npm start': 'test/cli/main.test.ts starts it and pastes the lines it prints',
  'npm run switchgear check test/scenarios': () =>
    npm('run', 'switchgear', 'check', 'test/scenarios/breaker'),
  'npm run switchgear -- faults --help': () => npm('run', 'switchgear', '--', 'faults', '--help'),
  'npx vitest run test/testing/conformance': 'is part of this very run',
  'npm run switchgear -- init gateway.yaml': 'test/cli/init.test.ts',
  'npm run switchgear -- validate gateway.yaml': 'test/cli/validate.test.ts',
  'npm run switchgear -- serve --help': () => npm('run', 'switchgear', '--', 'serve', '--help'),
}

const npm = (...args: string[]) => run('npm', args, { cwd: root })

describe('the README', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
  })

  it('shows each example as it is', () => {
    const shown = blocks('ts')
    expect(shown.toSorted()).toEqual(
      examples.map((name) => readFileSync(resolve(folder, name), 'utf8')).toSorted(),
    )
  })

  it.each(examples)('runs %s', async (name) => {
    await using provider = await startScriptedProvider({ name: 'primary' })
    vi.stubEnv('OPENAI_API_KEY', 'none')
    vi.stubEnv('OPENAI_BASE_URL', provider.baseURL)
    vi.stubEnv('BACKUP_URL', provider.baseURL)
    const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
    await import(`./examples/${name.replace('.ts', '')}.ts`)
    if (name !== 'virtual-time.ts') expect(printed).toHaveBeenCalled()
    for (const [text] of printed.mock.calls) expect(text).toBeDefined()
  })

  it('embeds in 15 lines or fewer, blank ones aside', () => {
    const lines = readFileSync(resolve(folder, 'embed.ts'), 'utf8').split('\n')
    expect(lines.filter((line) => line !== '').length).toBeLessThanOrEqual(15)
  })

  it.each(blocks('sh').flatMap((block) => block.trim().split('\n')))('runs: %s', async (line) => {
    const how = COMMANDS[line]
    expect(how, `nothing covers '${line}'`).toBeDefined()
    if (typeof how === 'function') await how()
  })

  it('shows a scenario that holds and a configuration that is one', async () => {
    const [scenario, config] = blocks('yaml')
    expect(await runScenario(parseScenario(scenario!))).toMatchObject({ passed: true })
    const env = { OPENAI_API_KEY: 'a-key', AZURE_KEY: 'another-key', TEAM_A_KEY: 'a-key-for-team-a' }
    expect(parseConfig(config!, 'gateway.yaml', env).targets).toHaveLength(3)
  })

  it('names every script that it mentions', () => {
    const scripts = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')).scripts as Record<
      string,
      string
    >
    for (const [, name] of readme.matchAll(
      /`npm (?:run )?(start|test|demo|bench(?::gateway)?|soak|charts)\b/g,
    )) {
      expect(Object.keys(scripts)).toContain(name)
    }
  })

  it('has a row for every failure kind, as the table says', () => {
    for (const [kind, { outcome, retry, fallback, alert, seenAs }] of Object.entries(failureTable)) {
      const then = `${fallback}${alert ? ', alert' : ''}`
      expect(readme).toContain(
        `| \`${kind}\` | ${seenAs} | ${outcome === 'failure' ? 'yes' : outcome} | ${retry} | ${then} |`,
      )
    }
  })

  it('has a row for every option of a breaker', () => {
    const source = readFileSync(resolve(root, 'src/core/breaker-options.ts'), 'utf8')
    const keys = [...source.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, key]) => key)
    expect(keys.length).toBeGreaterThan(15)
    for (const key of keys) expect(readme).toContain(`| \`${key}\` |`)
  })
})
