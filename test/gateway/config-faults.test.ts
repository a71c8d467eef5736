import { describe, expect, it } from 'vitest'

import { checkConfig } from '../../src/gateway/config/check-config.ts'
import { everyKey, faultsOf, read } from './config-support.ts'

const target = 'targets: [{ name: a, baseUrl: "http://a/v1" }, { name: b, baseUrl: "http://b/v1" }]\n'

/** Faults of a text that stands before two good targets. */
const faults = (text: string, env = {}) => faultsOf(`${text.trimEnd()}\n${target}`, env)

describe('a configuration with every key', () => {
  it('is valid', () => {
    expect(faultsOf(everyKey)).toEqual([])
  })

  it.each([
    [
      'today’s shape',
      'targets: [{ baseUrl: http://a/v1, apiKey: k }]\ncontextWindowFallbacks: { primary: [] }',
    ],
    ['no key at all', 'targets: [{ baseUrl: http://a }]'],
    ['journal true', `journal: true\n${target}`],
    ['journal false', `journal: false\n${target}`],
    ['a cycle of fallbacks', `models: { x: [a], y: [b] }\nfallbacks: { x: [y], y: [x, b] }\n${target}`],
    ['Infinity', `defaults: { timeoutMs: .inf, circuitBreaker: { threshold: .inf } }\n${target}`],
    ['a group of the name of its target', `models: { a: [a, b] }\ndefaultFallbacks: [a]\n${target}`],
    [
      'a list of tripping rules',
      `defaults: { circuitBreaker: { tripping: [{ kind: consecutive, threshold: 3 }, { kind: leaky, threshold: 9 }] } }\n${target}`,
    ],
  ])('%s is valid, too', (_, text) => {
    expect(faultsOf(text)).toEqual([])
  })
})

describe('a name that would steer a terminal', () => {
  it.each([
    ['targets: [{ name: "a\\e[2J", baseUrl: http://a }]', 'targets[0].name: '],
    ['targets: [{ model: "m\\nx", baseUrl: http://a }]', 'targets[0].model: '],
    ['targets: [{ bucket: "b\\x9b", baseUrl: http://a }]', 'targets[0].bucket: '],
    [
      'targets: [{ baseUrl: http://a, healthCheck: { model: "m\\u202e" } }]',
      'targets[0].healthCheck.model: ',
    ],
    [`models: { "g\\u2028": [a] }\n${target}`, 'models.g\uFFFD: '],
    [`providers: { "p\\r": { baseUrl: http://a } }\n${target}`, 'providers.p\uFFFD: '],
  ])('%s is refused', (text, path) => {
    expect(faultsOf(text)).toEqual([
      `1 ${path}has a control character in it, such as a line end; write it without`,
    ])
  })

  it('may be any other one, and bodies hold what they like', () => {
    expect(
      faultsOf('targets: [{ name: "größe 👩‍💻", baseUrl: http://a, set: { metadata: { "a\\nb": "\\e" } } }]'),
    ).toEqual([])
  })

  it('is told of without what it does', () => {
    expect(faultsOf(`models: { g: ["no\\e]0;x"] }\n"se\\nrver": 1\n${target}`).join('')).not.toMatch(
      /\p{Cc}/u,
    )
  })
})

