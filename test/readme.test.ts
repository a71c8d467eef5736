import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { failureTable } from '../src/classify/failure-table.ts'
import { BREAKER_KEYS } from '../src/core/breaker-options.ts'
import { TARGET_KEYS } from '../src/core/target-options.ts'
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
  'npm run switchgear check test/scenarios': () => npm('run', 'switchgear', 'check', 'test/scenarios'),
  'npm run switchgear -- faults --help': () => npm('run', 'switchgear', '--', 'faults', '--help'),
  'npx vitest run test/testing/conformance': 'is part of this very run',
  'npm run switchgear -- init gateway.yaml': 'test/cli/init.test.ts',
  'npm run switchgear -- validate gateway.yaml': 'test/cli/validate.test.ts',
  'npm run switchgear -- serve --help': () => npm('run', 'switchgear', '--', 'serve', '--help'),
}

const npm = (...args: string[]) => run('npm', args, { cwd: root })

/** The text under a heading of the README, up to the next one of its rank. */
function sectionOf(heading: string): string {
  const [, after] = readme.split(`\n## ${heading}\n`)
  expect(after, `there is no heading '${heading}'`).toBeDefined()
  return after!.split('\n## ')[0]!
}

const firstCells = (heading: string) =>
  [...sectionOf(heading).matchAll(/^\| (`.+?) (?<!\\)\|/gm)].map(([, cell]) => cell!)

/** The keys of an interface, or the words of a list, as they are written in the code. */
function keysOf(file: string, from: string, key = /^ {2}readonly (\w+)\??:/gm): readonly string[] {
  const [, after] = readFileSync(resolve(root, file), 'utf8').split(new RegExp(`\\b${from}\\b`))
  return [...(after ?? '').split(/^[}\])]/m)[0]!.matchAll(key)].map(([, name]) => name!)
}

/** Fields of each rule that opens a circuit. */
const RULES = Object.fromEntries(
  readFileSync(resolve(root, 'src/core/tripping-options.ts'), 'utf8')
    .split('const RULE_KEYS = {')[1]!
    .split('}')[0]!
    .trim()
    .split('\n')
    .map((line) => [...line.matchAll(/\w+/g)].map(([word]) => word))
    .map(([kind, , ...fields]) => [kind!, fields]),
) as Record<string, readonly string[]>

const RUNTIME = keysOf('src/core/create-breaker.ts', 'interface RuntimeOptions')
const LIMITS = keysOf('src/core/buckets.ts', 'interface RegistryLimits')

/** By heading: what its tables must name, and no more than that. */
const TABLES: Record<string, Record<string, readonly string[]>> = {
  'Options of a breaker': {
    'a breaker': BREAKER_KEYS,
    'a kind': keysOf('machines/cooldown.ts', 'interface KindPolicy'),
  },
  'Options of a target': { 'a target': TARGET_KEYS },
  'Options of the chain': {
    'the chain': keysOf('src/core/switchgear-options.ts', 'const KEYS', /^ {2}'(\w+)'/gm),
    'what is around it': RUNTIME,
    'the registry': LIMITS,
  },
  'Options of a call': {
    'a call': keysOf('src/core/switchgear-options.ts', 'interface CallOptions'),
  },
  'Options of breakerFetch': {
    breakerFetch: keysOf('src/adapters/fetch/options.ts', 'interface BreakerFetchOptions'),
  },
}

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

  it.each(Object.entries(TABLES))('%s: has every option of the code in its tables', (heading, options) => {
    const cells = firstCells(heading)
    const named = new Set(cells.flatMap((cell) => [...cell.matchAll(/\w+/g)].map(([word]) => word)))
    for (const [what, keys] of Object.entries(options)) {
      expect(keys.length, `the keys of ${what}`).toBeGreaterThan(1)
      expect(
        keys.filter((key) => !named.has(key)),
        `keys of ${what} without a row`,
      ).toEqual([])
    }
  })

  it.each(Object.entries(TABLES))('%s: has no option that the code does not know', (heading, options) => {
    const known = new Set(Object.values(options).flat())
    const rows = firstCells(heading).flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, key]) => key!))
    expect(rows.filter((key) => !known.has(key))).toEqual([])
  })

  it('gives each rule of `tripping` with all of its fields', () => {
    const text = sectionOf('Options of a breaker')
    for (const [kind, fields] of Object.entries(RULES)) {
      const row = text.split('\n').find((line) => line.startsWith(`| \`{kind: '${kind}'}\` |`))
      for (const field of fields) expect(row, kind).toContain(`\`${field}\``)
    }
    for (const name of keysOf(
      'src/core/tripping-options.ts',
      'interface TrippingPolicy',
      /^ {2}(\w+)\??\(/gm,
    )) {
      expect(text).toContain(`\`${name}(key)\``)
    }
  })

  it('names the fields of options that have some', () => {
    const nested = {
      cooldownBackoff: keysOf('machines/cooldown.ts', 'interface ExponentialBackoff'),
      retry: keysOf('src/core/target-options.ts', 'interface RetryOptions'),
      report: keysOf('src/core/switchgear-options.ts', 'interface CallReport'),
    }
    for (const [option, fields] of Object.entries(nested)) {
      const row = readme.split('\n').find((line) => line.startsWith(`| \`${option}\` |`))
      expect(fields.length, option).toBeGreaterThan(2)
      for (const field of fields) expect(row, option).toMatch(new RegExp(`\\b${field}\\b`))
    }
  })

  it('comes from elsewhere with rules that are complete', () => {
    const rules = [...sectionOf('Coming from somewhere else').matchAll(/\{kind: '(\w+)', ([^}]+)\}/g)]
    expect(rules.map(([, kind]) => kind).toSorted()).toEqual(['latency', 'rolling', 'rolling', 'rolling'])
    for (const [, kind, fields] of rules) {
      expect(fields!.split(', ').toSorted()).toEqual(RULES[kind!]!.toSorted())
    }
  })
})
