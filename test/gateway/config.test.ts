import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { ConfigError } from '../../src/core/errors.ts'
import { parseConfig, readConfig } from '../../src/gateway/config/read-config.ts'

const faultsOf = (text: string, env = {}): string[] => {
  try {
    parseConfig(text, 'gateway.yaml', env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
  return []
}

const target = '  - baseUrl: http://127.0.0.1:1/v1\n'

describe('a configuration', () => {
  it('is read from YAML and from JSON alike', () => {
    const yaml = `
server: { host: 0.0.0.0, port: 4010 }
deadlineMs: 60000
whenAllOpen: { waitMs: 500 }
targets:
  - name: openai
    model: gpt-5
    baseUrl: https://api.openai.com/v1
    apiKey: \${KEY}
    circuitBreaker:
      threshold: .inf
      tripping: { kind: rolling, windowMs: 60000, minCalls: 20, failureRatio: 0.5 }
  - name: backup
    baseUrl: http://127.0.0.1:\${PORT:-8080}/v1
    maxRetries: \${RETRIES:-1}
contextWindowFallbacks: { openai: [backup] }
`.replace('      threshold: .inf\n', '')
    const read = parseConfig(yaml, 'gateway.yaml', { KEY: '12345678', PORT: '' })
    expect(read).toEqual({
      server: { host: '0.0.0.0', port: 4010 },
      deadlineMs: 60_000,
      whenAllOpen: { waitMs: 500 },
      targets: [
        {
          name: 'openai',
          model: 'gpt-5',
          baseUrl: 'https://api.openai.com/v1',
          apiKey: '12345678',
          circuitBreaker: {
            tripping: { kind: 'rolling', windowMs: 60_000, minCalls: 20, failureRatio: 0.5 },
          },
        },
        { name: 'backup', baseUrl: 'http://127.0.0.1:8080/v1', maxRetries: 1 },
      ],
      contextWindowFallbacks: { openai: ['backup'] },
    })
    expect(parseConfig(JSON.stringify(read, null, '\t'), 'gateway.json')).toEqual(read)
  })

  it('lists every fault with file, line, path and what would be right', () => {
    const text = `server:
  prot: 80
  port: 70000
targets:
  - name: openai
    model: 503
    baseurl: https://api.openai.com/v1
    timeoutMs: soon
  - baseUrl: ftp://example.com
    circuitBreaker: maybe
whenAllOpen: []
target: []
`
    expect(faultsOf(text)).toEqual([
      "gateway.yaml:2 server.prot: unknown key. Did you mean 'port'?",
      'gateway.yaml:3 server.port: is the number 70000, must be a whole number from 0 to 65535',
      'gateway.yaml:5 targets[0]: has neither a provider nor a baseUrl, give one of them',
      'gateway.yaml:6 targets[0].model: is the number 503, must be the name of a model; put quotes around one that looks like a number',
      "gateway.yaml:7 targets[0].baseurl: unknown key. Did you mean 'baseUrl'?",
      'gateway.yaml:8 targets[0].timeoutMs: is a text that does not fit, must be a number of milliseconds',
      'gateway.yaml:9 targets[1].baseUrl: is a text that does not fit, must be the http(s) URL of an OpenAI-compatible API without a key in it, such as https://api.openai.com/v1',
      'gateway.yaml:10 targets[1].circuitBreaker: is a text that does not fit, must be true, false, or a mapping of options such as {threshold: 5}',
      'gateway.yaml:11 whenAllOpen: is an empty list, must be fail, last-resort, or {waitMs: <number>}',
      "gateway.yaml:12 target: unknown key. Did you mean 'targets'?",
    ])
  })

  it('lists what the core refuses, all of it, with the line', () => {
    const text = `targets:
  - name: a
    baseUrl: http://127.0.0.1:1/v1
    timeoutMs: -1
    circuitBreaker:
      threshold: 0
      cooldownms: 5
      tripping:
        kind: rollin
  - name: b
    baseUrl: http://127.0.0.1:1/v1
    maxRetries: 1.5
whenAllOpen: maybe
contextWindowFallbacks:
  a: [c]
`
    expect(faultsOf(text)).toEqual([
      'gateway.yaml:4 targets[0].timeoutMs: is -1; it must be a number greater than 0, or Infinity.',
      expect.stringMatching(
        /^gateway.yaml:6 targets\[0\]\.circuitBreaker\.threshold: is 0; it must be an integer of at least 1/,
      ),
      "gateway.yaml:7 targets[0].circuitBreaker.cooldownms: unknown key. Did you mean 'cooldownMs'?",
      'gateway.yaml:9 targets[0].circuitBreaker.tripping.kind: is a text that does not fit, must be one of: consecutive, leaky, rolling, latency',
      'gateway.yaml:12 targets[1].maxRetries: is 1.5; it must be an integer of at least 0.',
      'gateway.yaml:13 whenAllOpen: is a text that does not fit, must be fail, last-resort, or {waitMs: <number>}',
      "gateway.yaml:15 contextWindowFallbacks.a[0]: 'c' is no target. Known: a, b.",
    ])
  })

  it('refuses two targets of one name', () => {
    const faults = faultsOf(`targets:\n${target}    name: x\n${target}    name: x\n`)
    expect(faults).toEqual([
      "gateway.yaml:5 targets[1].name: 'x' is the name of targets[0], too; give each target a name of its own",
    ])
  })

  it.each([
    ['', 'gateway.yaml:1: is empty, must be a mapping with the key targets'],
    [
      'targets: []',
      'gateway.yaml:1 targets: is an empty list, must be a list of one target at least, each with a provider or a baseUrl',
    ],
    [
      '{}',
      'gateway.yaml:1 targets: is missing, must be a list of one target at least, each with a provider or a baseUrl',
    ],
    [
      'targets:\n  - a: b: c\n',
      'gateway.yaml:2:9: the value has a colon and a space in it, put quotes around the value',
    ],
    ['targets: [\n', 'gateway.yaml:1:10: this [ is never closed, put a ] behind its last entry'],
  ])('%j: says what is wrong', (text, fault) => {
    expect(faultsOf(text)[0]).toEqual(fault)
  })

  it('names every variable that is missing, and its line', () => {
    const text = `targets:\n${target}    apiKey: \${OPENAI_API_KEY}\n    name: "\${NAME}"\n`
    expect(faultsOf(text)).toEqual([
      'gateway.yaml:3 targets[0].apiKey: the environment variable OPENAI_API_KEY is not set, set it or write ${OPENAI_API_KEY:-default}',
      'gateway.yaml:4 targets[0].name: the environment variable NAME is not set, set it or write ${NAME:-default}',
    ])
  })

  it('takes $${ for ${ itself', () => {
    expect(parseConfig(`targets:\n${target}    model: $\${x}\n`, 'f').targets[0].model).toBe('${x}')
  })

  it('never shows a secret, wherever it was put by mistake', () => {
    const secret = 'sk-secret-0123456789'
    const wrong = `targets:
  - baseUrl: https://user:${secret}@example.com
    apiKey: [${secret}]
    maxRetries: ${secret}
`
    expect(faultsOf(wrong)).toHaveLength(3)
    expect(faultsOf(wrong).join()).not.toContain(secret)
    const core = `targets:
  - baseUrl: https://example.com
    apiKey: ${secret}
    circuitBreaker: { threshold: ${secret}, mode: '\${KEY}' }
`
    expect(faultsOf(core, { KEY: 'another-secret' })).toHaveLength(2)
    expect(faultsOf(core, { KEY: 'another-secret' }).join()).not.toMatch(/secret/)
    expect(faultsOf(`targets: "${secret}\n`).join()).not.toContain(secret)
  })

  it('says when there is no such file', () => {
    expect(() => readConfig('/nowhere/gateway.yaml')).toThrow(
      '/nowhere/gateway.yaml: cannot be read, there is no such file.',
    )
    const dir = mkdtempSync(join(tmpdir(), 'switchgear-'))
    writeFileSync(join(dir, 'g.yaml'), `targets:\n${target}`)
    expect(readConfig(join(dir, 'g.yaml')).targets).toHaveLength(1)
    rmSync(dir, { recursive: true })
  })
})
