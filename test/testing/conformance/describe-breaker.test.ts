import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { describeBreaker } from '../../../src/testing/conformance/describe-breaker.ts'
import type { DescribeBreakerOptions } from '../../../src/testing/conformance/describe-breaker.ts'
import { homemade } from './homemade.ts'

/** A runner that only notes its tests. */
function noted(options: DescribeBreakerOptions, adapter = homemade('a late success closes')) {
  const tests = new Map<string, (...context: unknown[]) => Promise<void>>()
  const path: string[] = []
  describeBreaker(adapter, {
    describe: (name, body) => {
      path.push(name)
      body()
      path.pop()
    },
    it: (name, body) => tests.set([...path, name].join(' > '), body),
    rules: {},
    ...options,
  })
  return tests
}

const LATE = 'homemade, but a late success closes: conformance > a late success decides nothing'

describe('describeBreaker', () => {
  it('makes a test of every question, by group', async () => {
    const tests = noted({})
    expect([...tests.keys()]).toContain(`${LATE} > late-success-does-not-close`)
    await expect(tests.get(`${LATE} > late-success-does-not-close`)?.()).rejects.toThrow(
      'step 6 (succeed slow)',
    )
    const fine = [...tests].find(([name]) => name.endsWith('two-whole-cycles'))
    await expect(fine?.[1]()).resolves.toBeUndefined()
  })

  it('skips what cannot be asked, where the runner can', async () => {
    const [, test] = [...noted({})].find(([name]) => name.endsWith('hold-outlives-the-cooldown')) ?? []
    const notes: unknown[] = []
    await test?.({ skip: (note: unknown) => notes.push(note) })
    expect(notes).toEqual(['does not offer holding it open'])
    await expect(test?.()).resolves.toBeUndefined()
  })

  it('passes a known failure as long as it is one', async () => {
    const tests = noted({ knownFailures: ['late-success-does-not-close', 'two-whole-cycles'] })
    await expect(tests.get(`${LATE} > late-success-does-not-close`)?.()).resolves.toBeUndefined()
    const fine = [...tests].find(([name]) => name.endsWith('two-whole-cycles'))
    await expect(fine?.[1]()).rejects.toThrow(
      'is a known failure, but now it survives: take it off the list.',
    )
  })

  it('does not take a known failure that is none of its questions', () => {
    expect(() => noted({ knownFailures: ['late-succes'] })).toThrow("No question is called 'late-succes'.")
  })

  it('says what to do where there is no test runner', () => {
    expect(() => describeBreaker(homemade())).toThrow('pass them: describeBreaker(adapter, { describe, it })')
  })

  it('works under node:test', async () => {
    const at = (file: string) => JSON.stringify(pathToFileURL(resolve(import.meta.dirname, file)).href)
    const code = `
      import { describe, it } from 'node:test'
      import { describeBreaker } from ${at('../../../src/testing/conformance/describe-breaker.ts')}
      import { homemade } from ${at('homemade.ts')}
      const knownFailures = ['late-success-does-not-close', 'late-success-does-not-decide-a-trial', 'the-worst-possible-timer-race']
      describeBreaker(homemade('a late success closes'), { describe, it, knownFailures, rules: {} })`
    const args = ['--test-reporter=tap', '--input-type=module', '-e', code]
    // a test run inside of a test run would report to the outer one
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined }
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    expect(stdout).toMatch(/# pass [1-9]\d/)
    expect(stdout).toMatch(/# fail 0\n/)
    expect(stdout).toMatch(/# skipped [1-9]\d/)
  })
})
