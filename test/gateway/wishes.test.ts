import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { startScriptedProvider } from '../../src/testing/scripted-provider.ts'
import type { ScriptedProvider } from '../../src/testing/scripted-provider.ts'
import { ask, post, startGateway } from './support.ts'

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

const targets = (rules = {}) =>
  [
    { name: 'a', baseUrl: a.baseURL, ...rules },
    { name: 'b', baseUrl: b.baseURL, ...rules },
  ] as const

const told = async (answer: Response) => {
  const text = await answer.text()
  return { status: answer.status, target: answer.headers.get('x-switchgear-target'), text }
}

describe('x-switchgear-no-fallback', () => {
  const headers = { 'x-switchgear-no-fallback': 'true' }

  it('asks nobody else once somebody was asked', async () => {
    await using gateway = await startGateway(targets())
    expect(await told(await ask(gateway, { model: '503' }, { headers }))).toMatchObject({
      status: 502,
      target: 'a',
    })
    expect(await told(await ask(gateway, { model: '503', stream: true }, { headers }))).toMatchObject({
      status: 502,
      target: 'a',
    })
    expect(b.requests).toHaveLength(0)
  })

  it('keeps to the group, in which a refusal still passes on', async () => {
    await using gateway = await startGateway(targets(), {
      models: { both: ['a', 'b'], one: { targets: ['a'], fallbacks: ['b'] } },
    })
    gateway.gear.openCircuit({ name: 'a' })
    expect(await told(await ask(gateway, { model: 'both' }, { headers }))).toMatchObject({ target: 'b' })
    expect(await told(await ask(gateway, { model: 'one' }, { headers }))).toMatchObject({ status: 503 })
    expect(await told(await ask(gateway, { model: 'one' }))).toMatchObject({ status: 200, target: 'b' })
  })

  it('of a refused first target without groups ends in the refusal', async () => {
    await using gateway = await startGateway(targets())
    gateway.gear.openCircuit({ name: 'a' })
    expect(await told(await ask(gateway, {}, { headers }))).toMatchObject({ status: 503, target: null })
  })
})

describe('x-switchgear-target', () => {
  const to = (name: string, rest = {}) => ({ headers: { 'x-switchgear-target': name, ...rest } })

  it('addresses one target, and nobody else is asked', async () => {
    await using gateway = await startGateway(targets())
    expect(await told(await ask(gateway, {}, to('b')))).toMatchObject({ status: 200, target: 'b' })
    expect(await told(await ask(gateway, { model: '503' }, to('b')))).toMatchObject({ status: 502 })
    expect(a.requests).toHaveLength(0)
  })

  it('respects an open circuit, unless it is bypassed; what comes of that decides nothing', async () => {
    await using gateway = await startGateway(targets())
    gateway.gear.openCircuit({ name: 'b' })
    expect(await told(await ask(gateway, {}, to('b')))).toMatchObject({ status: 503 })
    expect(b.requests).toHaveLength(0)
    const bypass = to('b', { 'x-switchgear-bypass': 'true' })
    expect(await told(await ask(gateway, {}, bypass))).toMatchObject({ status: 200, target: 'b' })
    expect(gateway.gear.getCircuitState({ name: 'b' })).toBe('open')
  })

  it('that is none is a 400 with those that are', async () => {
    await using gateway = await startGateway([
      ...targets(),
      { name: 'claude', baseUrl: a.baseURL, api: 'anthropic' },
    ])
    expect(await told(await ask(gateway, {}, to('claud')))).toMatchObject({
      status: 400,
      text: expect.stringContaining(
        "there is no target 'claud'. Did you mean 'claude'? Known: a, b, claude.",
      ),
    })
    expect(await told(await ask(gateway, {}, to('claude')))).toMatchObject({
      status: 400,
      text: expect.stringContaining("'claude' does not speak /v1/chat/completions: its api is anthropic."),
    })
  })
})

