import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import type { GatewayConfig, GatewayTarget } from '../../src/gateway/config/schema.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask, post, startGateway, until } from './support.ts'

let a: ScriptedProvider
let b: ScriptedProvider
let c: ScriptedProvider

beforeAll(async () => {
  a = await startScriptedProvider({ name: 'a' })
  b = await startScriptedProvider({ name: 'b' })
  c = await startScriptedProvider({ name: 'c' })
})
afterAll(() => Promise.all([a.close(), b.close(), c.close()]))
beforeEach(() => {
  for (const provider of [a, b, c]) provider.reset()
})

const target = (provider: ScriptedProvider, rest: Partial<GatewayTarget> = {}): GatewayTarget => ({
  name: provider.name,
  baseUrl: provider.baseURL,
  model: 'ok',
  ...rest,
})
const start = (
  rules: Omit<GatewayConfig, 'targets'>,
  targets: [GatewayTarget, ...GatewayTarget[]] = [target(a), target(b), target(c)],
) => startGateway(targets, rules)

const answerer = async (gateway: { url: string }, model: string, headers: Record<string, string> = {}) => {
  const answer = await ask(gateway, { model }, { headers })
  await answer.body?.cancel()
  return answer.status === 200 ? answer.headers.get('x-switchgear-target') : String(answer.status)
}

describe('a model group', () => {
  it('is asked by its name; its deployments keep their models, or take the name', async () => {
    await using gateway = await start({ models: { smart: ['b'], ok: ['c'] } }, [
      target(a),
      target(b, { model: 'drip-1' }),
      { name: 'c', baseUrl: c.baseURL },
    ])
    expect(await answerer(gateway, 'smart')).toBe('b')
    expect(await answerer(gateway, 'ok')).toBe('c')
    expect(b.requests.map(({ model }) => model)).toEqual(['drip-1'])
    expect(c.requests.map(({ model }) => model)).toEqual(['ok'])
    expect(a.requests).toHaveLength(0)
  })

  it('that does not exist is a 404 naming those that do', async () => {
    await using gateway = await start({ models: { 'gpt-5': ['a'], sonnet: ['b'] } })
    const answer = await ask(gateway, { model: 'gpt5' })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({
      error: {
        message: "The model 'gpt5' does not exist here. Did you mean 'gpt-5'? Known: gpt-5, sonnet.",
        type: 'invalid_request_error',
        param: 'model',
        code: 'model_not_found',
      },
    })
    const none = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body: '{}' })
    expect(none.status).toBe(400)
    expect(await none.text()).toContain('model is missing')
    const long = await ask(gateway, { model: 'x'.repeat(1_000_000) })
    expect([long.status, (await long.text()).length < 1000]).toEqual([404, true])
    expect(a.requests.length + b.requests.length).toBe(0)
  })

  it('for any other model takes the name through, unless the target has its own', async () => {
    await using gateway = await start({ models: { smart: ['a'], '*': ['b'] } }, [
      target(a),
      { name: 'b', baseUrl: b.baseURL },
    ])
    expect(await answerer(gateway, 'drip-1')).toBe('b')
    expect(await answerer(gateway, '__proto__')).toBe('b')
    expect(b.requests.map(({ model }) => model)).toEqual(['drip-1', '__proto__'])
  })

  it('in order asks the next one where the first fails, and is spared the first once its circuit is open', async () => {
    await using gateway = await start({ models: { smart: ['a', 'b'] } }, [
      target(a, { circuitBreaker: { threshold: 1 } }),
      target(b),
    ])
    a.setOutage(true)
    expect(await answerer(gateway, 'smart')).toBe('b')
    const refused = await ask(gateway, { model: 'smart' })
    expect(refused.headers.get('x-switchgear-target')).toBe('b')
    expect(refused.headers.get('x-switchgear-attempted-fallbacks')).toBe('1')
    expect(a.requests).toHaveLength(1)
    expect(gateway.gear.stats().breakers.find(({ bucket }) => bucket === 'a')?.stats.refused).toMatchObject({
      open: 1,
    })
  })

  it('in turn spreads evenly among those that admit', async () => {
    await using gateway = await start(
      { models: { smart: { targets: ['a', 'b', 'c'], strategy: 'round-robin' } } },
      [target(a, { circuitBreaker: { threshold: 1, cooldownMs: 60_000 } }), target(b), target(c)],
    )
    const six = async () => {
      const targets: (string | null)[] = []
      for (let i = 0; i < 6; i++) targets.push(await answerer(gateway, 'smart'))
      return targets
    }
    expect(await six()).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
    gateway.gear.openCircuit({ name: 'a' })
    expect((await six()).sort()).toEqual(['b', 'b', 'b', 'c', 'c', 'c'])
    expect(a.requests).toHaveLength(2)
  })

  it('by weight follows the weights', async () => {
    await using gateway = await start({ models: { smart: { targets: ['a', 'b'], strategy: 'weighted' } } }, [
      target(a, { weight: 1 }),
      target(b, { weight: 1e9 }),
    ])
    for (let i = 0; i < 5; i++) expect(await answerer(gateway, 'smart')).toBe('b')
  })

  it('by load asks the idlest', async () => {
    await using gateway = await start(
      {
        models: { smart: { targets: ['a', 'b', 'c'], strategy: 'least-busy' }, slow: ['a'] },
      },
      [target(a, { model: 'slow-500' }), target(b), target(c)],
    )
    const running = answerer(gateway, 'slow')
    await until(() => a.requests.length === 1)
    const targets: (string | null)[] = []
    for (let i = 0; i < 4; i++) targets.push(await answerer(gateway, 'smart'))
    expect(targets).not.toContain('a')
    expect(new Set(targets)).toEqual(new Set(['b', 'c']))
    expect(await running).toBe('a')
  })

  it('prefers a healthy deployment to a degraded one', async () => {
    const circuitBreaker = { threshold: 4, degradation: { at: 0.5 } }
    await using gateway = await start({ models: { smart: ['a', 'b'] } }, [
      target(a, { circuitBreaker }),
      target(b, { circuitBreaker }),
    ])
    a.setOutage(true)
    for (let i = 0; i < 2; i++) expect(await answerer(gateway, 'smart')).toBe('b')
    expect(gateway.gear.getCircuitState({ name: 'a' })).toBe('degraded')
    a.setOutage(false)
    expect(await answerer(gateway, 'smart')).toBe('b')
    expect(a.requests).toHaveLength(2)
  })

  it('with a circuit a model keeps the model of its own', async () => {
    const circuitBreaker = { isolateByModel: true, threshold: 1 }
    await using gateway = await start({ models: { smart: ['a'], '*': ['b'] } }, [
      target(a, { circuitBreaker }),
      { name: 'b', baseUrl: b.baseURL, circuitBreaker },
    ])
    expect(await answerer(gateway, 'smart')).toBe('a')
    expect(await answerer(gateway, 'other')).toBe('b')
    expect(a.requests.map(({ model }) => model)).toEqual(['ok'])
    const { circuits } = (await (await fetch(`${gateway.url}/status`)).json()) as {
      circuits: { circuit: string }[]
    }
    expect(circuits.map(({ circuit }) => circuit)).toEqual(['a/ok', 'b/other'])
  })
})

