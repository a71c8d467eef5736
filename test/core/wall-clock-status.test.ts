import { describe, expect, it, vi } from 'vitest'

import { createBreaker } from '../../src/index.ts'
import type { HeldCircuit, Transition } from '../../src/core/transition.ts'
import { prometheusMetrics } from '../../src/telemetry/prometheus.ts'
import { webhookAlerts } from '../../src/telemetry/webhook-alerts.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { startReceiver } from '../telemetry/receiver.ts'
import { samplesIn } from '../telemetry/support.ts'
import { SkewedClock } from '../support/skewed-clock.ts'
import { failing, never, rig, status } from '../support/rig.ts'
import type { Options, Target } from '../support/rig.ts'

const START = Date.parse('2026-11-30T03:00:00Z')
const HOUR = 3_600_000
const rules = { threshold: 1, cooldownMs: 30_000 }
const down: Target = { name: 'a', invoke: failing(status(503)), maxRetries: 0, circuitBreaker: rules }
const iso = (at: number) => new Date(at).toISOString()

/** A switchgear on a clock that stands still, its wall clock an hour ahead of the monotonic one. */
function scene(targets: readonly Target[] = [down], options: Options = {}) {
  const clock = new SkewedClock(START)
  clock.skew = HOUR
  const { gear } = rig(targets, { clock, ...options })
  return { clock, gear, fail: () => gear.call('x').catch(() => {}) }
}

describe('what is handed out as epoch ms is on the wall clock of the moment', () => {
  it('in the status of a breaker, whatever the wall clock does meanwhile', () => {
    const clock = new SkewedClock(START)
    const breaker = createBreaker({ ...rules, clock })
    const permit = breaker.tryAcquire()
    if (permit.admitted) breaker.settle(permit, { outcome: 'failure', failure: 'timeout' })
    for (const skew of [0, HOUR, -HOUR]) {
      clock.skew = skew
      const at = START + skew
      expect(breaker.getStatus()).toMatchObject({ since: at, openedAt: at, openUntil: at + 30_000 })
      const { since, openedAt, openUntil } = breaker.snapshot()
      expect(breaker.getStatus()).toMatchObject({ since, openedAt, openUntil, retryAfterMs: 30_000 })
    }
  })

  it('in the status of a breaker, the same each time while the wall clock is not set', () => {
    class Uneven extends VirtualClock {
      reads = 0
      override wall(): number {
        // cut to whole ms at another moment than now()
        return this.now() + HOUR + (this.reads++ % 2)
      }
    }
    const breaker = createBreaker({ clock: new Uneven(START) })
    const times = Array.from({ length: 4 }, () => breaker.getStatus().since)
    expect(new Set(times).size).toBe(1)
  })

  it('in an explanation, its data and its sentence, the end of a hold included', () => {
    const { clock, gear } = scene()
    gear.openCircuit({}, { hold: true, ttlMs: 60_000, by: 'ada', reason: 'migration' })
    const told = gear.explain()
    expect(told?.hold).toEqual({ by: 'ada', reason: 'migration', until: clock.wall() + 60_000 })
    expect(told?.status).toEqual(gear.getStatus())
    expect(told?.status).toMatchObject({ since: clock.wall(), openedAt: clock.wall(), openUntil: null })
    expect(told?.sentence).toContain(`since ${iso(clock.wall())}`)
  })

  it('as the error of a refusal says it', async () => {
    const { clock, gear, fail } = scene()
    await fail()
    clock.skew += HOUR
    const refused = await gear.call('x').catch((error: unknown) => error)
    expect(refused).toMatchObject({ retryAfter: gear.getStatus()?.openUntil })
  })

  it('in stats()', async () => {
    const { clock, gear, fail } = scene()
    await fail()
    expect(gear.stats().breakers[0]?.status.since).toBe(clock.wall())
  })

  it('in a transition, to every listener and the log', async () => {
    const told: Transition[] = []
    const info = vi.fn()
    const warn = vi.fn()
    const { clock, gear } = scene([down], {
      logger: { info, warn, error: vi.fn() },
      onStateChange: (_from, _to, _failures, _model, transition) => void told.push(transition),
      onEvent: (event) => void (event.type === 'circuit_state' && told.push(event)),
    })
    gear.on('transition', (transition) => void told.push(transition))
    await gear.call('x', { onTransition: (transition) => void told.push(transition) }).catch(() => {})
    expect(told).toHaveLength(4)
    for (const transition of told)
      expect(transition).toMatchObject({ at: clock.wall(), openUntil: clock.wall() + 30_000 })
    expect(warn).toHaveBeenCalledWith(expect.objectContaining({ at: clock.wall() }), expect.anything())
  })

  it('in a hold that is told', () => {
    const { clock, gear } = scene()
    const told: HeldCircuit[] = []
    gear.on('hold', (held) => void told.push(held))
    gear.closeCircuit({}, { hold: true, ttlMs: 60_000, by: 'ada' })
    const { at, hold } = told[0]!
    expect([at, hold.until]).toEqual([clock.wall(), clock.wall() + 60_000])
  })

  it('in metrics, and shifted once', async () => {
    const { clock, gear, fail } = scene()
    await fail()
    const samples = samplesIn(await prometheusMetrics(gear).text())
    expect(samples.get('switchgear_open_until_timestamp_seconds{target="a",model=""}')).toBe(
      (clock.wall() + 30_000) / 1000,
    )
    expect([...samples].find(([name]) => name.includes('since'))?.[1]).toBe(clock.wall() / 1000)
  })
})