describe('a header that means nothing', () => {
  it.each([
    [{ 'x-switchgear-no-fallback': 'yes' }, 'x-switchgear-no-fallback must be true or false.'],
    [
      { 'x-switchgear-bypass': '1', 'x-switchgear-target': 'a' },
      'x-switchgear-bypass must be true or false.',
    ],
    [{ 'x-switchgear-bypass': 'true' }, 'x-switchgear-bypass works only beside x-switchgear-target.'],
    [{ 'x-switchgear-target': '' }, 'x-switchgear-target is empty'],
    [{ 'x-switchgear-mock': '503' }, 'x-switchgear-mock is not allowed here: server.allowMocks is false.'],
  ])('%j is a 400', async (headers: Record<string, string>, message) => {
    await using gateway = await startGateway(targets())
    const answer = await told(await ask(gateway, {}, { headers }))
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining(message) })
    expect(a.requests).toHaveLength(0)
  })
})

describe('x-switchgear-mock', () => {
  const rules = { server: { port: 0, allowMocks: true } }
  const nowhere = (rest = {}) =>
    [
      { name: 'a', baseUrl: 'http://127.0.0.1:1/v1', ...rest },
      { name: 'b', baseUrl: 'http://127.0.0.1:1/v1', ...rest },
    ] as const
  const mock = (value: string) => ({ headers: { 'x-switchgear-mock': value } })

  it.each([
    ['ok', 200, 'a'],
    ['503', 200, 'b'],
    ['503, 429', 429, 'b'],
    ['network,network', 502, 'b'],
    ['400', 400, 'a'],
    ['timeout', 200, 'b'],
    ['empty', 200, 'b'],
  ])('%s plays the whole path without a network', async (value, status, target) => {
    await using gateway = await startGateway(nowhere({ timeoutMs: 50 }), rules)
    for (const stream of [false, true]) {
      const answer = await told(await ask(gateway, { stream }, mock(value)))
      if (value !== '503, 429') expect(answer).toMatchObject({ status, target })
      else expect(answer.text).toContain('ERR_FALLBACK_EXHAUSTED')
      if (status === 200) expect(answer.text).toContain('Hello')
    }
  })

  it('counts as the true thing does: a circuit opens', async () => {
    await using gateway = await startGateway(nowhere({ circuitBreaker: { threshold: 2 } }), rules)
    for (let i = 0; i < 2; i++) await told(await ask(gateway, {}, mock('503')))
    expect(gateway.gear.getCircuitState({ name: 'a' })).toBe('open')
  })

  it('breaks streams, too, and speaks the shape of every endpoint', async () => {
    const [a, b] = nowhere()
    await using gateway = await startGateway(
      [
        { ...a, idleTimeoutMs: 50 },
        { ...b, name: 'claude', api: 'anthropic', idleTimeoutMs: 50 },
      ],
      rules,
    )
    for (const [path, event] of [
      ['/v1/chat/completions', 'data: {"error"'],
      ['/v1/responses', 'event: error'],
      ['/v1/messages', 'event: error'],
    ] as const) {
      for (const fault of ['cut', 'stall', 'stream-error-late', 'no-marker']) {
        const { text } = await told(await post(gateway, path, { stream: true }, mock(fault)))
        expect(text).toContain('Hello')
        expect(text).toContain(event)
      }
      expect((await told(await post(gateway, path, {}, mock('ok')))).text).toContain('Hello')
    }
    expect((await told(await post(gateway, '/v1/embeddings', {}, mock('ok')))).text).toContain('embedding')
  })

  it('that is none is a 400', async () => {
    await using gateway = await startGateway(nowhere(), rules)
    for (const value of ['503x', 'constructor', '503,', '__proto__']) {
      expect(await told(await ask(gateway, {}, mock(value)))).toMatchObject({
        status: 400,
        text: expect.stringContaining('x-switchgear-mock: there is no mock'),
      })
    }
  })
})
