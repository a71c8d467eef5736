import { describe, expect, it } from 'vitest'

import { everyKey, resolved } from './config-support.ts'

const target =
  'targets: [{ name: a, baseUrl: http://a }, { name: b, baseUrl: http://b }, { name: c, baseUrl: http://c }]\n'

describe('the smallest configuration', () => {
  it('has everything filled in', () => {
    expect(
      resolved('targets: [{ baseUrl: http://127.0.0.1:1/v1/ }, { baseUrl: http://b, apiKey: k }]'),
    ).toEqual({
      server: {
        host: '127.0.0.1',
        port: 4000,
        admin: undefined,
        maxBodyBytes: 64 * 1024 * 1024,
        requestTimeoutMs: 60_000,
        keepAliveMs: 15_000,
        drainMs: 30_000,
        allowMocks: false,
      },
      targets: [
        {
          name: 'primary',
          baseUrl: 'http://127.0.0.1:1/v1',
          api: 'openai',
          auth: { header: 'authorization', prefix: 'Bearer ' },
          headers: {},
          query: {},
          weight: 1,
          set: {},
          drop: [],
          healthCheck: { maxTokens: 1 },
          core: { name: 'primary', circuitBreaker: true },
        },
        expect.objectContaining({ name: 'fallback[0]', apiKey: 'k' }),
      ],
      groups: undefined,
      contextWindowFallbacks: {},
      contentPolicyFallbacks: {},
      journal: { file: '/etc/gear/switchgear.db', keepDays: 30, maxMegabytes: 512 },
      record: false,
      alerts: [],
      healthChecks: undefined,
      openTelemetry: false,
      adminTokens: {},
      clientKeys: {},
    })
  })
})

describe('every key', () => {
  const config = resolved(everyKey)
  const target = (name: string) => config.targets.find((found) => found.name === name)

  it('of the server arrives', () => {
    expect(config.server).toEqual({
      host: '0.0.0.0',
      port: 4010,
      admin: { host: '127.0.0.1', port: 4011 },
      maxBodyBytes: 1_000_000,
      requestTimeoutMs: 5000,
      keepAliveMs: 1000,
      drainMs: 0,
      allowMocks: true,
    })
    expect(config.clientKeys).toEqual({ 'team-a': 'key-of-team-a', 'team-b': 'key-of-team-b' })
    expect(config.adminTokens).toEqual({ alice: 'token-of-alice-0123', bob: 'token-of-bob-012345' })
    expect(config.journal).toEqual({ file: '/etc/gear/data/journal.db', keepDays: 7, maxMegabytes: 64 })
    expect(config.healthChecks).toEqual({ intervalMs: 5000, maxPerHour: 12 })
    expect(config.alerts).toEqual([
      {
        url: 'https://hooks.example.com/T0/secretpath',
        secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3',
        on: ['open', 'flapping'],
        flapping: { opens: 3, withinMs: 1000 },
        stuckHalfOpenMs: 5000,
      },
      {
        url: 'http://127.0.0.1:9/hook',
        on: ['open', 'hold', 'stuck-half-open', 'flapping', 'auth', 'quota'],
        flapping: { opens: 5, withinMs: 600_000 },
        stuckHalfOpenMs: 300_000,
      },
    ])
    expect([config.deadlineMs, config.whenAllOpen, config.retryBudget]).toEqual([
      90_000,
      { waitMs: 100 },
      { capacity: 3, perCall: 0.1 },
    ])
  })

  it('of a provider is the target’s, which may say otherwise', () => {
    expect(target('gpt-5-azure')).toMatchObject({
      baseUrl: 'https://x.openai.azure.com/openai/v1',
      apiKey: 'azure-key-0123456789',
      auth: { header: 'api-key', prefix: '' },
      headers: { 'x-team': 'a' },
      query: { 'api-version': 'preview', more: '1' },
      healthCheck: false,
    })
    expect(target('sonnet')).toMatchObject({
      api: 'anthropic',
      auth: { header: 'x-api-key', prefix: '' },
      headers: { 'anthropic-version': '2023-06-01' },
      healthCheck: { maxTokens: 1 },
    })
    expect(target('local')).toMatchObject({ auth: undefined })
    expect(target('local')).not.toHaveProperty('apiKey')
    expect(target('own')).toMatchObject({ auth: { header: 'x-key', prefix: 'Token ' } })
    expect(target('gpt-5')).toMatchObject({
      weight: 3,
      set: { temperature: 1, metadata: { a: [1, null] } },
      drop: ['logit_bias'],
      healthCheck: { model: 'gpt-5-nano', maxTokens: 4 },
    })
  })

  it('of the defaults is the target’s where it says nothing', () => {
    const standard = { threshold: 7, cooldownMs: 10_000, mode: 'observe' }
    expect(target('gpt-5')?.core).toEqual({
      name: 'gpt-5',
      model: 'gpt-5',
      maxRetries: 1,
      timeoutMs: 20_000,
      retry: { baseMs: 100, multiplier: 3 },
      circuitBreaker: standard,
    })
    expect(target('gpt-5-azure')?.core).toMatchObject({
      retry: { baseMs: 50, multiplier: 3 },
      circuitBreaker: {
        cooldownMs: 10_000,
        mode: 'observe',
        tripping: { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 },
      },
    })
    expect(target('gpt-5-azure')?.core.circuitBreaker).not.toHaveProperty('threshold')
    expect(target('sonnet')?.core).toMatchObject({ bucket: 'claude', circuitBreaker: standard })
    expect(target('local')?.core).toMatchObject({
      circuitBreaker: false,
      timeoutMs: 1000,
      firstContentTimeoutMs: 900,
      idleTimeoutMs: 800,
    })
  })

  it('of the groups is told in names of targets', () => {
    expect([...(config.groups?.values() ?? [])]).toEqual([
      {
        name: 'gpt-5',
        targets: ['gpt-5', 'gpt-5-azure'],
        strategy: 'round-robin',
        fallbacks: ['local', 'own'],
      },
      { name: 'claude', targets: ['sonnet'], strategy: 'ordered', fallbacks: [] },
      { name: 'small', targets: ['local'], strategy: 'ordered', fallbacks: ['own'] },
      { name: '*', targets: ['own'], strategy: 'weighted', fallbacks: ['local', 'sonnet'] },
    ])
    expect(config.contextWindowFallbacks).toEqual({
      'gpt-5': ['sonnet'],
      'gpt-5-azure': ['sonnet'],
      own: ['gpt-5-azure', 'local'],
    })
    expect(config.contentPolicyFallbacks).toEqual({ local: ['own'] })
  })
})