describe('an unknown key', () => {
  it.each([
    ['serverr: {}', "serverr: unknown key. Did you mean 'server'?"],
    ['server: { hots: x }', "server.hots: unknown key. Did you mean 'host'?"],
    ['server: { admin: { port: 1, prot: 2 } }', "server.admin.prot: unknown key. Did you mean 'port'?"],
    ['admin: { token: x }', "admin.token: unknown key. Did you mean 'tokens'?"],
    [
      'providers: { x: { baseUrl: "http://x", apikey: k } }',
      "providers.x.apikey: unknown key. Did you mean 'apiKey'?",
    ],
    [
      'providers: { x: { baseUrl: "http://x", auth: { header: h, prefx: p } } }',
      "providers.x.auth.prefx: unknown key. Did you mean 'prefix'?",
    ],
    ['defaults: { timeout: 1 }', "defaults.timeout: unknown key. Did you mean 'timeoutMs'?"],
    ['defaults: { retry: { basems: 1 } }', "defaults.retry.basems: unknown key. Did you mean 'baseMs'?"],
    [
      'defaults: { circuitBreaker: { treshold: 1 } }',
      "defaults.circuitBreaker.treshold: unknown key. Did you mean 'threshold'?",
    ],
    [
      'defaults: { circuitBreaker: { kinds: { auth: { thresold: 1 } } } }',
      "defaults.circuitBreaker.kinds.auth.thresold: unknown key. Did you mean 'threshold'?",
    ],
    [
      'defaults: { circuitBreaker: { cooldownBackoff: { multiplier: 2, maxms: 3 } } }',
      "defaults.circuitBreaker.cooldownBackoff.maxms: unknown key. Did you mean 'maxMs'?",
    ],
    [
      'defaults: { circuitBreaker: { tripping: { kind: leaky, threshold: 2, windowMs: 3 } } }',
      'defaults.circuitBreaker.tripping.windowMs: unknown key. Known: kind, threshold.',
    ],
    [
      'defaults: { circuitBreaker: { tripping: [{ kind: rolling, windowMs: 50, mincalls: 3, minCalls: 1, failureRatio: 1 }] } }',
      "defaults.circuitBreaker.tripping[0].mincalls: unknown key. Did you mean 'minCalls'?",
    ],
    [
      'defaults: { circuitBreaker: { onStateChange: x } }',
      expect.stringMatching(/^defaults.circuitBreaker.onStateChange: unknown key. Known: threshold, /),
    ],
    [
      'models: { x: { targets: [a], strategie: ordered } }',
      "models.x.strategie: unknown key. Did you mean 'strategy'?",
    ],
    ['whenAllOpen: { waitms: 1, waitMs: 2 }', "whenAllOpen.waitms: unknown key. Did you mean 'waitMs'?"],
    ['retryBudget: { percall: 1 }', "retryBudget.percall: unknown key. Did you mean 'perCall'?"],
    ['journal: { fil: x }', "journal.fil: unknown key. Did you mean 'file'?"],
    ['alerts: [{ url: "http://x", secrets: x }]', "alerts[0].secrets: unknown key. Did you mean 'secret'?"],
    [
      'alerts: [{ url: "http://x", flapping: { open: 3 } }]',
      "alerts[0].flapping.open: unknown key. Did you mean 'opens'?",
    ],
    ['healthChecks: { interval: 3 }', "healthChecks.interval: unknown key. Did you mean 'intervalMs'?"],
  ])('%s', (text, fault) => {
    const [first, ...others] = faults(text)
    expect(first?.replace(/^1 /, '')).toEqual(fault)
    expect(others).toEqual([])
  })

  it('of a target, with all that are known where nothing is near', () => {
    expect(faultsOf('targets:\n  - baseUrl: http://a\n    zzzzzzzz: 1\n')).toEqual([
      '3 targets[0].zzzzzzzz: unknown key. Known: name, provider, baseUrl, apiKey, api, auth, headers, query, model, weight, set, drop, healthCheck, bucket, circuitBreaker, maxRetries, retry, timeoutMs, firstContentTimeoutMs, idleTimeoutMs.',
    ])
  })
})

