import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { coverText, formatPaths } from '../../src/audit/paths/format-paths.ts'
import { policyPaths } from '../../src/audit/paths/policy-paths.ts'
import { scenarioText } from '../../src/audit/walk/walk-scenario.ts'
import { pathsCommand } from '../../src/cli/paths.ts'
import type { CircuitBreakerOptions } from '../../src/core/breaker-options.ts'
import { resolveBreaker } from '../../src/core/breaker-options.ts'
import { llmDefaults, toolDefaults } from '../../src/core/presets.ts'
import { parseScenario } from '../../src/testing/scenario/parse.ts'
import { runScenario } from '../../src/testing/scenario/run-scenario.ts'

const pathsOf = (options: CircuitBreakerOptions, most?: number) => policyPaths(resolveBreaker(options), most)!

/** The names of the paths that do not hold for a breaker of these options. */
async function failing(options: CircuitBreakerOptions, other = options, most?: number): Promise<string[]> {
  const failed: string[] = []
  for (const { scenario, name } of pathsOf(options, most).paths) {
    const { probeLeaseMs } = scenario.breaker
    const text = scenarioText({ ...scenario, breaker: { ...other, probeLeaseMs } })
    if (!(await runScenario(parseScenario(text))).passed) failed.push(name)
  }
  return failed
}

describe('the paths of a policy', () => {
  it('take every step there is, where they are few enough', async () => {
    const { cover, paths, walked, all } = pathsOf({ threshold: 1 }, 5000)
    expect(cover).toBe('edges')
    expect(walked.complete).toBe(true)
    expect(paths.length).toBe(all)
    // each step that leads to a place already known ends a path, every other one begins more
    expect(paths.length).toBe(walked.steps - (walked.places - 1))
    expect(await failing({ threshold: 1 }, undefined, 5000)).toEqual([])
  })

  it.each(
    Object.entries({
      plain: {},
      llmDefaults,
      toolDefaults,
      slow: { tripping: { kind: 'latency', windowMs: 10_000, minCalls: 3, slowMs: 100, slowRatio: 0.5 } },
    } satisfies Record<string, CircuitBreakerOptions>),
  )('%s: every one of a sample holds', async (_name, options) => {
    const { cover, paths } = pathsOf(options, 10)
    expect(cover).toBe('sample')
    expect(paths.length).toBeGreaterThan(25)
    expect(await failing(options, undefined, 10)).toEqual([])
  })

  it.each<[string, CircuitBreakerOptions]>([
    ['another threshold', { threshold: 4 }],
    ['another cooldown', { cooldownMs: 29_999 }],
    ['another verdict', { halfOpenProbes: 2 }],
    ['no Retry-After', { maxRetryAfterMs: 0 }],
    ['a longer Retry-After', { maxRetryAfterMs: 300_001 }],
  ])('notice %s', async (_name, other) => {
    expect((await failing({}, other, 10)).length).toBeGreaterThan(0)
  })

  it('have names of their own', () => {
    const names = pathsOf({}).paths.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  it('cannot be told where code decides', () => {
    const tripping = { onSuccess: () => {}, onFailure: () => false, reset: () => {} }
    expect(policyPaths(resolveBreaker({ tripping }))).toBeUndefined()
  })
})

describe('switchgear paths', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'paths-'))
    writeFileSync(
      join(dir, 'gateway.yaml'),
      'targets:\n  - { name: a, baseUrl: https://a.example.com/v1, circuitBreaker: { threshold: 1 } }\n  - { name: b, baseUrl: https://b.example.com/v1, circuitBreaker: { threshold: .inf } }\n',
    )
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  async function paths(...args: string[]): Promise<string> {
    let out = ''
    const command = pathsCommand()
      .exitOverride()
      .configureOutput({ writeOut: (text) => (out += text), writeErr: () => {} })
    await command.parseAsync([join(dir, 'gateway.yaml'), ...args], { from: 'user' })
    return out
  }

  it('keeps a name on the line it stands in', () => {
    const named = [
      { targets: ['a\nprocess.exit(1) //\u2028x\u001B[2J'], found: pathsOf({ threshold: 1 }, 5) },
    ]
    const clean = 'a\uFFFDprocess.exit(1) //\uFFFDx\uFFFD[2J'
    expect(formatPaths(named, 'vitest')).toContain(`// Rules of ${clean}: `)
    expect(formatPaths(named, 'vitest')).not.toMatch(/^process/m)
    expect(formatPaths(named, 'gherkin')).toMatch(
      /^Feature: The circuit of a\uFFFDprocess.*\n {2}Rules of a\uFFFDprocess/,
    )
    expect(coverText(named)).not.toMatch(/\p{Cc}/u)
  })

  it('writes Gherkin', async () => {
    const told = await paths('--format', 'gherkin', '--most', '5')
    expect(told).toMatch(
      /^Feature: The circuit of a\n {2}Rules of a: all \d+ paths would be too many \(--most \d+ takes them\), so \d+ paths take every sort of step once/,
    )
    expect(told).toMatch(
      /\n {2}Scenario: \d+: a call fails.*\n {4}Given .*\n {4}When a call fails.*\n {4}Then the circuit is open/,
    )
  })

  it('writes JSON', async () => {
    const told = JSON.parse(await paths('--format', 'json', '--most', '5000')) as {
      cover: string
      scenarios: object[]
      breaker: object
    }[]
    expect(told.map(({ cover }) => cover)).toEqual(['edges', 'edges'])
    expect(told[1]!.breaker).toMatchObject({ threshold: 'Infinity' })
    expect(told[0]!.scenarios[0]).toMatchObject({
      name: expect.any(String),
      given: expect.any(Array),
      when: expect.any(String),
      steps: expect.any(Array),
    })
  })

  it('writes tests that vitest runs', async () => {
    const root = resolve(import.meta.dirname, '../..')
    const folder = join(root, 'node_modules', '.paths-test')
    mkdirSync(folder, { recursive: true })
    try {
      const file = join(folder, 'circuits.test.ts')
      expect(await paths('--out', file, '--most', '5')).toMatch(/is written\.\nRules of a: /)
      const text = readFileSync(file, 'utf8')
      expect(text).toContain(`from 'switchgear/testing'`)
      writeFileSync(
        file,
        text.replace("'switchgear/testing'", JSON.stringify(join(root, 'src/testing/index.ts'))),
      )
      const bin = join(root, 'node_modules/vitest/vitest.mjs')
      const { stdout } = await promisify(execFile)(process.execPath, [
        bin,
        'run',
        '--root',
        folder,
        '--no-color',
      ])
      expect(stdout).toMatch(/Tests +\d+ passed/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }, 60_000)
})
