import { context, trace } from '@opentelemetry/api'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { afterAll, expect, it } from 'vitest'
import { createGateway } from '../../src/gateway/server.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'

const exporter = new InMemorySpanExporter()
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))

afterAll(() => {
  trace.disable()
  context.disable()
})

it('a gateway traces calls and attempts in the words of the GenAI conventions, where it is told to', async () => {
  await using provider = await startScriptedProvider({ name: 'primary' })
  await using gateway = await createGateway({
    server: { port: 0 },
    openTelemetry: true,
    targets: [
      { name: 'down', baseUrl: provider.baseURL, model: '503', maxRetries: 0 },
      { name: 'up', baseUrl: provider.baseURL, model: 'ok' },
    ],
  })
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'a secret prompt' }] }),
  })
  expect(answer.status).toBe(200)
  await answer.text()
  const spans = exporter.getFinishedSpans()
  const attempts = spans.filter(({ attributes }) => 'gen_ai.request.model' in attributes)
  expect(attempts.map(({ attributes }) => attributes['gen_ai.request.model'])).toEqual(
    expect.arrayContaining(['503', 'ok']),
  )
  expect(attempts.map(({ attributes }) => attributes['server.address'])).toContain('127.0.0.1')
  expect(
    JSON.stringify(spans.map(({ name, attributes, events }) => [name, attributes, events])),
  ).not.toContain('secret prompt')
})
