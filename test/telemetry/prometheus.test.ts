import { Counter, Registry } from 'prom-client'
import type { OpenMetricsContentType } from 'prom-client'
import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import { METRICS } from '../../src/telemetry/names.ts'
import type { MetricKey } from '../../src/telemetry/names.ts'
import { prometheusMetrics } from '../../src/telemetry/prometheus.ts'
import { readSamples } from '../../src/telemetry/samples.ts'
import type { JournalState } from '../../src/telemetry/source.ts'
import type { JournalHealth } from '../../src/stores/journal-store.ts'
import { SkewedClock } from '../support/skewed-clock.ts'
import { answer, failing, never, rig, status } from '../support/rig.ts'
import type { Options, Target } from '../support/rig.ts'
import { countedIn, hasPromtool, promtool, samplesIn, withPromtool } from './support.ts'

const breaker = { threshold: 2, cooldownMs: 30_000 }
const down: Target = { name: 'a', invoke: failing(status(500)), maxRetries: 0, circuitBreaker: breaker }
const up: Target = { name: 'b', model: 'gpt-5', invoke: answer('hello'), circuitBreaker: breaker }

function scene(targets: readonly Target[], options: Options = {}) {
  const { clock, gear } = rig(targets, options)
  const metrics = prometheusMetrics(gear)
  return { clock, gear, metrics, counted: async (name: string) => countedIn(await metrics.text(), name) }
}

const calls = async (gear: ReturnType<typeof rig>['gear'], n: number, options = {}) => {
  for (let i = 0; i < n; i++) await gear.call('hi', options).catch(() => {})
}