describe('circuitBreaker', () => {
  const breaker = (defaults: string, own: string) =>
    resolved(
      `defaults: { circuitBreaker: ${defaults} }\ntargets: [{ baseUrl: http://a${own === '' ? '' : `, circuitBreaker: ${own}`} }]`,
    ).targets[0]?.core.circuitBreaker

  it.each([
    ['{ threshold: 3 }', '', { threshold: 3 }],
    ['{ threshold: 3 }', 'true', { threshold: 3 }],
    ['{ threshold: 3 }', 'false', false],
    ['{ threshold: 3 }', '{ cooldownMs: 5 }', { threshold: 3, cooldownMs: 5 }],
    ['{ threshold: 3, cooldownMs: 5 }', '{ threshold: 4 }', { threshold: 4, cooldownMs: 5 }],
    [
      '{ tripping: { kind: leaky, threshold: 9 }, cooldownMs: 5 }',
      '{ threshold: 4 }',
      { threshold: 4, cooldownMs: 5 },
    ],
    ['{ halfOpenProbes: 4, halfOpenConcurrency: 3 }', '{ halfOpenProbes: 2 }', { halfOpenProbes: 2 }],
    ['false', '', false],
    ['false', 'true', true],
    ['false', '{ threshold: 4 }', { threshold: 4 }],
    ['true', '', true],
  ])('%s, and of the target %s', (defaults, own, expected) => {
    expect(breaker(defaults, own)).toEqual(expected)
  })
})

describe('fallbacks', () => {
  const chains = (text: string) =>
    Object.fromEntries(
      [...(resolved(text + target).groups ?? [])].map(([name, { fallbacks }]) => [name, fallbacks]),
    )

  it.each([
    ['are those of the group', 'models: { x: { targets: [a], fallbacks: [b] } }', { x: ['b'] }],
    ['may stand beside it', 'models: { x: [a] }\nfallbacks: { x: [c, b] }', { x: ['c', 'b'] }],
    [
      'are the defaults where it has none',
      'models: { x: [a], y: [b] }\nfallbacks: { y: [] }\ndefaultFallbacks: [c]',
      { x: ['c'], y: [] },
    ],
    [
      'go on with those of the groups in it',
      'models: { x: [a], y: [b] }\nfallbacks: { x: [y], y: [c] }',
      { x: ['b', 'c'], y: ['c'] },
    ],
    [
      'take the whole list before what the groups in it say',
      'models: { x: [a], y: { targets: [b], fallbacks: [y2] }, y2: [c] }\nfallbacks: { x: [y, y2] }',
      { x: ['b', 'c'], y: ['c'], y2: [] },
    ],
    [
      'end where they go round',
      'models: { x: [a], y: [b], z: [c] }\nfallbacks: { x: [y], y: [z], z: [x] }',
      { x: ['b', 'c'], y: ['c', 'a'], z: ['a', 'b'] },
    ],
    ['of itself are nothing', 'models: { x: [a] }\nfallbacks: { x: [x, a, b] }', { x: ['b'] }],
    [
      'name nobody twice',
      'models: { x: [a], y: [b, c] }\nfallbacks: { x: [c, y, b] }',
      { x: ['c', 'b'], y: [] },
    ],
    [
      'do not take the defaults of a group in it',
      'models: { x: [a], y: [b] }\nfallbacks: { x: [y] }\ndefaultFallbacks: [c]',
      { x: ['b'], y: ['c'] },
    ],
    [
      'mean the group where a target has its name',
      'models: { x: [a], b: [b, c] }\nfallbacks: { x: [b] }',
      { x: ['b', 'c'], b: [] },
    ],
  ])('%s', (_, text, expected) => {
    expect(chains(`${text}\n`)).toEqual(expected)
  })

  it('for long prompts: what a target says comes before what its groups say', () => {
    const text = 'models: { x: [a, b] }\ncontextWindowFallbacks: { x: [c, b], a: [b] }\n'
    expect(resolved(text + target).contextWindowFallbacks).toEqual({ a: ['b', 'c'], b: ['c'] })
  })

  it('of a group called like a member of every object', () => {
    expect(chains('models: { constructor: [a], toString: [b] }\ndefaultFallbacks: [c]\n')).toEqual({
      constructor: ['c'],
      toString: ['c'],
    })
  })
})

it('an address out of a variable may end with a slash', () => {
  const text = 'targets:\n  - { baseUrl: "${ENDPOINT}/openai/v1//" }\n'
  expect(resolved(text, { ENDPOINT: 'https://x.example.com/' }).targets[0]?.baseUrl).toBe(
    'https://x.example.com/openai/v1',
  )
})
