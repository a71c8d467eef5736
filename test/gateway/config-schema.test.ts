import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

import { configJsonSchema, configSchemaText } from '../../src/gateway/config/json-schema.ts'
import { everyKey, faultsOf } from './config-support.ts'

type Node = { readonly [key: string]: unknown }

const schema = configJsonSchema()
const check = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema)
const problems = (text: string) => {
  check(parse(text))
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Every property of the schema, by its path. */
function propertiesOf(node: unknown, path: string, seen: readonly string[] = []): [string, Node][] {
  if (Array.isArray(node)) return node.flatMap((option) => propertiesOf(option, path, seen))
  if (!isNode(node)) return []
  const reference = node['$ref']
  if (typeof reference === 'string') {
    const name = reference.replace('#/definitions/', '')
    return seen.includes(name)
      ? []
      : propertiesOf((schema['definitions'] as Node)[name], path, [...seen, name])
  }
  const own = Object.entries((node['properties'] ?? {}) as Record<string, Node>)
  return [
    ...own.flatMap(([key, child]): [string, Node][] => [
      [`${path}.${key}`, child],
      ...propertiesOf(child, `${path}.${key}`, seen),
    ]),
    ...propertiesOf(node['anyOf'], path, seen),
    ...propertiesOf(node['items'], `${path}[]`, seen),
    ...propertiesOf(node['additionalProperties'], `${path}.*`, seen),
  ]
}

describe('the JSON Schema', () => {
  it('is the one in the repository; `npm run charts` writes it', () => {
    const file = join(import.meta.dirname, '../../visualizations/gateway.schema.json')
    expect(readFileSync(file, 'utf8')).toBe(configSchemaText())
  })

  it('describes every key but the words that choose a kind', () => {
    const properties = propertiesOf(schema, '')
    expect(properties.length).toBeGreaterThan(120)
    const silent = properties.filter(
      ([path, node]) => !path.endsWith('.kind') && typeof node['description'] !== 'string',
    )
    expect(silent.map(([path]) => path)).toEqual([])
  })

  it('takes what the gateway takes', () => {
    expect(problems(everyKey)).toEqual([])
    expect(problems('targets: [{ baseUrl: http://a }]\nmodels: { x: [primary] }\njournal: false')).toEqual([])
  })

  it('takes a variable wherever a value can stand', () => {
    const text = `server: { port: "\${PORT}", allowMocks: "\${MOCKS:-true}" }
targets: [{ baseUrl: "\${URL}/v1", api: "\${API}", weight: "\${WEIGHT}", circuitBreaker: { threshold: "\${T}" } }]
alerts: [{ url: "\${HOOK}", secret: "\${SECRET}" }]
`
    expect(problems(text)).toEqual([])
  })

  it.each([
    ['{}', " must have required property 'targets'"],
    ['targets: []', '/targets must NOT have fewer than 1 items'],
    ['targets: [{ baseUrl: http://a, nmae: x }]', '/targets/0 must NOT have additional properties'],
    ['targets: [{ baseUrl: ftp://a }]', '/targets/0/baseUrl must match pattern "^[hH][tT][tT][pP][sS]?://"'],
    ['targets: [{ baseUrl: http://a }]\nserver: { port: 70000 }', '/server/port must be <= 65535'],
    [
      'targets: [{ baseUrl: http://a }]\nmodels: { x: { targets: [a], strategy: best } }',
      '/models/x/strategy must be equal to one of the allowed values',
    ],
    [
      'targets: [{ baseUrl: http://a }]\nalerts: [{ url: http://x, secret: abc }]',
      '/alerts/0/secret must match pattern "^whsec_"',
    ],
    [
      'targets: [{ baseUrl: http://a, circuitBreaker: { tripping: { kind: leaky } } }]',
      expect.stringContaining("must have required property 'threshold'"),
    ],
  ])('refuses %s', (text, problem) => {
    expect(problems(text)).toContainEqual(problem)
    expect(faultsOf(text)).not.toEqual([])
  })

  describe('has the ranges of the core', () => {
    const at = (key: string, value: number) => {
      const keys = key.split('.')
      const nested = keys.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
      return JSON.stringify({ targets: [{ baseUrl: 'http://a' }], ...(nested as object) })
    }
    const limits = ['timeoutMs', 'firstContentTimeoutMs', 'idleTimeoutMs'].map((key) => `defaults.${key}`)
    const breaker = (keys: string[]) => keys.map((key) => `defaults.circuitBreaker.${key}`)

    it.each([
      ...[
        ...limits,
        'deadlineMs',
        ...breaker(['probeLeaseMs', 'halfOpenSuccessRatio', 'degradation.at']),
      ].map((key) => [key, 0, 0.5] as const),
      ...breaker(['cooldownMs', 'maxRetryAfterMs', 'kinds.auth.cooldownMs']).map(
        (key) => [key, -1, 0] as const,
      ),
      ...[
        'defaults.maxRetries',
        'defaults.retry.baseMs',
        'defaults.retry.maxMs',
        'whenAllOpen.waitMs',
        'retryBudget.capacity',
        'retryBudget.perCall',
      ].map((key) => [key, -1, 0] as const),
      ...[
        'defaults.retry.multiplier',
        ...breaker(['threshold', 'halfOpenProbes', 'kinds.auth.threshold']),
      ].map((key) => [key, 0, 1] as const),
      ...breaker(['halfOpenSuccessRatio']).map((key) => [key, 1.5, 1] as const),
    ])('%s: not %d, but %d', (key, bad, good) => {
      expect([problems(at(key, bad)).length > 0, faultsOf(at(key, bad)).length]).toEqual([true, 1])
      expect([problems(at(key, good)), faultsOf(at(key, good))]).toEqual([[], []])
    })
  })
})
