import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plans } from '../support/call-plans.ts'
import type { Plan } from '../support/call-plans.ts'
import { Stage } from '../support/call-stage.ts'

const played = (plan: Plan, inline: boolean, reconfigured: boolean) =>
  new Stage(plan, { inline, reconfigured }).play()

describe('calls of every kind, side by side', () => {
  it('the first step inline is the same as a chain that leads from the start', async () => {
    const codes: Record<string, number> = {}
    const wishes = { own: 0, noFallback: 0, bypass: 0 }
    let requests = 0
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const inline = await played(plan, true, false)
        expect(inline.broken).toEqual([])
        expect(await played(plan, false, false)).toEqual(inline)
        requests += inline.sent.length
        for (const step of plan.steps) {
          if (step.do !== 'call') continue
          if (step.targets !== null) wishes.own++
          if (step.noFallback) wishes.noFallback++
          if (step.bypass) wishes.bypass++
        }
        for (const end of inline.ends) {
          const what = (end as { what: unknown } | undefined)?.what
          const code = typeof what === 'string' ? 'answer' : ((what as { code?: string })?.code ?? 'own')
          codes[code] = (codes[code] ?? 0) + 1
        }
      }),
      { numRuns: 400 },
    )
    expect(requests).toBeGreaterThan(2000)
    for (const [wish, times] of Object.entries(wishes)) expect(times, wish).toBeGreaterThan(200)
    for (const code of [
      'answer',
      'own',
      'ERR_CIRCUIT_OPEN',
      'ERR_FALLBACK_EXHAUSTED',
      'ERR_DEADLINE_EXCEEDED',
    ])
      expect(codes[code], code).toBeGreaterThan(20)
  })

  it('the same rules, put in force again, change nothing', async () => {
    let times = 0
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const renewed = await played(plan, true, true)
        expect(renewed.broken).toEqual([])
        expect(renewed).toEqual(await played(plan, true, false))
        times += plan.steps.filter((step) => step.do === 'reconfigure').length
      }),
      { numRuns: 150 },
    )
    expect(times).toBeGreaterThan(100)
  })
})