describe('the metrics of an outage', () => {
  it('show state, savings, fallback traffic and how the callers fared', async () => {
    const { gear, counted } = scene([down, up])
    await calls(gear, 5)
    expect(await counted('switchgear_breaker_state')).toEqual({
      'switchgear_breaker_state{target="a",model="",state="open"}': 1,
      'switchgear_breaker_state{target="b",model="gpt-5",state="closed"}': 1,
    })
    expect(await counted('switchgear_refused_total')).toEqual({
      'switchgear_refused_total{target="a",model="",reason="open"}': 3,
    })
    expect(await counted('switchgear_fallback')).toEqual({
      'switchgear_fallback_attempted_total{from="a",to="b",result="success"}': 5,
    })
    expect(await counted('switchgear_requests_total')).toEqual({
      'switchgear_requests_total{result="answered"}': 5,
    })
    expect(await counted('switchgear_calls_total')).toEqual({
      'switchgear_calls_total{target="a",model="",outcome="failure"}': 2,
      'switchgear_calls_total{target="b",model="gpt-5",outcome="success"}': 5,
    })
    expect(await counted('switchgear_failures_total')).toEqual({
      'switchgear_failures_total{target="a",kind="server_error"}': 2,
    })
    expect(await counted('switchgear_breaker_transitions_total')).toEqual({
      'switchgear_breaker_transitions_total{target="a",model="",from="closed",to="open",reason="tripped"}': 1,
    })
  })

  it('say until when a circuit is open, in seconds of the wall clock, and no longer than it is', async () => {
    const clock = new SkewedClock(1_000_000)
    const { gear, metrics } = scene([down, up], { clock })
    await calls(gear, 2)
    const name = 'switchgear_open_until_timestamp_seconds{target="a",model=""}'
    expect(samplesIn(await metrics.text()).get(name)).toBe((1_000_000 + 30_000) / 1000)
    // the wall clock is put forward meanwhile
    clock.skew = 5_000
    expect(samplesIn(await metrics.text()).get(name)).toBe((1_000_000 + 35_000) / 1000)
    clock.advance(30_000)
    expect(samplesIn(await metrics.text()).has(name)).toBe(false)
  })

  it('show a probe in flight, and its circuit as half-open', async () => {
    let slow = false
    const flaky: Target = { ...down, invoke: () => (slow ? never() : Promise.reject(status(500))) }
    const { clock, gear, counted } = scene([flaky])
    await calls(gear, 2)
    clock.advance(30_000)
    slow = true
    const probe = new AbortController()
    const asked = gear.call('hi', { signal: probe.signal }).catch(() => {})
    expect(await counted('switchgear_probe_in_flight')).toEqual({
      'switchgear_probe_in_flight{target="a",model=""}': 1,
    })
    expect(await counted('switchgear_requests_in_flight')).toEqual({ switchgear_requests_in_flight: 1 })
    probe.abort()
    await asked
    expect(await counted('switchgear_probe_in_flight')).toEqual({})
    expect(await counted('switchgear_requests_total')).toMatchObject({
      'switchgear_requests_total{result="aborted"}': 1,
    })
  })

  it('show how far a circuit is from opening, and the ratio of its window', async () => {
    const tripping = [
      { kind: 'rolling', windowMs: 60_000, minCalls: 4, failureRatio: 0.5 },
      { kind: 'consecutive', threshold: 4 },
    ] as const
    let fails = true
    const invoke = () => (fails ? Promise.reject(status(500)) : Promise.resolve('yes'))
    const { gear, counted } = scene([{ name: 'a', invoke, maxRetries: 0, circuitBreaker: { tripping } }])
    await calls(gear, 1)
    expect(await counted('switchgear_threshold')).toEqual({
      'switchgear_threshold_reached_ratio{target="a",model=""}': 0.25,
    })
    fails = false
    await calls(gear, 3)
    expect(await counted('switchgear_failure_ratio')).toEqual({
      'switchgear_failure_ratio{target="a",model=""}': 0.25,
    })
  })

  it('count a hop to a target that refuses, too', async () => {
    const { gear, counted } = scene([down, { ...down, name: 'c' }, up])
    await calls(gear, 4)
    expect(await counted('switchgear_fallback')).toEqual({
      'switchgear_fallback_attempted_total{from="a",to="c",result="failure"}': 2,
      'switchgear_fallback_attempted_total{from="a",to="c",result="refused"}': 2,
      'switchgear_fallback_attempted_total{from="c",to="b",result="success"}': 4,
    })
  })

  it.each([
    ['rejected', failing(status(400)), {}],
    ['failed', failing(status(500)), {}],
    ['deadline', never, { deadlineMs: 50 }],
  ] as const)('tell requests that ended as %s', async (result, invoke, options) => {
    const { clock, gear, counted } = scene([{ name: 'a', invoke, maxRetries: 0 }])
    const asked = gear.call('hi', options).catch(() => {})
    clock.advance(50)
    await asked
    expect(await counted('switchgear_requests_total')).toEqual({
      [`switchgear_requests_total{result="${result}"}`]: 1,
    })
  })

  it('tell requests that nobody was asked for', async () => {
    const { gear, counted } = scene([down])
    gear.openCircuit()
    await calls(gear, 3)
    expect(await counted('switchgear_requests_total')).toEqual({
      'switchgear_requests_total{result="refused"}': 3,
    })
    expect(await counted('switchgear_attempts_total')).toEqual({})
  })

  it('count retries, and each attempt in the histogram', async () => {
    const { clock, gear, metrics } = scene([{ ...down, maxRetries: 2, circuitBreaker: false }])
    const asked = gear.call('hi').catch(() => {})
    while (clock.nextAt !== undefined) {
      await Promise.resolve()
      clock.set(clock.nextAt ?? clock.now())
      for (let i = 0; i < 5; i++) await Promise.resolve()
    }
    await asked
    const samples = samplesIn(await metrics.text())
    expect(samples.get('switchgear_retries_total{target="a"}')).toBe(2)
    expect(samples.get('switchgear_attempt_duration_seconds_count{target="a"}')).toBe(3)
    expect(samples.get('switchgear_attempt_duration_seconds_bucket{target="a",le="+Inf"}')).toBe(3)
  })
})

