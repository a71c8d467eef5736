import { expect, it } from 'vitest'

import { playOutage, unmetConditions } from '../../src/gateway/demo-outage.ts'

it('one outage: every call is answered, the circuit goes its way once, and the summary adds up', async () => {
  const progress: string[] = []
  const report = await playOutage({ onProgress: (what) => progress.push(what) })
  expect(unmetConditions(report)).toEqual([])
  expect(report.durationMs).toBeLessThan(15_000)
  expect(report.answered).toBe(report.calls)
  expect(report.calls).toBeGreaterThanOrEqual(200)
  expect(report.saved).toBeGreaterThanOrEqual(100)
  expect(report.detectMs).toBeLessThan(2000)
  expect(report.recoverMs).toBeLessThan(3000)
  expect(Object.values(report.answeredBy).reduce((a, b) => a + b, 0)).toBe(report.calls)
  expect(progress.length).toBeGreaterThan(4)

  const spoilt = { ...report, calls: 199, answered: 190, saved: 99, transitions: [] }
  expect(unmetConditions(spoilt)).toHaveLength(4)
})
