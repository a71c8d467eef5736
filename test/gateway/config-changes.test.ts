import { describe, expect, it } from 'vitest'

import { configChanges } from '../../src/gateway/config/changes.ts'
import { everyKey, resolved } from './config-support.ts'

const base = `server: { port: 4000, clientKeys: { a: key-of-a-old } }
targets:
  - { name: x, baseUrl: http://x, apiKey: key-of-x-old }
  - { name: y, baseUrl: http://y }
models: { m: [x, y] }
`

const changes = (change: (text: string) => string) => configChanges(resolved(base), resolved(change(base)))

describe('configChanges', () => {
  it('keeps everything of the same configuration', () => {
    const { changed, kept } = configChanges(resolved(everyKey), resolved(everyKey))
    expect(changed).toEqual([])
    expect(kept).toEqual([
      'target gpt-5',
      'target gpt-5-azure',
      'target sonnet',
      'target local',
      'target own',
      'model group gpt-5',
      'model group claude',
      'model group small',
      'model group *',
      'server',
      'client keys',
      'admin tokens',
      'contextWindowFallbacks',
      'contentPolicyFallbacks',
      'deadlineMs',
      'whenAllOpen',
      'retryBudget',
      'journal',
      'record',
      'alerts',
      'healthChecks',
      'openTelemetry',
    ])
  })

  it.each([
    [
      'timeoutMs of a target',
      /baseUrl: http:\/\/y/,
      'baseUrl: http://y, timeoutMs: 5, model: z',
      ['target y: changed model, timeoutMs'],
    ],
    ['an apiKey', 'key-of-x-old', 'key-of-x-new', ['target x: changed apiKey']],
    ['a new target', 'models:', '  - { name: z, baseUrl: http://z }\nmodels:', ['target z: added']],
    [
      'defaults',
      'models:',
      'defaults: { maxRetries: 0 }\nmodels:',
      ['target x: changed maxRetries', 'target y: changed maxRetries'],
    ],
    ['a new group', '[x, y] }', '[x, y], n: [y] }', ['model group n: added']],
    [
      'a group',
      'm: [x, y]',
      'm: { targets: [y], strategy: weighted, fallbacks: [x] }',
      ['model group m: changed targets, strategy, fallbacks'],
    ],
    ['no groups', /models:.*/, '', ['model group m: removed']],
    ['a client’s key', 'key-of-a-old', 'key-of-a-new', ['client keys: changed a']],
    ['another client', 'a: key-of-a-old', 'b: key-of-b-new', ['client keys: added b, removed a']],
    [
      'a token',
      'models:',
      'admin: { tokens: { alice: token-of-alice-0123 } }\nmodels:',
      ['admin tokens: added alice'],
    ],
    [
      'the port',
      'port: 4000',
      'port: 4001',
      ['server.port: needs a restart, the old one stays in force until then'],
    ],
    [
      'the host',
      'port: 4000',
      'port: 4000, host: 0.0.0.0',
      ['server.host: needs a restart, the old one stays in force until then'],
    ],
    [
      'the admin port',
      'port: 4000',
      'port: 4000, admin: { port: 4001 }',
      ['server.admin: needs a restart, the old one stays in force until then'],
    ],
    ['a limit of the server', 'port: 4000', 'port: 4000, drainMs: 5', ['server.drainMs: changed']],
    ['a deadline', 'models:', 'deadlineMs: 5\nmodels:', ['deadlineMs: added']],
    [
      'the journal',
      'models:',
      'journal: false\nmodels:',
      ['journal: needs a restart, the old one stays in force until then'],
    ],
    ['an alert', 'models:', 'alerts: [{ url: http://z }]\nmodels:', ['alerts: changed']],
    ['checks', 'models:', 'healthChecks: {}\nmodels:', ['healthChecks: added']],
  ] as const)('names %s', (_, from, to, expected) => {
    expect(changes((text) => text.replace(from, to)).changed).toEqual(expected)
  })

  it('names a target that is gone, and another order', () => {
    const other = resolved('targets: [{ name: y, baseUrl: http://y }, { name: x, baseUrl: http://x }]')
    const one = resolved(
      'targets: [{ name: x, baseUrl: http://x }, { name: y, baseUrl: http://y }, { name: z, baseUrl: http://z }]',
    )
    expect(configChanges(one, other).changed).toEqual(['target z: removed', 'targets: in another order'])
  })

  it('shows no secret', () => {
    const text = everyKey.replaceAll(/(key-of-|token-of-|sk-|azure-key-|whsec_MD)/g, '$1x')
    const told = JSON.stringify(
      configChanges(resolved(everyKey), resolved(text.replaceAll('whsec_MDx', 'whsec_MDEx'))),
    )
    expect(told).not.toMatch(/key-of|token-of|sk-|azure-key|whsec/)
  })
})
