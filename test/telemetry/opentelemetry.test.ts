import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  StackContextManager,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { METRICS } from '../../src/telemetry/names.ts'
import { openTelemetry } from '../../src/telemetry/opentelemetry.ts'
import type { OpenTelemetryOptions } from '../../src/telemetry/opentelemetry.ts'
import { answer, failing, never, rig, status } from '../support/rig.ts'
import type { Options, Target } from '../support/rig.ts'

const breaker = { threshold: 2, cooldownMs: 30_000 }
const down: Target = {
  name: 'a',
  model: 'gpt-5',
  invoke: failing(status(500)),
  maxRetries: 0,
  circuitBreaker: breaker,
}
const up: Target = { name: 'b', model: 'claude', invoke: answer('hello'), circuitBreaker: breaker }

async function scene(targets: readonly Target[], options: OpenTelemetryOptions = {}, rules: Options = {}) {
  const spans = new InMemorySpanExporter()
  const tracerProvider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: spans })],
  })
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metrics })
  const meterProvider = new MeterProvider({ readers: [reader] })
  const { clock, gear } = rig(targets, rules)
  const telemetry = await openTelemetry(gear, { clock, tracerProvider, meterProvider, ...options })
  /** The data points of a metric, as name → [attributes, value]. */
  const points = async (name: string) => {
    metrics.reset()
    await reader.forceFlush()
    const all = metrics
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
    return (all.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []).map(
      (point) => [point.attributes, point.value] as const,
    )
  }
  const finished = () => spans.getFinishedSpans()
  const close = () => meterProvider.shutdown()
  return { clock, gear, telemetry, points, finished, spans, [Symbol.asyncDispose]: close }
}

const named = (spans: readonly ReadableSpan[], name: string) => spans.filter((span) => span.name === name)
const parentOf = (span: ReadableSpan | undefined) => span?.parentSpanContext?.spanId
const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId

