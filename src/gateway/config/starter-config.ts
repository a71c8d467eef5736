import type { Environment } from './expand-env.ts'
import { compatibleAnthropic, starterProviders } from './starter-providers.ts'
import type { StarterProvider } from './starter-providers.ts'

/** A first configuration, and the variables it reads. */
export interface Starter {
  readonly text: string
  readonly variables: readonly string[]
  /** Names of targets. */
  readonly targets: readonly string[]
  /** What has no fallback, or one that is not quite the same, as paragraphs of several lines. */
  readonly notes: readonly string[]
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
  const chains = chainsOf(chosen)
  const all = chains.flat()
  const notes = isPlaceholder ? [] : notesOn(chains)
  const text = [
    head(
      chosen.map(({ variable }) => variable),
      isPlaceholder,
    ),
    SERVER,
    `# Addresses and keys that targets share. A key is never written here: \${NAME} is read from the environment.
providers:
${all.map((provider) => providerText(provider, env, isPlaceholder)).join('\n')}
`,
    DEFAULTS,
    `# Every place a request can go. Change \`model\` to what your account offers.
targets:
${all.map(({ name, model }) => `  - { name: ${name}, provider: ${name}, model: ${quoted(model)} }`).join('\n')}
`,
    modelsText(chains, notes),
    REST,
  ].join('\n')
  return {
    text,
    variables: chosen.map(({ variable }) => variable),
    targets: all.map(({ name }) => name),
    notes,
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

/** One for each API. Where OpenAI's would be alone beside Anthropic's, the latter has an endpoint of that shape, too. */
function chainsOf(chosen: readonly Chosen[]): readonly (readonly Chosen[])[] {
  const openai = chosen.filter(({ api }) => api === 'openai')
  const anthropic = chosen.filter(({ api }) => api === 'anthropic')
  const [native] = anthropic
  const standIn = native !== undefined && openai.length === 1 ? [{ ...native, ...compatibleAnthropic }] : []
  return [[...openai, ...standIn], anthropic].filter((chain) => chain.length > 0)
}

function notesOn(chains: readonly (readonly Chosen[])[]): string[] {
  const [only] = chains.flat().length === 1 ? chains.flat() : []
  if (only !== undefined) {
    return [
      'There is one provider, and so nothing to fall back to: while its circuit is open, calls fail.\nSet the key of another one as well, and write this file anew with --force, or add it here by hand.',
    ]
  }
  return chains.flatMap(([first, ...others]) => {
    if (others.some(({ name }) => name === compatibleAnthropic.name)) {
      return `OpenAI and Anthropic speak different APIs, and neither can stand in for the other. So that ${first?.model} has a fallback,
${compatibleAnthropic.name} is the OpenAI-compatible endpoint of Anthropic. It answers chat completions only, ignores
response_format and strict, and is meant for tests by Anthropic itself: if that will not do, take it out of fallbacks
and put in another provider that speaks OpenAI's API.`
    }
    if (others.length > 0 || first === undefined) return []
    const [path, whose] =
      first.api === 'anthropic' ? ['/v1/messages', "Anthropic's"] : ['/v1/chat/completions', "OpenAI's"]
    return `${first.model} (POST ${path}) has no fallback: no other provider here speaks ${whose} API.`
  })
}

/** A group for each chain, named after its first model, the others behind it. */
function modelsText(chains: readonly (readonly Chosen[])[], notes: readonly string[]): string {
  const lines = chains.flatMap(([first, ...others], i) => {
    if (first === undefined) return []
    const behind = others.length === 0 ? '' : `, fallbacks: [${others.map(({ name }) => name).join(', ')}]`
    const group = `{ targets: [${first.name}]${behind} }`
    // the first chain also answers for any other name
    return [`  ${quoted(first.model)}: ${group}`, ...(i === 0 ? [`  "*": ${group}`] : [])]
  })
  return `# What clients ask for → who is asked, in order. "*" answers for any other model; without it that is a 404.
# strategy: ordered | round-robin | weighted | least-busy, among targets whose circuit admits
${notes.map((note) => `${note.replaceAll(/^/gm, '# ')}\n`).join('')}models:
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
