import { checkKeys, checkList, didYouMean } from '../../core/validate.ts'
import type { BreakerAdapter } from './adapter.ts'
import { conformanceQuestions } from './conformance.ts'
import type { ConformanceOptions, ConformanceResult } from './conformance.ts'

/** What is used of a test runner: vitest, Jest, Mocha and node:test have it. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: (...context: unknown[]) => Promise<void>): unknown
}

export interface DescribeBreakerOptions extends ConformanceOptions, Partial<TestRunner> {
  /**
   * Ids of what the breaker is known to fail, as its message begins with: such a test passes, and fails as soon as the
   * breaker does not. Default: none.
   */
  readonly knownFailures?: readonly string[]
}

function runnerOf({ describe, it }: Partial<TestRunner>): TestRunner {
  const around = globalThis as Partial<TestRunner>
  const found = { describe: describe ?? around.describe, it: it ?? around.it }
  if (typeof found.describe === 'function' && typeof found.it === 'function') return found as TestRunner
  throw new TypeError(
    'There is no describe and it. Import them from the test runner and pass them: describeBreaker(adapter, { describe, it }).',
  )
}

/** Marks a test as skipped, where its runner can. */
function skip(context: unknown, reason: string | undefined): void {
  const test = context as { readonly skip?: unknown } | undefined
  if (typeof test?.skip === 'function') (test.skip as (note?: string) => void).call(test, reason)
}

/** All that helps to mend it, a line each. */
function failureText(
  id: string,
  { reason, why, rules, steps, file }: Omit<ConformanceResult, 'id' | 'group'>,
): string {
  const lines = { Why: why, Rules: rules, Steps: steps, Scenario: file }
  return [
    `${id}: ${reason}.`,
    ...Object.entries(lines).flatMap(([word, text]) => (text ? [`${word}: ${text}`] : [])),
  ].join('\n')
}

function checkKnown(knownFailures: readonly unknown[], ids: readonly string[]): void {
  const unknown = knownFailures.find((known) => !ids.includes(known as string))
  if (unknown === undefined) return
  const nearest = didYouMean(String(unknown), ids)
  // the list of all would be longer than anybody reads
  const hint = nearest.startsWith('Known')
    ? `An id stands at the beginning of its failure's message.`
    : nearest
  throw new RangeError(`No question is called '${String(unknown)}'. ${hint}`)
}

/**
 * Makes a test of every question of the conformance kit. What the breaker does not offer is skipped.
 *
 * @throws ConfigError for an adapter or options that are not as they should be
 * @throws TypeError where there is no test runner
 * @throws RangeError for a known failure that no question is called by
 * @example
 * ```ts
 * import { describe, it } from 'vitest'
 *
 * describeBreaker(adapter, { describe, it, knownFailures: ['negative-cooldown-is-refused'] })
 * ```
 */
export function describeBreaker(adapter: BreakerAdapter, options: DescribeBreakerOptions = {}): void {
  checkKeys('', options, ['describe', 'it', 'knownFailures', 'scenarios', 'rules'])
  const { describe: _, it: __, knownFailures = [], ...asked } = options
  checkList('knownFailures', knownFailures)
  const questions = conformanceQuestions(adapter, asked)
  const { describe, it } = runnerOf(options)
  checkKnown(
    knownFailures,
    questions.map(({ id }) => id),
  )
  const byGroup = Map.groupBy(questions, ({ group }) => group)
  describe(`${adapter.name}: conformance`, () => {
    for (const [group, list] of byGroup) {
      describe(group, () => {
        for (const { id, ask } of list) {
          const name = id.startsWith(`${group}: `) ? id.slice(group.length + 2) : id
          // no parameter of its own: runners with callbacks would wait for one
          it(name, async (...[context]) => {
            const answer = await ask()
            const { verdict, reason } = answer
            const isKnown = knownFailures.includes(id)
            if (isKnown && verdict !== 'fails')
              throw new Error(`${id} is a known failure, but now it ${verdict}: take it off the list.`)
            if (verdict === 'fails' && !isKnown) throw new Error(failureText(id, answer))
            if (verdict === 'cannot be asked') skip(context, reason)
          })
        }
      })
    }
  })
}