describe('alerts, where the wall clock is not the monotonic one', () => {
  it('tell an opening and its end, and a hold and its end, on the wall clock', async () => {
    await using receiver = await startReceiver()
    const { clock, gear, fail } = scene()
    const alerts = webhookAlerts(gear, { clock, receivers: [{ url: receiver.url }] })
    await fail()
    gear.closeCircuit({}, { hold: true, ttlMs: 60_000, by: 'ada' })
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(2))
    expect(receiver.events()).toMatchObject([
      { time: iso(clock.wall()), data: { openUntil: iso(clock.wall() + 30_000) } },
      { time: iso(clock.wall()), data: { until: iso(clock.wall() + 60_000) } },
    ])
    await alerts.close({ graceMs: 0 })
  })

  it.each(['before', 'after'])('find a trial stuck in time that began %s they did', async (when) => {
    await using receiver = await startReceiver()
    let hangs = false
    const invoke = () => (hangs ? never() : Promise.reject(status(503)))
    const { clock, gear, fail } = scene([{ ...down, invoke }])
    const watch = () =>
      webhookAlerts(gear, {
        clock,
        receivers: [{ url: receiver.url, on: ['stuck-half-open'], stuckHalfOpenMs: 60_000 }],
      })
    let alerts = when === 'after' ? watch() : undefined
    await fail()
    clock.advance(30_000)
    hangs = true
    const probe = new AbortController()
    const asked = gear.call('x', { signal: probe.signal }).catch(() => {})
    const since = clock.wall()
    alerts ??= watch()
    clock.advance(59_999)
    expect(alerts.counts).toEqual({ delivered: 0, dropped: 0, waiting: 0 })
    clock.advance(1)
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(1))
    expect(receiver.events()).toMatchObject([
      { data: { since: iso(since), summary: expect.stringContaining('for 1 min') } },
    ])
    probe.abort()
    await asked
    await alerts.close({ graceMs: 0 })
  })

  it('count openings by the time that really passed', async () => {
    await using receiver = await startReceiver()
    const { clock, gear, fail } = scene()
    const alerts = webhookAlerts(gear, {
      clock,
      receivers: [{ url: receiver.url, on: ['flapping'], flapping: { opens: 2, withinMs: 60_000 } }],
    })
    await fail()
    clock.advance(30_000)
    clock.skew += HOUR
    await fail()
    await vi.waitFor(() => expect(alerts.counts.delivered).toBe(1))
    await alerts.close({ graceMs: 0 })
  })
})
