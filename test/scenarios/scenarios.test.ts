import { readFileSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseScenario } from '../../src/testing/scenario/parse.ts'
import { runScenario } from '../../src/testing/scenario/run-scenario.ts'

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .sort()
const scenarios = files.map((file) => parseScenario(readFileSync(resolve(import.meta.dirname, file), 'utf8'), file))

describe('scenarios', () => {
  it('has a name of its own for each', () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length)
  })

  it.for(scenarios)('$kind: $name', async (scenario) => {
    expect((await runScenario(scenario)).failure, `${scenario.file}`).toBeUndefined()
  })
})
