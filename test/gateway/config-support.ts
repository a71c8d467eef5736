import { checkConfig } from '../../src/gateway/config/check-config.ts'
import type { GatewayConfig } from '../../src/gateway/config/schema.ts'
import { resolveConfig } from '../../src/gateway/config/resolve-config.ts'

/** The faults of a text as `line path: text`. */
export const faultsOf = (text: string, env: Record<string, string> = {}): string[] =>
  checkConfig(text, env).faults.map(({ line, path, text }) => `${line} ${path}: ${text}`)

/** The configuration of a text that has to be right. */
export function read(text: string, env: Record<string, string> = {}): GatewayConfig {
  const { config, faults } = checkConfig(text, env)
  if (config === undefined) throw new Error(JSON.stringify(faults))
  return config
}

export const resolved = (text: string, env: Record<string, string> = {}) =>
  resolveConfig(read(text, env), '/etc/gear')

/** Every key of a configuration, used as it is meant. */
export const everyKey = `
$schema: gateway.schema.json
server:
  host: 0.0.0.0
  port: 4010
  admin: { host: 127.0.0.1, port: 4011 }
  maxBodyBytes: 1000000
  requestTimeoutMs: 5000
  keepAliveMs: 1000
  drainMs: 0
  allowMocks: true
  clientKeys: { team-a: key-of-team-a, team-b: key-of-team-b }
admin: { tokens: { alice: token-of-alice-0123, bob: token-of-bob-012345 } }
providers:
  openai: { baseUrl: https://api.openai.com/v1/, apiKey: sk-openai-0123456789 }
  azure:
    baseUrl: https://x.openai.azure.com/openai/v1
    apiKey: azure-key-0123456789
    auth: { header: api-key, prefix: "" }
    query: { api-version: preview }
  anthropic:
    baseUrl: https://api.anthropic.com/v1
    apiKey: sk-ant-0123456789
    api: anthropic
    headers: { anthropic-version: "2023-06-01" }
  local: { baseUrl: http://127.0.0.1:8000, auth: none }
defaults:
  maxRetries: 1
  timeoutMs: 20000
  retry: { baseMs: 100, multiplier: 3 }
  circuitBreaker: { threshold: 7, cooldownMs: 10000, mode: observe }
targets:
  - name: gpt-5
    provider: openai
    model: gpt-5
    weight: 3
    set: { temperature: 1, metadata: { a: [1, null] } }
    drop: [logit_bias]
    healthCheck: { model: gpt-5-nano, maxTokens: 4 }
  - name: gpt-5-azure
    provider: azure
    model: gpt-5
    headers: { X-Team: a }
    query: { more: "1" }
    circuitBreaker: { tripping: { kind: rolling, windowMs: 60000, minCalls: 20, failureRatio: 0.5 } }
    retry: { baseMs: 50 }
    healthCheck: false
  - { name: sonnet, provider: anthropic, model: claude-sonnet-4-5, bucket: claude }
  - { name: local, provider: local, circuitBreaker: false, timeoutMs: 1000, firstContentTimeoutMs: 900, idleTimeoutMs: 800 }
  - { name: own, baseUrl: https://llm.example.com/v1, apiKey: sk-own-0123456789, auth: { header: X-Key, prefix: "Token " } }
models:
  gpt-5: { targets: [gpt-5, gpt-5-azure], strategy: round-robin }
  claude: { targets: [sonnet], strategy: ordered, fallbacks: [] }
  small: [local]
  "*": { targets: [own], strategy: weighted, fallbacks: [small, claude] }
fallbacks: { gpt-5: [small, own] }
defaultFallbacks: [own]
contextWindowFallbacks: { gpt-5: [claude], own: [gpt-5-azure, small] }
contentPolicyFallbacks: { small: [own] }
deadlineMs: 90000
whenAllOpen: { waitMs: 100 }
retryBudget: { capacity: 3, perCall: 0.1 }
journal: { file: data/journal.db, keepDays: 7, maxMegabytes: 64 }
alerts:
  - url: https://hooks.example.com/T0/secretpath
    secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3
    on: [open, flapping]
    flapping: { opens: 3, withinMs: 1000 }
    stuckHalfOpenMs: 5000
  - { url: http://127.0.0.1:9/hook }
healthChecks: { intervalMs: 5000, maxPerHour: 12 }
openTelemetry: true
`