describe('fallbacks', () => {
  it('of the group are asked after its deployments, groups by their own', async () => {
    await using gateway = await start({
      models: { smart: { targets: ['a'], fallbacks: ['cheap'] }, cheap: ['b', 'c'] },
    })
    a.setOutage(true)
    expect(await answerer(gateway, 'smart')).toBe('b')
    b.setOutage(true)
    expect(await answerer(gateway, 'smart')).toBe('c')
    expect(await answerer(gateway, 'cheap')).toBe('c')
  })

  it('of nobody’s own are the default ones', async () => {
    await using gateway = await start({
      models: { smart: ['a'], other: { targets: ['a'], fallbacks: ['b'] } },
      defaultFallbacks: ['c'],
    })
    a.setOutage(true)
    expect(await answerer(gateway, 'smart')).toBe('c')
    expect(await answerer(gateway, 'other')).toBe('b')
  })

  it('that failed, too, are all told', async () => {
    await using gateway = await start({ models: { smart: { targets: ['a', 'b'], fallbacks: ['c'] } } })
    for (const provider of [a, b, c]) provider.setOutage(true)
    const answer = await ask(gateway, { model: 'smart' })
    expect(answer.status).toBe(502)
    expect(await answer.json()).toMatchObject({
      error: { code: 'ERR_FALLBACK_EXHAUSTED' },
      switchgear: {
        attempts: ['a', 'b', 'c'].map((name) => ({ target: name, failure: 'server_error', status: 503 })),
      },
    })
  })

  it('for long prompts and for filtered ones go by the deployment', async () => {
    await using gateway = await start(
      {
        models: { long: ['a'], filtered: ['b'], roomy: ['c'] },
        contextWindowFallbacks: { long: ['roomy'] },
        contentPolicyFallbacks: { b: ['c'] },
      },
      [target(a, { model: 'context-length' }), target(b, { model: 'content-filter' }), target(c)],
    )
    expect(await answerer(gateway, 'long')).toBe('c')
    expect(await answerer(gateway, 'filtered')).toBe('c')
  })

  it('stand in where no deployment speaks the endpoint', async () => {
    await using gateway = await start({ models: { smart: { targets: ['a'], fallbacks: ['b'] } } }, [
      target(a),
      target(b, { api: 'anthropic' }),
    ])
    const answer = await post(gateway, '/v1/messages', { model: 'smart' })
    expect([answer.status, answer.headers.get('x-switchgear-target')]).toEqual([200, 'b'])
    const none = await start({ models: { smart: ['a'] } })
    const refused = await post(none, '/v1/messages', { model: 'smart' })
    expect([refused.status, await refused.text()]).toEqual([
      404,
      expect.stringContaining("No target of the model 'smart' speaks /v1/messages"),
    ])
    await none.close()
  })
})