describe('a value that does not fit', () => {
  it.each([
    ['server: []', 'server: is an empty list, must be a mapping of host, port and limits'],
    [
      'server: { port: "4000" }',
      'server.port: is a text that does not fit, must be a whole number from 0 to 65535',
    ],
    ['server: { port: 4000.5 }', 'server.port: is the number 4000.5, must be a whole number from 0 to 65535'],
    ['server: { admin: {} }', 'server.admin.port: is missing, must be a whole number from 0 to 65535'],
    [
      'server: { maxBodyBytes: 0 }',
      'server.maxBodyBytes: is the number 0, must be a whole number of bytes above 0',
    ],
    [
      'server: { drainMs: -1 }',
      'server.drainMs: is the number -1, must be a whole number of milliseconds of at least 0',
    ],
    [
      'server: { keepAliveMs: .inf }',
      'server.keepAliveMs: is the number Infinity, must be a whole number of milliseconds above 0',
    ],
    ['server: { allowMocks: yes }', 'server.allowMocks: is a text that does not fit, must be true or false'],
    [
      'server: { clientKeys: [key-of-a] }',
      'server.clientKeys: is a list, must be a mapping: name of a client → key',
    ],
    [
      'providers: { x: { apiKey: k } }',
      expect.stringMatching(/^providers.x.baseUrl: is missing, must be the http/),
    ],
    ['providers: { x: null }', 'providers.x: is empty, must be a provider: a mapping with a baseUrl'],
    [
      'providers: { x: { baseUrl: "https://x?key=1" } }',
      expect.stringMatching(/^providers.x.baseUrl: is a text that does not fit, must be the http/),
    ],
    [
      'providers: { x: { baseUrl: "http://x", api: google } }',
      'providers.x.api: is a text that does not fit, must be openai or anthropic',
    ],
    [
      'providers: { x: { baseUrl: "http://x", auth: basic } }',
      expect.stringMatching(
        /^providers.x.auth: is a text that does not fit, must be bearer, x-api-key, none, or/,
      ),
    ],
    [
      'providers: { x: { baseUrl: "http://x", query: { v: 2 } } }',
      'providers.x.query.v: is a number without quotes, must be a mapping: name of a parameter → text; put quotes around a number',
    ],
    [
      'providers: { x: { baseUrl: "http://x", headers: { v: 2 } } }',
      expect.stringMatching(
        /^providers.x.headers.v: is a number without quotes, must be .* put quotes around a number$/,
      ),
    ],
    [
      'models: { x: [] }',
      expect.stringMatching(/^models.x: is an empty list, must be a list of names of targets/),
    ],
    [
      'models: { x: { targets: [] } }',
      'models.x.targets: is an empty list, must be a list of one name of a target at least',
    ],
    [
      'models: { x: { targets: [a], strategy: random } }',
      'models.x.strategy: is a text that does not fit, must be one of: ordered, round-robin, weighted, least-busy',
    ],
    [
      'defaultFallbacks: a\nmodels: { x: [a] }',
      'defaultFallbacks: is a text that does not fit, must be a list of names of groups or targets',
    ],
    [
      'journal: yes',
      'journal: is a text that does not fit, must be true, false, or a mapping of file, keepDays and maxMegabytes',
    ],
    ['journal: { keepDays: 0 }', 'journal.keepDays: is the number 0, must be a number of days above 0'],
    ['alerts: [{}]', 'alerts[0].url: is missing, must be an http(s) URL without a user in it'],
    [
      'alerts: [{ url: "ftp://x" }]',
      'alerts[0].url: is a text that does not fit, must be an http(s) URL without a user in it',
    ],
    [
      'alerts: [{ url: "http://x", on: [opne] }]',
      'alerts[0].on[0]: is a text that does not fit, must be a list of some of: open, hold, stuck-half-open, flapping, auth, quota',
    ],
    [
      'alerts: [{ url: "http://x", on: [] }]',
      expect.stringMatching(/^alerts\[0\].on: is an empty list, must be/),
    ],
    [
      'alerts: [{ url: "http://x", secret: abc }]',
      expect.stringMatching(/^alerts\[0\].secret: is a text that does not fit, must be whsec_ and then 24/),
    ],
    [
      'alerts: [{ url: "http://x", secret: whsec_c2hvcnQ= }]',
      expect.stringMatching(/^alerts\[0\].secret: is a text that does not fit, must be whsec_ and then 24/),
    ],
    [
      'healthChecks: { maxPerHour: 0 }',
      'healthChecks.maxPerHour: is the number 0, must be a whole number above 0',
    ],
    ['healthChecks: true', 'healthChecks: is true, must be a mapping of intervalMs and maxPerHour'],
    [
      'defaults: { circuitBreaker: { tripping: {} } }',
      'defaults.circuitBreaker.tripping.kind: is missing, must be one of: consecutive, leaky, rolling, latency',
    ],
    [
      'defaults: { circuitBreaker: { tripping: { kind: rolling } } }',
      expect.stringMatching(/tripping.windowMs: is missing, must be a number of milliseconds$/),
    ],
    [
      'defaults: { circuitBreaker: { mode: watch } }',
      'defaults.circuitBreaker.mode: is a text that does not fit, must be enforce or observe',
    ],
  ])('%s', (text, fault) => {
    expect(faults(text)[0]?.replace(/^1 /, '')).toEqual(fault)
  })

  it.each([
    ['weight: 0', 'weight: is the number 0, must be a number above 0'],
    ['weight: -1', 'weight: is the number -1, must be a number above 0'],
    ['set: [x]', 'set: is a list, must be a mapping: field of the body → value'],
    ['drop: x', 'drop: is a text that does not fit, must be a list of fields of the body'],
    [
      'healthCheck: { maxTokens: 0 }',
      'healthCheck.maxTokens: is the number 0, must be a whole number above 0',
    ],
    [
      'healthCheck: often',
      'healthCheck: is a text that does not fit, must be true, false, or a mapping of model and maxTokens',
    ],
    [
      'set: { model: x }',
      'set.model: cannot be set here, the key model of the target says which model is asked for',
    ],
    [
      'set: { stream: true }',
      'set.stream: cannot be set here, whether an answer comes in parts is the client’s to say',
    ],
    [
      'drop: [x, model]',
      "drop[1]: 'model' cannot be dropped, the key model of the target says which model is asked for",
    ],
    ['drop: [x, x]', "drop[1]: 'x' is named twice"],
    ['{ set: { n: 1 }, drop: [n] }', 'set.n: is also in drop, take it out of one of them'],
  ])('a target with %s', (text, fault) => {
    const inline = text.startsWith('{') ? text.slice(1, -1) : text
    expect(faultsOf(`targets: [{ baseUrl: "http://a", ${inline} }]`)).toEqual([`1 targets[0].${fault}`])
  })

  it('that is a whole target leaves the others to be looked at', () => {
    expect(faultsOf('targets:\n  - just text\n  - { name: x, baseUrl: http://x, timeoutMs: 0 }\n')).toEqual([
      '2 targets[0]: is a text that does not fit, must be a target: a mapping with a provider or a baseUrl',
      '3 targets[1].timeoutMs: is 0; it must be a number greater than 0, or Infinity.',
    ])
  })
})

