import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import type { Gateway } from '../../src/gateway/server.ts'
import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask, post, startGateway, until } from './support.ts'

let provider: ScriptedProvider

beforeAll(async () => {
  provider = await startScriptedProvider({ name: 'p' })
})
afterAll(() => provider.close())
beforeEach(() => provider.reset())

const start = () =>
  startGateway([
    { name: 'p', baseUrl: provider.baseURL },
    { name: 'claude', baseUrl: provider.baseURL, api: 'anthropic' },
  ])

const ready = async ({ url }: Gateway) => (await fetch(`${url}/readyz`)).status

describe('a gateway that closes', () => {
  it('is not ready any more, takes no new calls, and lets those under way end', async () => {
    const gateway = await start()
    expect(await ready(gateway)).toBe(200)
    const whole = ask(gateway, { model: 'slow-500' })
    const stream = await ask(gateway, { model: 'drip-60', stream: true })
    await until(() => provider.requests.length === 2)
    const closed = gateway.close()
    expect(await ready(gateway)).toBe(503)
    expect((await fetch(`${gateway.url}/livez`)).status).toBe(200)
    expect(await (await fetch(`${gateway.url}/status`)).json()).toMatchObject({ status: 'draining' })
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const refused = await post(gateway, path)
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(refused.headers.get('connection')).toBe('close')
      expect(await refused.json()).toMatchObject({
        error: { code: 'ERR_CLOSED', message: 'The gateway is shutting down; send the request again.' },
      })
    }
    expect((await whole).status).toBe(200)
    expect(await stream.text()).toContain('data: [DONE]')
    await closed
    expect(provider.requests).toHaveLength(2)
    await expect(fetch(`${gateway.url}/livez`)).rejects.toThrow('fetch failed')
  })

  it('cuts off what takes too long, and says so', async () => {
    const gateway = await start()
    const whole = ask(gateway, { model: 'hang' })
    const waiting = ask(gateway, { model: 'hang-content', stream: true })
    const chat = await ask(gateway, { model: 'stall', stream: true })
    const claude = await post(gateway, '/v1/messages', { model: 'stall', stream: true })
    await until(() => provider.requests.length === 4)
    await gateway.close({ drainMs: 50 })
    for (const answer of [await whole, await waiting]) {
      expect(answer.status).toBe(503)
      expect(await answer.json()).toMatchObject({
        error: { code: 'ERR_CLOSED', message: 'The gateway is shutting down.' },
        switchgear: { attempts: [{ target: 'p', failure: 'aborted' }] },
      })
    }
    const text = await chat.text()
    expect(text).toContain('Hello')
    expect(text).toMatch(/data: \{"error":\{"message":"The gateway is shutting down\.".*\n\n$/)
    expect(await claude.text()).toMatch(/event: error\ndata: \{"type":"error".*shutting down.*\n\n$/)
    await until(() => provider.requests.every(({ outcome }) => outcome === 'aborted-by-client'))
    expect(gateway.gear.stats().targets.map(({ stats }) => stats.attempts.failure)).toEqual([0, 0])
  })

  it('closes at once where nothing is under way, and once', async () => {
    const gateway = await start()
    await (await ask(gateway)).text()
    const startedAt = performance.now()
    await Promise.all([gateway.close(), gateway.close()])
    expect(performance.now() - startedAt).toBeLessThan(1000)
  })

  it('does not wait for a client that never reads', async () => {
    const gateway = await start()
    const leaving = new AbortController()
    const answer = await ask(gateway, { model: 'stall', stream: true }, { signal: leaving.signal })
    const closed = gateway.close({ drainMs: 5000 })
    leaving.abort()
    await answer.text().catch(() => {})
    const startedAt = performance.now()
    await closed
    expect(performance.now() - startedAt).toBeLessThan(1500)
  })
})

it('readiness has nothing to do with circuits', async () => {
  await using gateway = await start()
  gateway.gear.openCircuit({ name: 'p' })
  gateway.gear.openCircuit({ name: 'claude' })
  expect((await ask(gateway)).status).toBe(503)
  expect(await ready(gateway)).toBe(200)
})