describe('the metrics of requests', () => {
  it('measure in seconds, in buckets that double', async () => {
    const { clock, gear, metrics } = scene([{ name: 'a', invoke: never, timeoutMs: 1_500, maxRetries: 0 }])
    const asked = gear.call('hi').catch(() => {})
    clock.advance(1_500)
    await asked
    const samples = samplesIn(await metrics.text())
    const at = (le: string) =>
      samples.get(`switchgear_attempt_duration_seconds_bucket{target="a",le="${le}"}`)
    expect([at('0.01'), at('1.28'), at('2.56'), at('81.92'), at('+Inf')]).toEqual([0, 0, 1, 1, 1])
    expect(samples.get('switchgear_attempt_duration_seconds_sum{target="a"}')).toBe(1.5)
  })

  it('do not grow with the fancy of a classifier', async () => {
    let n = 0
    const classify = () => ({
      failure: `kind ${++n}`,
      outcome: 'neutral',
      retry: 'no',
      fallback: 'stop',
      alert: false,
    })
    const { gear, counted } = scene([
      { ...down, classify: classify as unknown as NonNullable<Target['classify']> },
    ])
    await calls(gear, 130)
    const kinds = await counted('switchgear_failures_total')
    expect(Object.keys(kinds)).toHaveLength(101)
    expect(kinds['switchgear_failures_total{target="a",kind="other"}']).toBe(30)
  })
})

describe('labels of a circuit', () => {
  it('are the target and the model that it is isolated to', async () => {
    const { gear, counted } = scene([{ ...down, circuitBreaker: { ...breaker, isolateByModel: true } }])
    await calls(gear, 2, { model: 'x/1' })
    expect(await counted('switchgear_calls_total')).toEqual({
      'switchgear_calls_total{target="a",model="x/1",outcome="failure"}': 2,
    })
  })

  it('are the bucket and the model where targets that isolate by model share it', async () => {
    const shared = {
      bucket: 'pool',
      circuitBreaker: { ...breaker, isolateByModel: true },
      invoke: answer('yes'),
    }
    const { gear, counted } = scene([
      { name: 'a', ...shared },
      { name: 'b', ...shared },
    ])
    await calls(gear, 1, { model: 'm1' })
    expect(await counted('switchgear_calls_total')).toEqual({
      'switchgear_calls_total{target="pool",model="m1",outcome="success"}': 1,
    })
  })

  it('are the bucket and no model where targets with different models share it', async () => {
    const shared = { bucket: 'pool', circuitBreaker: breaker, invoke: answer('yes') }
    const { gear, counted } = scene([
      { name: 'a', model: 'm1', ...shared },
      { name: 'b', model: 'm2', ...shared },
    ])
    await calls(gear, 1)
    expect(await counted('switchgear_calls_total')).toEqual({
      'switchgear_calls_total{target="pool",model="",outcome="success"}': 1,
    })
  })
})