describe('a name', () => {
  it.each([
    ['models: { x: [c] }', "models.x[0]: 'c' is no target. Known: a, b."],
    ['models: { x: [a, a] }', "models.x[1]: 'a' is named twice"],
    [
      'models: { x: [a], y: { targets: [x] } }',
      "models.y.targets[0]: 'x' is no target. It is a model group; only targets can be deployments of one.",
    ],
    [
      'models: { a: [b] }',
      "models.a: 'a' is also the name of a target that is not in this group; rename one of them",
    ],
    [
      'models: { x: { targets: [a], fallbacks: [nope] } }',
      "models.x.fallbacks[0]: 'nope' is neither a model group nor a target. Known: x, a, b.",
    ],
    [
      'models: { gpt-5: [a] }\ndefaultFallbacks: [gtp-5]',
      "defaultFallbacks[0]: 'gtp-5' is neither a model group nor a target. Did you mean 'gpt-5'?",
    ],
    ['models: { x: [a] }\nfallbacks: { y: [b] }', "fallbacks.y: 'y' is no model group. Known: x."],
    [
      'models: { x: [a] }\nfallbacks: { a: [b] }',
      "fallbacks.a: 'a' is a target; only model groups have fallbacks",
    ],
    ['models: { x: [a] }\nfallbacks: { x: [b, b] }', "fallbacks.x[1]: 'b' is named twice"],
    [
      'models: { x: { targets: [a], fallbacks: [b] } }\nfallbacks: { x: [b] }',
      'fallbacks.x: is given twice, here and in models.x.fallbacks',
    ],
    [
      'fallbacks: { a: [b] }',
      'fallbacks: there are no model groups (models); without them every target is asked, in order',
    ],
    [
      'defaultFallbacks: [b]',
      'defaultFallbacks: there are no model groups (models); without them every target is asked, in order',
    ],
    ['contextWindowFallbacks: { z: [b] }', "contextWindowFallbacks.z: 'z' is no target. Known: a, b."],
    ['contentPolicyFallbacks: { a: [b, z] }', "contentPolicyFallbacks.a[1]: 'z' is no target. Known: a, b."],
    [
      'models: { x: [a] }\ncontentPolicyFallbacks: { x: [yy] }',
      "contentPolicyFallbacks.x[0]: 'yy' is neither a model group nor a target. Known: x, a, b.",
    ],
    ['models: { __proto__: [a] }', 'models.__proto__: cannot be a name, choose another'],
  ])('%s', (text, fault) => {
    expect(faults(text).map((line) => line.replace(/^\d /, ''))).toEqual([fault])
  })

  it.each([
    ['{ name: x }', '1 targets[0]: has neither a provider nor a baseUrl, give one of them'],
    ['{ provider: opnai }', "1 targets[0].provider: 'opnai' is no provider. Did you mean 'openai'?"],
    ['{ provider: constructor }', "1 targets[0].provider: 'constructor' is no provider. Known: openai."],
  ])('of a provider: %s', (text, fault) => {
    expect(faultsOf(`targets: [${text}]\nproviders: { openai: { baseUrl: http://x } }`)).toEqual([fault])
  })

  it('of a provider where there is none', () => {
    expect(faultsOf('targets: [{ provider: x }]')).toEqual([
      "1 targets[0].provider: 'x' is no provider. There are no providers.",
    ])
  })

  it('that leads to something faulty is not a second fault', () => {
    const text =
      'providers: { x: { apiKey: k } }\ntargets: [{ name: a, provider: x }]\nmodels: { m: [a, 3], n: { targets: [a], strategie: x } }\ndefaultFallbacks: [m, n]\n'
    expect(faultsOf(text).map((line) => line.split(':')[0])).toEqual([
      '1 providers.x.baseUrl',
      '3 models.m[1]',
      '3 models.n.strategie',
    ])
  })

  it('of the standard, which is taken', () => {
    expect(faultsOf('targets: [{ name: "fallback[0]", baseUrl: http://a }, { baseUrl: http://b }]')).toEqual([
      "1 targets[1].name: 'fallback[0]' is the name of targets[0], too; give each target a name of its own",
    ])
  })
})

