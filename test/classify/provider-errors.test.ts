import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { classify } from '../../src/classify/classify.ts'
import type { Verdict } from '../../src/classify/verdict.ts'
import { classifyCase, toThrown, type CaseContext, type CaseInput } from '../../src/testing/classify-case.ts'
import { rewordInput, rewordings } from './reword.ts'

interface RecordedCase {
  readonly id: string
  readonly input: CaseInput
  readonly context?: CaseContext
  readonly expect: Omit<Verdict, 'retryAfterMs'> & { readonly retryAfterMs: number | null }
}

const file = new URL('../../../shared/data/provider-errors.jsonl', import.meta.url)
const recorded = existsSync(file)
const cases: readonly RecordedCase[] = recorded
  ? readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as RecordedCase)
  : []

/** Cases the classifier gets wrong on purpose, each with its reason. */
const missed: Readonly<Record<string, string>> = {}

type Give = (input: CaseInput, context: CaseContext | undefined) => Verdict

const misses = (give: Give, subjects = cases): readonly string[] =>
  subjects
    .filter(({ input, context, expect: expected }) => {
      const { retryAfterMs = null, ...verdict } = give(input, context)
      return JSON.stringify({ ...verdict, retryAfterMs }, order) !== JSON.stringify(expected, order)
    })
    .map(({ id }) => id)

const order = ['failure', 'outcome', 'retry', 'fallback', 'retryAfterMs', 'alert']

class GatewayError extends Error {
  override readonly name = 'GatewayError'
}

class RetryError extends Error {
  override readonly name = 'AI_RetryError'
  readonly reason = 'maxRetriesExceeded'
  readonly errors: readonly unknown[]
  readonly lastError: unknown
  constructor(lastError: unknown) {
    super('Failed after 3 attempts.')
    this.errors = [new Error('an earlier attempt'), lastError]
    this.lastError = lastError
  }
}

const wrappers: Readonly<Record<string, (error: unknown) => unknown>> = {
  'generic causes': (error) =>
    new Error('Call failed', { cause: new Error('Something went wrong', { cause: error }) }),
  'named causes': (error) =>
    new GatewayError('Gateway error', { cause: new GatewayError('Upstream', { cause: error }) }),
  'a retry error': (error) => new Error('No answer', { cause: new RetryError(error) }),
  'an aggregate': (error) =>
    new Error('Gave up', { cause: new AggregateError([error], 'All attempts failed') }),
}

/** The context as `classify` takes it, for a thrown error that was wrapped on its way. */
const giveWrapped =
  (wrap: (error: unknown) => unknown): Give =>
  (input, context) =>
    input.kind === 'stream'
      ? classifyCase(input, context)
      : // The case's own context still counts, the error only travels further.
        context?.callerAborted || context?.ownLimit || context?.detectSoftFailure
        ? classifyCase(input, context)
        : classify(wrap(toThrown(input)), context?.surface ? { surface: context.surface } : {})

const wrappable = cases.filter(({ input }) => input.kind !== 'stream')

describe.skipIf(!recorded)('recorded provider errors', () => {
  it('get at least 95 % of the verdicts fully right, and the others are known', () => {
    const wrong = misses(classifyCase)
    expect(wrong).toEqual(Object.keys(missed))
    expect(1 - wrong.length / cases.length).toBeGreaterThanOrEqual(0.95)
  })

  it.each(Array.from({ length: rewordings }, (_, variant) => variant))(
    'keep at least 90 %% of the verdicts when their texts are reworded, variant %i',
    (variant) => {
      const wrong = misses((input, context) => classifyCase(rewordInput(input, variant), context))
      expect(1 - wrong.length / cases.length, wrong.join(', ')).toBeGreaterThanOrEqual(0.9)
    },
  )

  it.each(Object.entries(wrappers))('keep at least 90 %% of the verdicts inside %s', (_, wrap) => {
    const wrong = misses(giveWrapped(wrap), wrappable)
    expect(1 - wrong.length / wrappable.length, wrong.join(', ')).toBeGreaterThanOrEqual(0.9)
  })

  it.each(Array.from({ length: rewordings }, (_, variant) => variant))(
    'keep at least 90 %% of the verdicts when reworded and wrapped, variant %i',
    (variant) => {
      for (const wrap of Object.values(wrappers)) {
        const give = giveWrapped(wrap)
        const wrong = misses((input, context) => give(rewordInput(input, variant), context), wrappable)
        expect(1 - wrong.length / wrappable.length, wrong.join(', ')).toBeGreaterThanOrEqual(0.9)
      }
    },
  )
})

describe('rewording', () => {
  it('changes the words but not the numbers and codes', () => {
    const before = 'Rate limit reached for gpt-4o: Limit 30000. Please try again in 18.642s.'
    for (let variant = 0; variant < rewordings; variant++) {
      const body = { error: { message: before, code: 'rate_limit_exceeded' } }
      const after = rewordInput({ kind: 'http', status: 429, body }, variant) as { body: typeof body }
      expect(after.body.error.message).not.toBe(before)
      expect(after.body.error.message).toContain('18.642s')
      expect(after.body.error.code).toBe('rate_limit_exceeded')
    }
  })
})