describe('a scrape', () => {
  const isolated = { ...down, circuitBreaker: { ...breaker, isolateByModel: true } }

  it('no longer shows a circuit that was forgotten, and counts it from 0 should it come back', async () => {
    const { gear, metrics } = scene([isolated], { maxBuckets: 1 })
    await calls(gear, 1, { model: 'old' })
    const name = 'switchgear_calls_total{target="a",model="old",outcome="failure"}'
    expect(samplesIn(await metrics.text()).get(name)).toBe(1)
    await calls(gear, 1, { model: 'new' })
    expect(await metrics.text()).not.toContain('"old"')
    await calls(gear, 1, { model: 'old' })
    expect(samplesIn(await metrics.text()).get(name)).toBe(1)
    expect(await metrics.text()).not.toContain('"new"')
  })

  it('reads the switchgear once, and nothing at all between scrapes', async () => {
    const { gear } = rig([up])
    const stats = vi.fn(() => gear.stats())
    const metrics = prometheusMetrics({ stats, on: vi.fn(), observe: vi.fn() })
    await calls(gear, 3)
    expect(stats).not.toHaveBeenCalled()
    await metrics.text()
    expect(stats).toHaveBeenCalledTimes(1)
    await metrics.text()
    expect(stats).toHaveBeenCalledTimes(2)
  })

  it('holds nothing of what a provider or an operator said', async () => {
    const invoke = failing(
      status(401, { message: 'wrong key sk-very-secret', error: { message: 'sk-very-secret' } }),
    )
    const { gear, metrics } = scene([{ ...down, invoke }])
    await calls(gear, 2)
    gear.openCircuit({}, { hold: true, by: 'alice', reason: 'ticket-4711' })
    const text = await metrics.text()
    expect(text).toContain('switchgear_breaker_held{target="a",model=""} 1')
    expect(text).not.toMatch(/sk-very-secret|alice|ticket-4711/)
  })

  it('has every counter that an alert watches from the start, so that its first increase is seen', async () => {
    const { metrics } = scene([up])
    const samples = samplesIn(await metrics.text())
    for (const kind of ['auth', 'not_found', 'quota_exhausted', 'defect'])
      expect(samples.get(`switchgear_failures_total{target="b",kind="${kind}"}`)).toBe(0)
    const opened = 'switchgear_breaker_transitions_total{target="b",model="gpt-5",from="closed",to="open"'
    expect(samples.get(`${opened},reason="tripped"}`)).toBe(0)
  })

  it('says which targets can answer which group, by their circuits', async () => {
    const shared = { bucket: 'pool', circuitBreaker: breaker, invoke: answer('yes') }
    const { gear } = rig([
      up,
      { name: 'x', ...shared },
      { name: 'y', ...shared },
      { name: 'bare', invoke: never },
    ])
    const groups = () =>
      new Map([
        ['gpt-5', ['b', 'x', 'y']],
        ['cheap', ['bare']],
      ])
    expect(countedIn(await prometheusMetrics(gear, { groups }).text(), 'switchgear_group')).toEqual({
      'switchgear_group_target{group="gpt-5",target="b"}': 1,
      'switchgear_group_target{group="gpt-5",target="pool"}': 1,
      'switchgear_group_target{group="cheap",target="bare"}': 1,
    })
    expect(countedIn(await prometheusMetrics(gear).text(), 'switchgear_group')).toEqual({
      'switchgear_group_target{group="*",target="b"}': 1,
      'switchgear_group_target{group="*",target="pool"}': 1,
      'switchgear_group_target{group="*",target="bare"}': 1,
    })
  })

  it('shows journal and alerts where there are some', async () => {
    const { gear } = rig([up])
    const journal = (): JournalState => ({ state: 'degraded', waiting: 7, lost: 2 })
    const alerts = () => ({ delivered: 3, dropped: 1, waiting: 4 })
    const text = await prometheusMetrics(gear, { journal, alerts }).text()
    expect(countedIn(text, 'switchgear_journal')).toEqual({
      switchgear_journal_degraded: 1,
      switchgear_journal_rows_waiting: 7,
      switchgear_journal_rows_lost: 2,
    })
    expect(countedIn(text, 'switchgear_alerts')).toEqual({
      'switchgear_alerts_total{result="delivered"}': 3,
      'switchgear_alerts_total{result="dropped"}': 1,
      switchgear_alerts_waiting: 4,
    })
    const without = await prometheusMetrics(gear).text()
    expect(samplesIn(without).has('switchgear_journal_degraded')).toBe(false)
    expectTypeOf<JournalHealth>().toExtend<JournalState>()
  })

  it('can show the process, and names what is running', async () => {
    const { gear } = rig([up])
    const samples = samplesIn(await prometheusMetrics(gear, { process: true }).text())
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e6)
    expect(samples.get('process_cpu_seconds_total')).toBeGreaterThan(0)
    expect([...samples.keys()].find((key) => key.startsWith('switchgear_build_info'))).toMatch(
      /version="\d+\.\d+\.\d+",node="\d+\./,
    )
  })

  it('also speaks OpenMetrics', async () => {
    const registry = new Registry()
    const open: Registry<OpenMetricsContentType> = registry as never
    open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    const { gear } = rig([up])
    const metrics = prometheusMetrics(gear, { registry })
    await calls(gear, 1)
    expect(metrics.contentType).toContain('openmetrics')
    const text = await metrics.text()
    expect(text).toContain('# TYPE switchgear_calls counter')
    const name = 'switchgear_calls_total{target="b",model="gpt-5",outcome="success"}'
    expect(samplesIn(text).get(name)).toBe(1)
    expect(text).toMatch(/# EOF\n$/)
  })

  it.skipIf(!hasPromtool)(`is free of what promtool calls a fault${withPromtool}`, async () => {
    const { gear, metrics } = scene([down, up])
    await calls(gear, 4)
    expect(promtool(['check', 'metrics'], await metrics.text())).toEqual({ ok: true, said: '' })
  })
})