describe('spans', () => {
  it('show a call that fell back: one attempt a request, below the call', async () => {
    const targets = { a: { provider: 'openai', serverAddress: 'api.openai.com', serverPort: 443 } }
    await using it = await scene([down, up], { targets })
    await it.gear.call('hi', { id: 'call-7' })
    const spans = it.finished()
    expect(spans.map(({ name }) => name)).toEqual(['chat gpt-5', 'chat claude', 'switchgear.call'])
    const [first, second, call] = spans
    expect(call).toMatchObject({
      kind: SpanKind.INTERNAL,
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'switchgear.call': 'call-7',
        'switchgear.result': 'answered',
        'switchgear.target': 'b',
        'switchgear.attempts': 2,
        'switchgear.fallback_index': 1,
      },
    })
    expect(first).toMatchObject({
      kind: SpanKind.CLIENT,
      status: { code: SpanStatusCode.ERROR },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-5',
        'server.address': 'api.openai.com',
        'server.port': 443,
        'switchgear.target': 'a',
        'switchgear.attempt': 1,
        'switchgear.outcome': 'failure',
        'error.type': 'server_error',
      },
    })
    expect(second).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      attributes: { 'gen_ai.request.model': 'claude', 'switchgear.outcome': 'success' },
    })
    expect([parentOf(first), parentOf(second)]).toEqual([idOf(call), idOf(call)])
  })

  it('tell refusals and transitions as events of the call', async () => {
    await using it = await scene([down, up])
    for (let i = 0; i < 3; i++) await it.gear.call('hi')
    const events = named(it.finished(), 'switchgear.call').map(({ events }) =>
      events.map(({ name, attributes }) => ({ name, ...attributes })),
    )
    expect(events).toEqual([
      [],
      [
        {
          name: 'switchgear.transition',
          'switchgear.circuit': 'a',
          'switchgear.from': 'closed',
          'switchgear.to': 'open',
          'switchgear.reason': 'tripped',
        },
      ],
      [
        {
          name: 'switchgear.refused',
          'switchgear.target': 'a',
          'gen_ai.request.model': 'gpt-5',
          'switchgear.reason': 'open',
          'switchgear.retry_after_ms': 30_000,
        },
      ],
    ])
  })

  it('say why nobody answered', async () => {
    await using it = await scene([down])
    for (let i = 0; i < 3; i++) await it.gear.call('hi').catch(() => {})
    expect(named(it.finished(), 'switchgear.call')).toMatchObject([
      {
        status: { code: SpanStatusCode.ERROR },
        attributes: { 'switchgear.result': 'failed', 'error.type': 'server_error' },
      },
      { attributes: { 'switchgear.result': 'failed' } },
      {
        attributes: {
          'switchgear.result': 'refused',
          'error.type': 'circuit_open',
          'switchgear.attempts': 0,
        },
      },
    ])
  })

  it('hold no error against a caller that hung up, and end its attempt', async () => {
    await using it = await scene([{ ...up, invoke: never }])
    const leave = new AbortController()
    const asked = it.gear.call('hi', { signal: leave.signal }).catch(() => {})
    leave.abort()
    await asked
    expect(it.finished()).toMatchObject([
      {
        name: 'chat claude',
        status: { code: SpanStatusCode.UNSET },
        attributes: { 'switchgear.outcome': 'neutral' },
      },
      {
        name: 'switchgear.call',
        status: { code: SpanStatusCode.UNSET },
        attributes: { 'switchgear.result': 'aborted' },
      },
    ])
  })

  it('tell a deadline apart from a caller that hung up', async () => {
    await using it = await scene([{ ...up, invoke: never }])
    const asked = it.gear.call('hi', { deadlineMs: 50 }).catch(() => {})
    it.clock.advance(50)
    await asked
    expect(it.finished()).toMatchObject([
      { name: 'chat claude', attributes: { 'error.type': 'deadline' } },
      { name: 'switchgear.call', attributes: { 'switchgear.result': 'deadline', 'error.type': 'deadline' } },
    ])
  })

  it('carry what an answer says of itself, and nothing of its text', async () => {
    const completion = {
      id: 'chatcmpl-1',
      model: 'gpt-5-2026-08-01',
      choices: [{ finish_reason: 'stop', message: { content: 'the secret of life' } }],
      usage: { prompt_tokens: 12, completion_tokens: 34 },
    }
    const message = { id: 'msg_1', stop_reason: 'end_turn', usage: { input_tokens: 5, output_tokens: 6 } }
    let next: unknown = completion
    const invoke = () => Promise.resolve(next as string)
    await using it = await scene([{ ...up, invoke }], {
      answerOf: (wrapped) => (wrapped as { inner?: unknown }).inner ?? wrapped,
    })
    await it.gear.call('the secret question')
    next = { inner: message }
    await it.gear.call('hi')
    const [first, second] = named(it.finished(), 'chat claude')
    expect(first?.attributes).toMatchObject({
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.response.model': 'gpt-5-2026-08-01',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 34,
    })
    expect(second?.attributes).toMatchObject({
      'gen_ai.response.finish_reasons': ['end_turn'],
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.output_tokens': 6,
    })
    const told = it
      .finished()
      .map(({ name, attributes, events }) => JSON.stringify([name, attributes, events]))
    expect(told.join('')).not.toContain('secret')
  })

  it('of a stream say how long the first content took', async () => {
    let more!: () => void
    const gate = new Promise<void>((resolve) => (more = resolve))
    async function* stream() {
      await gate
      yield 'hello'
    }
    await using it = await scene([{ name: 's', model: 'm', stream }])
    const parts = it.gear.stream('hi')
    const first = parts.next()
    await Promise.resolve()
    it.clock.advance(700)
    more()
    await first
    it.clock.advance(300)
    await parts.next()
    expect(named(it.finished(), 'chat m')[0]?.attributes).toMatchObject({
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': 0.7,
      'switchgear.outcome': 'success',
    })
    expect(await it.points('switchgear.first_content')).toMatchObject([
      [{ target: 's' }, { count: 1, sum: 0.7 }],
    ])
    expect(await it.points('gen_ai.client.inference.time_to_first_chunk')).toMatchObject([[{}, { sum: 0.7 }]])
    expect(await it.points('switchgear.attempt.duration')).toMatchObject([[{ target: 's' }, { sum: 1 }]])
  })

  it('say what was asked for, where the request or the target tells', async () => {
    await using it = await scene([up], {
      targets: (name) => (name === 'b' ? { provider: 'anthropic' } : undefined),
      operationOf: (request) => (request === 'vectors' ? 'embeddings' : undefined),
    })
    await it.gear.call('vectors')
    await it.gear.call('hi')
    const attempts = it.finished().filter(({ kind }) => kind === SpanKind.CLIENT)
    expect(attempts.map(({ name, attributes }) => [name, attributes['gen_ai.provider.name']])).toEqual([
      ['embeddings claude', 'anthropic'],
      ['chat claude', 'anthropic'],
    ])
  })

  it('count a retry as a request sent again', async () => {
    await using it = await scene([{ ...down, maxRetries: 1, retry: { baseMs: 0 } }])
    const asked = it.gear.call('hi').catch(() => {})
    while (named(it.finished(), 'switchgear.call').length === 0) {
      await Promise.resolve()
      it.clock.advance(0)
    }
    await asked
    expect(
      named(it.finished(), 'chat gpt-5').map(({ attributes }) => attributes['http.request.resend_count']),
    ).toEqual([undefined, 1])
  })
})

