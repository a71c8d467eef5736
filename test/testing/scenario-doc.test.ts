import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseScenario } from '../../src/testing/scenario/parse.ts'
import { runScenario } from '../../src/testing/scenario/run-scenario.ts'

const folder = resolve(import.meta.dirname, '../scenarios')
const doc = readFileSync(resolve(folder, 'README.md'), 'utf8')
const examples = [...doc.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text!)

const BREAKER = { kind: 'breaker', name: 'x', breaker: {} }
const CALL = { kind: 'call', name: 'x', switchgear: { targets: [{ name: 'a' }] } }
const step = (keys: object) => ({ ...BREAKER, steps: [keys] })
const answer = (keys: object) => ({ ...CALL, script: { a: [keys] }, calls: [{}] })
const call = (keys: object) => ({ ...CALL, script: {}, calls: [keys] })

const STRANGE = { 'no such key': 1 }
/** Under each heading: scenarios with a key that nobody knows, in the map whose keys stand there. */
const MAPS: Record<string, readonly object[]> = {
  'The whole file': [
    { ...step({}), ...STRANGE },
    { ...call({}), ...STRANGE },
  ],
  'Keys of a step': [step(STRANGE)],
  'Keys of `calls` in a step': [step({ calls: STRANGE })],
  'Keys of `open` and `close`': [step({ open: STRANGE }), step({ close: STRANGE })],
  'Keys of `restart`': [step({ restart: STRANGE }), call({ restart: STRANGE })],
  'Keys of `probes`': [step({ probes: STRANGE })],
  'Keys of an answer': [answer(STRANGE)],
  'Keys of a part of a stream': [answer({ stream: [STRANGE] })],
  'Keys of a call': [call(STRANGE)],
  'Keys of `open` and `close` in calls': [call({ open: STRANGE }), call({ close: STRANGE })],
  'Keys of `expect`': [call({ expect: STRANGE })],
  'Keys of `error`': [call({ expect: { error: STRANGE } })],
}

/** The keys that the reader knows, as it says itself. JSON is YAML. */
function known(scenario: object): readonly string[] {
  try {
    parseScenario(JSON.stringify(scenario))
  } catch (error) {
    const list = /There is no key 'no such key' here\. Known: (.+)\.$/m.exec((error as Error).message)
    if (list !== null) return list[1]!.split(', ')
  }
  throw new Error(`The reader names no keys for ${JSON.stringify(scenario)}.`)
}

/** The keys in the first column of the table under a heading. */
function written(heading: string): readonly string[] {
  const [, after] = doc.split(new RegExp(`^##+ ${heading}$`, 'm'))
  const rows = [...(after ?? '').split(/^#/m)[0]!.matchAll(/^\| (`.*?) \|/gm)]
  return rows.flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, key]) => key!))
}

const sorted = (keys: Iterable<string>) => [...new Set(keys)].toSorted()

describe('the description of scenario files', () => {
  it.each(Object.entries(MAPS))('%s: has all that the reader knows, and no others', (heading, scenarios) => {
    const keys = written(heading)
    expect(keys).toEqual([...new Set(keys)])
    expect(sorted(keys)).toEqual(sorted(scenarios.flatMap(known)))
  })

  it('has no other table of keys', () => {
    const headings = [...doc.matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading!)
    const tables = headings.filter((heading) => written(heading).length > 0)
    expect(tables).toEqual(Object.keys(MAPS))
  })

  it('shows an example of each kind that passes', async () => {
    const scenarios = examples.map((text) => parseScenario(text))
    expect(scenarios.map(({ kind }) => kind)).toEqual(['breaker', 'call'])
    for (const scenario of scenarios) expect((await runScenario(scenario)).failure).toBeUndefined()
  })
})
