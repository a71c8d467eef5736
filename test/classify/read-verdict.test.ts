import { describe, expect, it } from 'vitest'
import { failureTable, verdictOf } from '../../src/classify/failure-table.ts'
import { readVerdict } from '../../src/classify/read-verdict.ts'
import type { FailureKind } from '../../src/classify/verdict.ts'
import { HOSTILE } from '../support/rig.ts'

describe('a verdict of the user’s own', () => {
  it.each(Object.keys(failureTable) as FailureKind[])('%s is read as the table says it', (kind) => {
    for (const verdict of [verdictOf(kind), verdictOf(kind, 1500)])
      expect(readVerdict(verdict)).toEqual(verdict)
  })

  it('may say something else in every column', () => {
    const own = { ...verdictOf('auth'), retry: 'after', fallback: 'stop', alert: false, retryAfterMs: 7 }
    expect(readVerdict(own)).toEqual(own)
  })

  it('has the columns of its row where it says nothing, or nonsense', () => {
    expect(readVerdict({ failure: 'auth', outcome: 'neutral' })).toEqual({
      ...verdictOf('auth'),
      outcome: 'neutral',
    })
    const nonsense = { retry: 'maybe', fallback: 7, alert: 'yes', retryAfterMs: Number.NaN }
    expect(readVerdict({ ...nonsense, failure: 'timeout', outcome: 'failure' })).toEqual(verdictOf('timeout'))
  })

  it.each(['my own', '__proto__', 'constructor'])(
    'of a kind that no row has (%s) goes on to the next target',
    (failure) => {
      expect(readVerdict({ failure, outcome: 'failure' })).toEqual({ ...verdictOf('unknown'), failure })
    },
  )

  it.each<readonly [string, unknown]>([
    ...HOSTILE,
    ['without a kind', { outcome: 'failure' }],
    ['without an outcome', { failure: 'auth' }],
    ['with an outcome that is none', { failure: 'auth', outcome: 'perhaps' }],
  ])('%s is none', (_what, answer) => {
    expect(readVerdict(answer)).toBeUndefined()
  })
})