describe('a header or a key', () => {
  it.each([
    ['headers: { Host: x }', 'headers.Host: is set by the gateway itself, leave it out'],
    [
      'headers: { content-length: "1" }',
      'headers.content-length: is set by the gateway itself, leave it out',
    ],
    [
      'headers: { Transfer-Encoding: x }',
      'headers.Transfer-Encoding: is set by the gateway itself, leave it out',
    ],
    [
      'headers: { proxy-authorization: x }',
      'headers.proxy-authorization: is set by the gateway itself, leave it out',
    ],
    [
      'headers: { x-switchgear-target: x }',
      'headers.x-switchgear-target: is set by the gateway itself, leave it out',
    ],
    [
      'headers: { Authorization: x }',
      'headers.Authorization: carries a key, use apiKey, and auth such as {header: authorization, prefix: "Basic "}',
    ],
    [
      'headers: { "a b": x }',
      'headers: has a key that is no name of a header, which has letters, digits and - only',
    ],
    [
      'headers: { "x\\r\\nevil": x }',
      'headers: has a key that is no name of a header, which has letters, digits and - only',
    ],
    [
      'headers: { x: "1\\r\\nevil: 2" }',
      expect.stringMatching(/^headers.x: is a text that does not fit, must be .* text in one line/),
    ],
    ['headers: { x-a: "1", X-A: "2" }', 'headers.X-A: stands there twice; upper and lower case are the same'],
    [
      'headers: { api-key: x }, apiKey: kkkkkkkk, auth: { header: Api-Key }',
      'headers.api-key: is where the apiKey goes, leave one of them out',
    ],
    [
      'headers: { x-api-key: x }, apiKey: kkkkkkkk, api: anthropic',
      'headers.x-api-key: is where the apiKey goes, leave one of them out',
    ],
    ['auth: { header: "a b" }', 'auth.header: is no name of a header, must have letters, digits and - only'],
    ['auth: { header: Host }', 'auth.header: is set by the gateway itself, must be another header'],
    [
      'auth: none, apiKey: kkkkkkkk',
      'auth: is none, so that the apiKey beside it would never be sent; leave one of them out',
    ],
    [
      'apiKey: "kkkkkkkk\\n"',
      expect.stringMatching(/^apiKey: is a text that does not fit, must be a key without line breaks/),
    ],
  ])('%s', (text, fault) => {
    const provider = faultsOf(`targets: [{ provider: x }]\nproviders: { x: { baseUrl: http://x, ${text} } }`)
    expect(provider.map((line) => line.replace('2 providers.x.', ''))).toEqual([fault])
    const own = faultsOf(`targets: [{ baseUrl: http://x, ${text} }]`)
    expect(own.map((line) => line.replace('1 targets[0].', ''))).toEqual([fault])
  })

  it('of a provider does not go to another host', () => {
    const providers = 'providers: { x: { baseUrl: https://x.example/v1, apiKey: kkkkkkkk } }\n'
    const own = (more: string) => faultsOf(`${providers}targets: [{ provider: x, baseUrl: ${more} }]`)
    expect(own('https://y.example/v1')).toEqual([
      "2 targets[0].baseUrl: is another host than that of 'x', whose apiKey would be sent there; give the target an apiKey of its own, or auth: none",
    ])
    expect(own('https://x.example/v2')).toEqual([])
    expect(own('https://y.example/v1, apiKey: llllllll')).toEqual([])
    expect(own('https://y.example/v1, auth: none')).toEqual([])
  })

  it.each([
    [
      'server: { clientKeys: { a: short } }',
      'server.clientKeys.a: is too short (5), must be 8 characters at least',
    ],
    [
      'server: { clientKeys: { a: "key with space" } }',
      'server.clientKeys.a: has a space in it, must be without',
    ],
    [
      'server: { clientKeys: {} }',
      'server.clientKeys: is empty, give one or leave clientKeys out (then everybody may come in)',
    ],
    [
      'server: { clientKeys: { "": key-of-nobody } }',
      'server.clientKeys: has a name that is empty or not printable',
    ],
    [
      'server: { clientKeys: { a: same-key-1, b: same-key-1 } }',
      'server.clientKeys.b: is the same as server.clientKeys.a, give each its own',
    ],
    [
      'admin: { tokens: { a: fifteen-letters } }',
      'admin.tokens.a: is too short (15), must be 16 characters at least',
    ],
    [
      'admin: { tokens: {} }',
      'admin.tokens: is empty, give one or leave tokens out (then one is made at the first start)',
    ],
    [
      'admin: { tokens: { a: 12345678901234567 } }',
      expect.stringMatching(/^admin.tokens.a: is a number without quotes, must be a token/),
    ],
    [
      'admin: { tokens: { a: same-token-012345, b: same-token-012345 } }',
      'admin.tokens.b: is the same as admin.tokens.a, give each its own',
    ],
    [
      'server: { clientKeys: { a: same-token-012345 } }\nadmin: { tokens: { b: same-token-012345 } }',
      'admin.tokens.b: is the same as server.clientKeys.a, give each its own',
    ],
    [
      'server: { port: 5000, admin: { port: 5000 } }',
      'server.admin.port: is the port of the gateway itself (5000), give another one',
    ],
    [
      'server: { admin: { port: 4000 } }',
      'server.admin.port: is the port of the gateway itself (4000), give another one',
    ],
  ])('%s', (text, fault) => {
    expect(faults(text).map((line) => line.replace(/^\d /, ''))).toEqual([fault])
  })

  it('two free ports are two ports', () => {
    expect(faults('server: { port: 0, admin: { port: 0 } }')).toEqual([])
  })
})

