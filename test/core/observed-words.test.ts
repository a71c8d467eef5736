import { describe, expect, it, vi } from 'vitest'

import { createBreaker } from '../../src/index.ts'
import type { BreakerOptions, Transition } from '../../src/index.ts'
import { holdLine, transitionLine } from '../../src/gateway/transition-line.ts'
import type { HeldCircuit } from '../../src/core/transition.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { failing, rig, status } from '../support/rig.ts'

const START = Date.parse('2026-11-30T03:00:00Z')
const SINCE = '2026-11-30T03:00:00.000Z'

function watching(options: BreakerOptions = {}) {
  const clock = new VirtualClock(START)
  const told: Transition[] = []
  const breaker = createBreaker({
    mode: 'observe',
    threshold: 1,
    clock,
    onStateChange: (_from, _to, _failures, _model, transition) => void told.push(transition),
    ...options,
  })
  const fail = () => breaker.execute(() => Promise.reject(status(503))).catch(() => {})
  return { clock, breaker, told, fail }
}

describe('a circuit that is only observed', () => {
  it('says that it would be open, and nothing of refusals or another try', async () => {
    const { breaker, fail } = watching()
    await fail()
    expect(breaker.canExecute()).toBe(true)
    expect(breaker.explain().sentence).toBe(
      `Circuit 'breaker' would be open (only observed: nothing is refused) since ${SINCE}: 1 failure in a row, the last of kind server_error. Failures counted: server_error 1.`,
    )
  })

  it('says that it would be on trial', async () => {
    const { breaker, clock, fail } = watching()
    await fail()
    clock.advance(30_000)
    expect(breaker.explain().sentence).toContain(
      "Circuit 'breaker' would be half-open (only observed: nothing is refused) since",
    )
  })

  it('says so while calls would flow anyway, too', () => {
    const { breaker } = watching()
    expect(breaker.explain().sentence).toBe(
      `Circuit 'breaker' is closed (calls flow, only observed) since ${SINCE}: no transition yet.`,
    )
  })

  it('says so as data, with all other fields as ever', async () => {
    const { breaker, fail } = watching()
    const real = watching({ mode: 'enforce' })
    await fail()
    await real.fail()
    expect(breaker.getStatus()).toEqual({ ...real.breaker.getStatus(), observed: true })
    expect(breaker.explain().status.observed).toBe(true)
    expect(real.breaker.getStatus()).not.toHaveProperty('observed')
  })

  it('marks its transitions, in the log, in a line and as data', async () => {
    const warn = vi.fn()
    const { told, fail } = watching({ logger: { info: vi.fn(), warn, error: vi.fn() } })
    await fail()
    expect(told).toMatchObject([{ from: 'closed', to: 'open', observed: true }])
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ to: 'open', observed: true }),
      "circuit 'breaker': closed → open (observed): 1 failure in a row, the last of kind server_error",
    )
    expect(transitionLine(told[0]!)).toBe(
      '03:00:00.000  breaker  closed → open (observed): 1 failure in a row, the last of kind server_error',
    )
  })

  it('marks a hold', () => {
    const circuitBreaker = { mode: 'observe' } as const
    const { gear } = rig([{ name: 'a', invoke: failing(status(503)), circuitBreaker }])
    const told: HeldCircuit[] = []
    gear.on('hold', (held) => void told.push(held))
    gear.openCircuit({}, { hold: true, by: 'ada' })
    expect(told).toMatchObject([{ observed: true }])
    expect(holdLine(told[0]!)).toContain('  a  held open (observed) by ada until somebody ends it')
    expect(gear.explain()?.sentence).toContain(
      "Circuit 'a' would be open (only observed: nothing is refused), held by ada until somebody ends the hold since",
    )
  })

  it('follows a change of its mode', async () => {
    const invoke = failing(status(503))
    const target = (mode: 'observe' | 'enforce') =>
      [{ name: 'a', invoke, maxRetries: 0, circuitBreaker: { mode, threshold: 1 } }] as const
    const { gear } = rig(target('observe'))
    await gear.call('x').catch(() => {})
    gear.reconfigure({ targets: target('enforce') })
    expect(gear.getStatus()).not.toHaveProperty('observed')
    expect(gear.explain()?.sentence).toContain("Circuit 'a' is open (calls refused) since")
  })
})

describe('a hold without an end', () => {
  it.each([
    ['open', 'open (calls refused)'],
    ['close', 'closed (calls flow)'],
  ] as const)('lasts until somebody ends it: %s', (verb, words) => {
    const { breaker } = watching({ mode: 'enforce' })
    breaker[verb]({ hold: true })
    expect(breaker.explain().sentence).toBe(
      `Circuit 'breaker' is ${words}, held by operator until somebody ends the hold since ${SINCE}.`,
    )
  })
})
