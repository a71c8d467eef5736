import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { conformance, conformanceQuestions } from '../../../src/testing/conformance/conformance.ts'
import { conformanceTable } from '../../../src/testing/conformance/conformance-table.ts'
import type { ConformanceRun } from '../../../src/testing/conformance/conformance-table.ts'
import { cockatiel } from './adapters/cockatiel.ts'
import { effect } from './adapters/effect.ts'
import { mollitia } from './adapters/mollitia.ts'
import { opossum } from './adapters/opossum.ts'
import { switchgear } from './adapters/switchgear.ts'
import { vernLlm } from './adapters/vern-llm.ts'
import { resultsText } from './results.ts'

const adapters = [switchgear, opossum, cockatiel, mollitia, vernLlm, effect]

/** One after the other: date and timers of the process are replaced meanwhile. */
async function ask(): Promise<ConformanceRun[]> {
  const runs: ConformanceRun[] = []
  for (const adapter of adapters) runs.push({ adapter, results: await conformance(adapter) })
  console.log(`\n${conformanceTable(runs)}`)
  return runs
}

describe('circuit breakers side by side', () => {
  let asked: Promise<ConformanceRun[]> | undefined
  const askAll = () => (asked ??= ask())

  it('ours is asked everything, and survives it', async () => {
    const [ours] = await askAll()
    expect(ours?.results.filter(({ verdict }) => verdict !== 'survives')).toEqual([])
    expect(ours?.results.length).toBeGreaterThan(150)
  })

  it('every breaker survives most of what it can be asked', async () => {
    for (const { adapter, results } of await askAll()) {
      const count = (verdict: string) => results.filter((result) => result.verdict === verdict).length
      expect(count('survives'), adapter.name).toBeGreaterThan(count('fails'))
    }
  })

  it('declines nothing that it would survive all the same', async () => {
    for (const { declines = {}, ...others } of adapters) {
      const questions = conformanceQuestions(others)
      for (const what of Object.keys(declines)) {
        const verdicts = new Set<string>()
        for (const { id, group, ask } of questions)
          if (id === what || group === what || id.endsWith(`: ${what}`)) verdicts.add((await ask()).verdict)
        expect([...verdicts], `${others.name}: ${what}`).toContain('fails')
      }
    }
  })

  it('is what results.md says (with -u it is written anew)', async () => {
    await expect(resultsText(await askAll())).toMatchFileSnapshot('results.md')
  })

  it('is the table of the README', async () => {
    const readme = readFileSync(resolve(import.meta.dirname, '../../../README.md'), 'utf8')
    const isThere = readme.includes(conformanceTable(await askAll()))
    expect(isThere, 'the table of test/testing/conformance/results.md belongs into the README').toBe(true)
  })
})