describe('what the core refuses', () => {
  const text = (own: string) => `defaults:
  timeoutMs: -1
  retry: { multiplier: 0.5 }
  circuitBreaker:
    threshold: 0
    cooldownMs: -5
targets:
  - name: a
    baseUrl: http://a
    circuitBreaker: { ${own} }
  - name: b
    baseUrl: http://b
`

  it('is told once, where the defaults say it', () => {
    expect(faultsOf(text('halfOpenProbes: 1'))).toEqual([
      '2 defaults.timeoutMs: is -1; it must be a number greater than 0, or Infinity.',
      '3 defaults.retry.multiplier: is 0.5; it must be a number of at least 1.',
      '5 defaults.circuitBreaker.threshold: is 0; it must be an integer of at least 1, or Infinity.',
      expect.stringMatching(
        /^6 defaults\.circuitBreaker\.cooldownMs: is -5; it must be a number of at least 0/,
      ),
    ])
  })

  it('is told where the target says it, beside the defaults', () => {
    expect(faultsOf(text('cooldownMs: -7, halfOpenConcurrency: 2'))).toEqual([
      '2 defaults.timeoutMs: is -1; it must be a number greater than 0, or Infinity.',
      '3 defaults.retry.multiplier: is 0.5; it must be a number of at least 1.',
      '5 defaults.circuitBreaker.threshold: is 0; it must be an integer of at least 1, or Infinity.',
      expect.stringMatching(
        /^6 defaults\.circuitBreaker\.cooldownMs: is -5; it must be a number of at least 0/,
      ),
      expect.stringMatching(
        /^10 targets\[0\]\.circuitBreaker\.cooldownMs: is -7; it must be a number of at least 0/,
      ),
      '10 targets[0].circuitBreaker.halfOpenConcurrency: is 2; it must be an integer of at least 1 and at most 1.',
    ])
  })

  it.each([
    [
      'circuitBreaker: { tripping: { kind: leaky, threshold: 2 }, threshold: 3 }',
      'circuitBreaker.threshold: is given beside targets[0].circuitBreaker.tripping, which does not read it. Leave it out, or move it into a rule of the kind consecutive.',
    ],
    [
      'circuitBreaker: { tripping: [{ kind: leaky, threshold: 0 }] }',
      'circuitBreaker.tripping[0].threshold: is 0; it must be an integer of at least 1, or Infinity.',
    ],
    [
      'circuitBreaker: { kinds: { auth: { threshold: 1.5 } } }',
      'circuitBreaker.kinds.auth.threshold: is 1.5; it must be an integer of at least 1, or Infinity.',
    ],
    [
      'circuitBreaker: { degradation: { at: 1 } }',
      'circuitBreaker.degradation.at: is 1; it must be a number greater than 0 and below 1.',
    ],
    [
      'circuitBreaker: false, bucket: x',
      'bucket: is given without circuitBreaker. A bucket is a breaker that targets share: give circuitBreaker, the same for all of them.',
    ],
    ['maxRetries: 0.5', 'maxRetries: is 0.5; it must be an integer of at least 0.'],
  ])('in a target: %s', (own, fault) => {
    expect(faultsOf(`targets: [{ baseUrl: http://a, ${own} }]`)).toEqual([`1 targets[0].${fault}`])
  })

  it('two targets of one bucket that disagree', () => {
    const shared = (rules: string) =>
      faultsOf(
        `targets:\n  - { name: a, baseUrl: http://a, bucket: x, circuitBreaker: { threshold: 3 } }\n  - { name: b, baseUrl: http://b, bucket: x${rules} }\n`,
      )
    const text =
      "'b' gives the bucket 'x' other options than 'a'. Give the same options for one bucket everywhere, or use two buckets."
    expect(shared('')).toEqual([`3 targets[1].bucket: ${text}`])
    expect(shared(', circuitBreaker: { threshold: 4 }')).toEqual([`3 targets[1].bucket: ${text}`])
    expect(shared(', circuitBreaker: { threshold: 3 }')).toEqual([])
  })

  it.each([
    ['deadlineMs: 0', 'deadlineMs: is 0; it must be a number greater than 0.'],
    ['whenAllOpen: { waitMs: -1 }', 'whenAllOpen.waitMs: is -1; it must be a number of at least 0.'],
    [
      'retryBudget: { capacity: -1 }',
      'retryBudget.capacity: is -1; it must be a number of at least 0, or Infinity.',
    ],
  ])('%s', (text, fault) => {
    expect(faults(text)).toEqual([`1 ${fault}`])
  })
})

