import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import type { GatewayConfig } from '../../src/gateway/config/schema.ts'
import { createGateway } from '../../src/gateway/server.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { until } from './support.ts'

let provider: ScriptedProvider
beforeAll(async () => {
  provider = await startScriptedProvider({ name: 'p' })
})
afterAll(() => provider.close())
beforeEach(() => provider.reset())

async function start(rest: Partial<GatewayConfig> = {}) {
  const clock = new VirtualClock()
  const circuitBreaker = { cooldownMs: 86_400_000 }
  const gateway = await createGateway(
    {
      server: { port: 0 },
      healthChecks: { intervalMs: 1000, maxPerHour: 3 },
      targets: [
        { name: 'p', baseUrl: provider.baseURL, model: 'ok', circuitBreaker },
        { name: 'claude', baseUrl: provider.baseURL, api: 'anthropic', model: 'ok', circuitBreaker },
        { name: 'spared', baseUrl: provider.baseURL, model: 'ok', circuitBreaker, healthCheck: false },
        { name: 'nameless', baseUrl: provider.baseURL, circuitBreaker },
      ],
      ...rest,
    },
    { clock },
  )
  const checkOf = async (target: string) => {
    const { targets } = (await (await fetch(`${gateway.url}/status`)).json()) as {
      targets: { name: string; healthCheck?: { at: string; ok: boolean; failure?: string } }[]
    }
    return targets.find(({ name }) => name === target)?.healthCheck
  }
  return { gateway, clock, checkOf, [Symbol.asyncDispose]: () => gateway.close() }
}

const answered = (n: number) =>
  until(
    () => provider.requests.length === n && provider.requests.every(({ outcome }) => outcome !== 'pending'),
  )

describe('a health check', () => {
  it('asks only while a circuit is open, one cheap request, and changes nothing but what is told', async () => {
    await using rig = await start()
    const { gateway, clock } = rig
    clock.advance(5000)
    expect(provider.requests).toHaveLength(0)
    for (const name of ['p', 'claude', 'spared', 'nameless']) gateway.gear.openCircuit({ name })
    clock.advance(1000)
    await answered(2)
    expect(provider.requests.map(({ path, model }) => [path, model]).sort()).toEqual([
      ['/v1/chat/completions', 'ok'],
      ['/v1/messages', 'ok'],
    ])
    for (const name of ['p', 'claude']) {
      while ((await rig.checkOf(name)) === undefined);
      expect(await rig.checkOf(name)).toEqual({ at: expect.stringMatching(/^\d{4}-/), ok: true })
      expect(gateway.gear.getCircuitState({ name })).toBe('open')
    }
    expect(await rig.checkOf('spared')).toBeUndefined()
    expect(gateway.gear.stats().targets.map(({ stats }) => stats.attempts.success)).toEqual([0, 0, 0, 0])
  })

  it('tells the kind of a failure, and asks no more than its cap allows in an hour', async () => {
    await using rig = await start()
    const { gateway, clock } = rig
    provider.setOutage(true)
    gateway.gear.openCircuit({ name: 'p' })
    for (let n = 1; n <= 3; n++) {
      clock.advance(1000)
      await answered(n)
      const at = new Date(n * 1000).toISOString()
      while ((await rig.checkOf('p'))?.at !== at);
    }
    expect(await rig.checkOf('p')).toMatchObject({ ok: false, failure: 'server_error' })
    clock.set(3_600_000)
    expect(provider.requests).toHaveLength(3)
    // an hour after the first one
    clock.advance(1000)
    await until(() => provider.requests.length > 3)
  })

  it('that finds silence gives up, and is not asked twice at a time', async () => {
    await using rig = await start({
      targets: [{ name: 'p', baseUrl: provider.baseURL, model: 'ok', healthCheck: { model: 'hang' } }],
    })
    const { gateway, clock } = rig
    gateway.gear.openCircuit({ name: 'p' }, { hold: true })
    clock.advance(1000)
    await until(() => provider.requests.length === 1)
    clock.advance(5000)
    expect(provider.requests).toHaveLength(1)
    clock.advance(5000)
    await until(() => provider.requests[0]?.outcome === 'aborted-by-client')
    while ((await rig.checkOf('p')) === undefined);
    expect(await rig.checkOf('p')).toMatchObject({ ok: false, failure: 'timeout' })
  })
})
