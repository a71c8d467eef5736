import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

import type { CircuitState } from '../../machines/circuit-state.ts'
import { activeState, lastWay } from '../../visualizations/dashboard/chart-place.ts'

const root = resolve(import.meta.dirname, '../..')
const chart = readFileSync(resolve(root, 'visualizations/charts/breaker.svg'), 'utf8')
const styles = readFileSync(resolve(root, 'visualizations/dashboard/styles/chart.css'), 'utf8')
const ids = (prefix: string) =>
  [...chart.matchAll(new RegExp(`id="${prefix}:([^"]+)"`, 'g'))].map(([, id]) => id ?? '')
const ways = ids('way')

const came = (
  from: CircuitState,
  to: CircuitState,
  held = false,
  told: { type?: string; by?: string } = {},
) => lastWay({ from, to, type: told.type, by: told.by }, activeState({ state: to, held }), ways)

describe('a circuit on the chart of the breaker', () => {
  it('stands in a state that the chart has, and in a state of its own', () => {
    const states = (['closed', 'degraded', 'open', 'half-open'] as const).flatMap((state) =>
      [false, true].map((held) => activeState({ state, held })),
    )
    for (const state of states) expect(ids('state')).toContain(state)
    expect(new Set(states).size).toBe(6)
  })

  it.each([
    [came('closed', 'open'), 'breaker.closed/breaker.open.cooling'],
    [came('degraded', 'open'), 'breaker.closed/breaker.open.cooling'],
    [came('closed', 'degraded'), 'breaker.closed.healthy/breaker.closed.degraded'],
    [came('degraded', 'closed'), 'breaker.closed.degraded/breaker.closed.healthy'],
    [came('open', 'half-open'), 'breaker.open.cooling/breaker.halfOpen'],
    [came('half-open', 'open'), 'breaker.halfOpen/breaker.open.cooling'],
    [came('half-open', 'closed'), 'breaker.halfOpen/breaker.closed.healthy'],
    [came('half-open', 'closed', false, { by: 'alice' }), 'breaker/breaker.closed.healthy'],
    [came('open', 'closed', false, { by: 'alice' }), 'breaker/breaker.closed.healthy'],
    [came('closed', 'open', true, { by: 'alice' }), 'breaker.closed/breaker.open.held'],
    [came('open', 'open', true, { by: 'alice' }), 'breaker.open/breaker.open.held'],
    [came('open', 'closed', true, { by: 'alice' }), 'breaker/breaker.closed.held'],
    [came('closed', 'closed', false, { type: 'hold.ended' }), 'breaker.closed.held/breaker.closed.healthy'],
    [came('closed', 'open', false, { type: 'resumed' }), undefined],
  ])('came there by a way of the chart: %s', (way, expected) => {
    expect(way).toBe(expected)
  })

  it('has a light and a dark counterpart for every colour of the chart', () => {
    const used = new Set(
      [...chart.matchAll(/(fill|stroke)="(#[0-9a-f]{6})"/g)].map(
        ([, trait, colour]) => `${trait}='${colour}'`,
      ),
    )
    // small marks keep their colour in both
    const kept = ["fill='#bf8700'", "fill='#cf222e'"]
    const missing = [...used].filter((each) => !styles.includes(`[${each}]`) && !kept.includes(each))
    expect(missing).toEqual([])
  })
})