describe('in the caller’s own trace', () => {
  beforeEach(() => void context.setGlobalContextManager(new StackContextManager().enable()))
  afterEach(() => context.disable())

  it('the call is below the caller’s span, and what an attempt traces below the attempt', async () => {
    const seen: (string | undefined)[] = []
    const invoke = () => {
      seen.push(trace.getActiveSpan()?.spanContext().spanId)
      return Promise.resolve('yes')
    }
    await using it = await scene([{ ...up, invoke }])
    const parent = trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 })
    await context.with(trace.setSpan(context.active(), parent), () => it.gear.call('hi'))
    const [attempt, call] = it.finished()
    expect(parentOf(call)).toBe('2'.repeat(16))
    expect(seen).toEqual([idOf(attempt)])
  })
})

describe('metrics', () => {
  it('are read when they are exported, under the names of the table', async () => {
    await using it = await scene([down, up])
    for (let i = 0; i < 3; i++) await it.gear.call('hi')
    expect(await it.points('switchgear.refused')).toContainEqual([
      { target: 'a', model: 'gpt-5', reason: 'open' },
      1,
    ])
    expect(await it.points('switchgear.breaker.state')).toContainEqual([
      { target: 'a', model: 'gpt-5', state: 'open' },
      1,
    ])
    expect(await it.points('switchgear.fallback_attempted')).toContainEqual([
      { from: 'a', to: 'b', result: 'success' },
      3,
    ])
    for (const { otel, type } of Object.values(METRICS)) {
      const absent = ['would_refuse', 'journal', 'alerts', 'first_content', 'failure'].some((word) =>
        new RegExp(`^switchgear\\.${word}(\\.|$)`).test(otel),
      )
      if (!absent) expect(await it.points(otel), `${otel} (${type})`).not.toEqual([])
    }
  })

  it('of the GenAI conventions bear the current names, and on request the former ones', async () => {
    const targets = { b: { provider: 'anthropic' } }
    await using current = await scene([up], { targets })
    await current.gear.call('hi')
    expect(await current.points('gen_ai.client.inference.duration')).toMatchObject([
      [
        {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'anthropic',
          'gen_ai.request.model': 'claude',
        },
        { count: 1 },
      ],
    ])
    expect(await current.points('gen_ai.client.operation.duration')).toEqual([])
    await using both = await scene([up], { targets, genAiNames: 'both' })
    await both.gear.call('hi')
    expect(await both.points('gen_ai.client.inference.duration')).toHaveLength(1)
    expect(await both.points('gen_ai.client.operation.duration')).toMatchObject([
      [{ 'gen_ai.provider.name': 'anthropic', 'gen_ai.system': 'anthropic' }, { count: 1 }],
    ])
  })
})

describe('it costs nothing', () => {
  it('where nobody asked for it, and after it was stopped', async () => {
    await using it = await scene([up])
    it.telemetry.stop()
    await it.gear.call('hi')
    expect(it.finished()).toEqual([])
    expect(await it.points('switchgear.requests')).toEqual([])
  })

  it('in spans where only metrics are wanted', async () => {
    await using it = await scene([up], { spans: false })
    await it.gear.call('hi')
    expect(it.finished()).toEqual([])
    expect(await it.points('switchgear.attempt.duration')).toMatchObject([[{ target: 'b' }, { count: 1 }]])
  })

  it('twice over: a second one is refused', async () => {
    await using it = await scene([up])
    await expect(openTelemetry(it.gear)).rejects.toThrow('The calls are observed already.')
    it.telemetry.stop()
    const again = await openTelemetry(it.gear)
    again.stop()
  })
})
