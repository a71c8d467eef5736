import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import type { GatewayConfig } from '../../src/gateway/config/schema.ts'
import { createGateway } from '../../src/gateway/server.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask, until } from './support.ts'

let a: ScriptedProvider
let b: ScriptedProvider

beforeAll(async () => {
  a = await startScriptedProvider({ name: 'a' })
  b = await startScriptedProvider({ name: 'b' })
})
afterAll(() => Promise.all([a.close(), b.close()]))
beforeEach(() => {
  a.reset()
  b.reset()
})

const config = (rest: Partial<GatewayConfig> = {}): GatewayConfig => ({
  server: { port: 0 },
  targets: [{ name: 'a', baseUrl: a.baseURL, maxRetries: 0 }],
  ...rest,
})

describe('a reload', () => {
  it('puts other targets in force; a call under way ends where it began', async () => {
    await using gateway = await createGateway(config())
    const running = ask(gateway, { model: 'slow-200' })
    const stream = await ask(gateway, { model: 'drip-20', stream: true })
    await until(() => a.requests.length === 2)
    const told = gateway.reload(config({ targets: [{ name: 'b', baseUrl: b.baseURL }] }))
    expect([...told.changed].sort()).toEqual(['target a: removed', 'target b: added'])
    expect((await ask(gateway)).headers.get('x-switchgear-target')).toBe('b')
    expect((await running).headers.get('x-switchgear-target')).toBe('a')
    const text = await stream.text()
    expect(text).toContain('" a,"')
    expect(text).toContain('data: [DONE]')
    expect(a.requests).toHaveLength(2)
  })

  it('keeps what did not change: an open circuit stays open', async () => {
    const rules = { maxRetries: 0, circuitBreaker: { threshold: 1 } }
    const first = { name: 'a', baseUrl: a.baseURL, ...rules }
    await using gateway = await createGateway(config({ targets: [first] }))
    a.setOutage(true)
    expect((await ask(gateway)).status).toBe(502)
    const told = gateway.reload(config({ targets: [first, { name: 'b', baseUrl: b.baseURL }] }))
    expect(told).toEqual({
      changed: ['target b: added'],
      kept: expect.arrayContaining(['target a', 'server']),
    })
    expect(gateway.gear.getCircuitState({ name: 'a' })).toBe('open')
    expect((await ask(gateway)).headers.get('x-switchgear-target')).toBe('b')
    expect(a.requests).toHaveLength(1)
  })

  it('changes groups, keys and mocks; what needs a new start is told so', async () => {
    await using gateway = await createGateway(config())
    const told = gateway.reload(
      config({
        models: { smart: ['a'] },
        server: { port: 4999, allowMocks: true, clientKeys: { team: 'key-of-the-team' } },
      }),
    )
    expect(told.changed).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^server\.port: needs a restart/),
        'client keys: added team',
      ]),
    )
    expect((await ask(gateway)).status).toBe(401)
    const headers = { authorization: 'Bearer key-of-the-team' }
    expect((await ask(gateway, {}, { headers })).status).toBe(404)
    expect((await ask(gateway, { model: 'smart' }, { headers })).status).toBe(200)
    const mocked = { ...headers, 'x-switchgear-mock': '400' }
    expect((await ask(gateway, { model: 'smart' }, { headers: mocked })).status).toBe(400)
  })

  it('that is refused leaves everything as it was', async () => {
    await using gateway = await createGateway(config())
    const refused = config({ targets: [{ name: 'b', baseUrl: b.baseURL, timeoutMs: -1 }] })
    expect(() => gateway.reload(refused)).toThrow('timeoutMs is -1')
    expect((await ask(gateway)).headers.get('x-switchgear-target')).toBe('a')
  })
})

it('operators have a port of their own where server.admin says so', async () => {
  await using gateway = await createGateway(config({ server: { port: 0, admin: { port: 0 } } }))
  expect(gateway.adminUrl).not.toBe(gateway.url)
  expect((await fetch(`${gateway.url}/status`)).status).toBe(404)
  expect((await fetch(`${gateway.adminUrl}/status`)).status).toBe(200)
  expect((await fetch(`${gateway.adminUrl}/v1/models`)).status).toBe(404)
})

it('the name of a replica stands in the status', async () => {
  await using gateway = await createGateway(config(), { replica: 'pod-7' })
  expect(await (await fetch(`${gateway.url}/status`)).json()).toMatchObject({ replica: 'pod-7' })
})
