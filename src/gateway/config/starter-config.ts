import type { Environment } from './expand-env.ts'
import { starterProviders } from './starter-providers.ts'
import type { StarterProvider } from './starter-providers.ts'

/** A first configuration, and the variables it reads. */
export interface Starter {
  readonly text: string
  readonly variables: readonly string[]
  /** Names of targets. */
  readonly targets: readonly string[]
  /** True = no key was found, and placeholders stand in. */
  readonly isPlaceholder: boolean
}

/** Writes a commented configuration for the keys in the environment. It names variables and holds no key. */
export function starterConfig(env: Environment): Starter {
  const found = starterProviders.filter(({ variables }) => variableIn(env, variables) !== undefined)
  const isPlaceholder = found.length === 0
  const chosen = (isPlaceholder ? starterProviders.slice(0, 1) : found).map((provider) => ({
    ...provider,
    variable: variableIn(env, provider.variables) ?? provider.variables[0],
  }))
  const text = [
    head(
      chosen.map(({ variable }) => variable),
      isPlaceholder,
    ),
    SERVER,
    `# Addresses and keys that targets share. A key is never written here: \${NAME} is read from the environment.
providers:
${chosen.map((provider) => providerText(provider, env, isPlaceholder)).join('\n')}
`,
    DEFAULTS,
    `# Every place a request can go. Change \`model\` to what your account offers.
targets:
${chosen.map(({ name, model }) => `  - { name: ${name}, provider: ${name}, model: ${quoted(model)} }`).join('\n')}
`,
    modelsText(chosen),
    REST,
  ].join('\n')
  return {
    text,
    variables: chosen.map(({ variable }) => variable),
    targets: chosen.map(({ name }) => name),
    isPlaceholder,
  }
}

interface Chosen extends StarterProvider {
  readonly variable: string
}

const variableIn = (env: Environment, variables: readonly string[]) =>
  variables.find((variable) => (env[variable] ?? '').trim() !== '')

const quoted = (text: string) => (/^[\w.-]+$/.test(text) ? text : JSON.stringify(text))

function head(variables: readonly string[], isPlaceholder: boolean): string {
  const source = isPlaceholder
    ? `# No key of a known provider was found in the environment, so a placeholder stands in.
# Set ${variables.join(', ')} before you start it.`
    : `# Made from the keys found in the environment: ${variables.join(', ')}.`
  return `# The gateway of Switchgear: one endpoint in front of your providers.
${source}
#   switchgear validate <this file>          what it means, or what is wrong
#   switchgear serve --config <this file>    starts it
#   switchgear validate --schema             a JSON Schema, for completion in your editor
`
}

function providerText(provider: Chosen, env: Environment, isPlaceholder: boolean): string {
  const { name, baseUrl, variable, lines = [] } = provider
  const key = isPlaceholder ? `\${${variable}:-set-${variable}}` : `\${${variable}}`
  const url = typeof baseUrl === 'string' ? { line: `baseUrl: ${baseUrl}` } : baseUrl(env)
  return [`  ${name}:`, ...[url.line, `apiKey: "${key}"`, ...lines].map((line) => `    ${line}`)].join('\n')
}

/** One group for each API, named after its first model, the others behind it. */
function modelsText(chosen: readonly Chosen[]): string {
  const chains = (['openai', 'anthropic'] as const)
    .map((api) => chosen.filter((provider) => provider.api === api))
    .filter((chain) => chain.length > 0)
  const lines = chains.flatMap(([first, ...others], i) => {
    if (first === undefined) return []
    const behind = others.length === 0 ? '' : `, fallbacks: [${others.map(({ name }) => name).join(', ')}]`
    const group = `{ targets: [${first.name}]${behind} }`
    // the first chain also answers for any other name
    return [`  ${quoted(first.model)}: ${group}`, ...(i === 0 ? [`  "*": ${group}`] : [])]
  })
  return `# What clients ask for → who is asked, in order. "*" answers for any other model; without it that is a 404.
# strategy: ordered | round-robin | weighted | least-busy, among targets whose circuit admits
models:
${lines.join('\n')}
`
}

const SERVER = `server:
  host: 127.0.0.1   # 0.0.0.0 to be reached from other machines; then give clientKeys
  port: 4000
  # clientKeys: { team-a: "\${TEAM_A_KEY}" }

# Who may open, hold and close circuits; without it a token is made at the first start and shown once.
# admin:
#   tokens: { alice: "\${ALICE_TOKEN}" }
`

const DEFAULTS = `# For every target that does not say otherwise.
defaults:
  maxRetries: 1
  timeoutMs: 60000
  circuitBreaker:
    threshold: 5        # failures in a row open the circuit
    cooldownMs: 30000   # then nobody is sent there for this long; one probe decides
`

const REST = `# Every change of a circuit is kept, so that a restart forgets nothing.
journal: { file: switchgear.db, keepDays: 30 }

# alerts:
#   - { url: https://example.com/hook, secret: "\${ALERT_SECRET}", on: [open, auth, quota] }
# healthChecks: { intervalMs: 30000, maxPerHour: 60 }
`