describe('a registry', () => {
  it('may be the user’s own, with several switchgears told apart by labels', async () => {
    const registry = new Registry()
    new Counter({ name: 'app_orders_total', help: 'Orders.', registers: [registry] }).inc(5)
    const [chat, search] = [rig([up]).gear, rig([up]).gear]
    const first = prometheusMetrics(chat, { registry, labels: { app: 'chat' } })
    const second = prometheusMetrics(search, { registry, labels: { app: 'search' } })
    await calls(chat, 1)
    await calls(search, 2)
    const text = await first.text()
    expect(countedIn(text, 'switchgear_requests_total')).toEqual({
      'switchgear_requests_total{app="chat",result="answered"}': 1,
      'switchgear_requests_total{app="search",result="answered"}': 2,
    })
    expect(samplesIn(text).get('app_orders_total')).toBe(5)
    const asData = (await registry.getMetricsAsJSON()).find(
      ({ name }) => name === 'switchgear_attempts_total',
    )
    expect(asData?.values).toContainEqual({
      labels: { app: 'search', target: 'b', outcome: 'success' },
      value: 2,
    })
    first.stop()
    expect(await second.text()).not.toContain('"chat"')
    second.stop()
    expect(await registry.metrics()).not.toContain('switchgear_')
  })

  it('that is full of these names already says so', () => {
    const registry = new Registry()
    registry.registerMetric(new Counter({ name: METRICS.late.name, help: 'Somebody else’s.', registers: [] }))
    expect(() => prometheusMetrics(rig([up]).gear, { registry })).toThrow(
      'The registry has a metric switchgear_late_outcomes_total already.',
    )
    expect(registry.getMetricsAsArray()).toHaveLength(1)
  })
})

describe('the table of names', () => {
  it('says which labels a metric has', async () => {
    const observed = { ...breaker, mode: 'observe' } as const
    const { gear } = rig(
      [{ ...down, circuitBreaker: observed }, down, up].map((target, i) => ({ ...target, name: `t${i}` })),
    )
    await calls(gear, 5)
    const samples = readSamples({
      gear,
      journal: () => ({ state: 'ok' }),
      alerts: () => ({ delivered: 0, dropped: 0, waiting: 0 }),
    })
    for (const [key, { labels }] of Object.entries(METRICS)) {
      const found = samples[key as MetricKey]
      // a window is configured nowhere here
      if (key !== 'failureRatio') expect(found, key).not.toEqual([])
      for (const sample of found) expect(Object.keys({ ...sample.of, ...sample.labels }), key).toEqual(labels)
    }
  })

  it('gives each metric the name that an exporter makes of its OpenTelemetry name', () => {
    const SUFFIX: Record<string, string> = { s: '_seconds', '1': '_ratio' }
    for (const { name, otel, unit, type } of Object.values(METRICS)) {
      const base = otel.replaceAll('.', '_')
      const suffix = SUFFIX[unit] ?? ''
      const unitKept = base.endsWith(suffix) ? base : `${base}${suffix}`
      expect(type === 'counter' ? `${unitKept}_total` : unitKept).toBe(name)
    }
  })
})