describe('a variable', () => {
  it('stands for what the place takes, within { } too', () => {
    const text = `server: { port: "\${PORT:-4000}", allowMocks: "\${MOCKS}" }
targets:
  - baseUrl: \${URL}
    name: \${NUMBER}
    maxRetries: \${NUMBER}
    headers:
      x: \${NUMBER}
    set:
      seed: \${NUMBER}
      user: "\${NUMBER}"
`
    expect(read(text, { MOCKS: 'true', URL: 'http://a', NUMBER: '3' })).toEqual({
      server: { port: 4000, allowMocks: true },
      targets: [
        { baseUrl: 'http://a', name: '3', maxRetries: 3, headers: { x: '3' }, set: { seed: 3, user: '3' } },
      ],
    })
  })

  it('that is missing is the only fault of its place', () => {
    const text = `server: { port: "\${PORT}" }
targets: [{ provider: "\${P}" }]
alerts:
  - { url: "\${HOOK}", on: [open, "\${ON}"] }
`
    expect(faultsOf(text).map((line) => line.replace(/ is not set.*/, ''))).toEqual([
      '1 server.port: the environment variable PORT',
      '2 targets[0].provider: the environment variable P',
      '4 alerts[0].url: the environment variable HOOK',
      '4 alerts[0].on[1]: the environment variable ON',
    ])
  })

  it('that is empty counts as empty where there is no default', () => {
    const text = 'targets:\n  - baseUrl: http://a\n    apiKey: ${KEY}\n'
    expect(faultsOf(text, { KEY: '' })).toEqual([
      '3 targets[0].apiKey: is empty, must be a key without line breaks, best as ${NAME_OF_A_VARIABLE}; leave it out where none is needed',
    ])
  })
})

describe('a broken file', () => {
  it.each([
    ['targets: [${X}]', '1 : put quotes around ${NAME} where it stands within { } or [ ]'],
    [
      'server:\n  {port: ${X}, host: ${Y}}\n',
      '2 : put quotes around ${NAME} where it stands within { } or [ ]',
    ],
    ['a: 1\n---\nb: 2', '2 : a second document begins here, put everything into one'],
    ['a: 1\na: 2', "2 : the key 'a' stands here again, after line 1, keep one of them"],
    [
      'a: *nowhere',
      '1 : a value that starts with * stands for another one that there is not, put quotes around it',
    ],
    ['a: "x\nb: 1', '1 : this " is never closed, put another " behind the value'],
    ['[1, 2', '1 : this [ is never closed, put a ] behind its last entry'],
    [
      `a: &a [${'x,'.repeat(20)}]\nb: &b [${'*a,'.repeat(20)}]\nc: [${'*b,'.repeat(20)}]`,
      '1 : stands for too much, use fewer aliases (*name)',
    ],
  ])('%j', (text, fault) => {
    expect(faultsOf(text)[0]).toEqual(fault)
  })

  it.each([
    [
      'server:\n  port 4000',
      "1 server: is a text that does not fit, a colon is missing behind 'port', write port: and then its value",
    ],
    [
      'server:\n  port:4000',
      '1 server: is a text that does not fit, a space is missing behind the colon, write port: and a space before the value',
    ],
    [
      'targets:\n  - name:a',
      '1 targets[0]: is a text that does not fit, a space is missing behind the colon, write name: and a space before the value',
    ],
    [
      'targets:\n  -name',
      '1 targets: is a text that does not fit, a space is missing behind the dash of a list entry, write "- " before it',
    ],
  ])('and one whose only entry is no entry, %j', (text, fault) => {
    expect(faultsOf(text)[0]?.replace(/^\d/, '1')).toBe(fault)
  })
})

describe('a secret', () => {
  const secret = 'hunter2-hunter2-hunter2'
  const places = [
    `targets: [{ baseUrl: http://a, apiKey: ["${secret}"] }]`,
    `targets: [{ baseUrl: "http://me:${secret}@a" }]`,
    `targets: [{ baseUrl: http://a, provider: "${secret}", apiKey: "${secret}" }]`,
    `targets: [{ baseUrl: http://a, ${secret.replaceAll('-', '')}: 1, apiKey: ${secret.replaceAll('-', '')} }]`,
    `targets: [{ baseUrl: http://a, headers: { host: "${secret}", x: ["${secret}"], "a b": "${secret}" } }]`,
    `targets: [{ baseUrl: http://a, query: { key: ["${secret}"] } }]`,
    `targets: [{ baseUrl: http://a, circuitBreaker: { mode: "${secret}" } }]`,
    `targets: [{ baseUrl: http://a, timeoutMs: "${secret}", whenAllOpen: "${secret}" }]`,
    `targets: [{ baseUrl: http://a }]\nserver: { clientKeys: { a: "${secret}", b: "${secret}", c: ["${secret}"] } }`,
    `targets: [{ baseUrl: http://a }]\nadmin: { tokens: { a: "${secret}", b: "${secret}", c: "x ${secret}" } }`,
    `targets: [{ baseUrl: http://a }]\nalerts: [{ url: "x://${secret}", secret: "${secret}" }]`,
    `targets: [{ baseUrl: http://a, apiKey: !${secret} }]`,
    `targets: [{ baseUrl: http://a, apiKey: *${secret} }]`,
    `targets:\n  - apiKey: |${secret}\n`,
    `targets:\n  - apiKey: "x"${secret}\n`,
    `targets:\n  - apiKey: @${secret}\n`,
    `targets: "${secret}\n`,
    `${secret}`,
    `targets: [{ baseUrl: http://a, provider: "\${SECRET}", timeoutMs: "\${SECRET}" }]`,
    `targets: [{ baseUrl: http://a }]\nmodels: { x: ["\${SECRET}"] }`,
  ]

  it.each(places)('is in no fault of %j', (text) => {
    const found = faultsOf(text, { SECRET: secret })
    expect(found).not.toEqual([])
    expect(found.join('\n')).not.toContain('hunter2')
    // nor in the line that stands below a fault of the syntax
    expect(JSON.stringify(checkConfig(text, { SECRET: secret }))).not.toContain('hunter2')
  })

  it('that is a number is not told either', () => {
    expect(faultsOf('targets: [{ baseUrl: http://a, apiKey: 1234567890123 }]').join()).not.toContain(
      '1234567',
    )
  })
})
