import { resolveBreaker } from '../../core/breaker-options.ts'
import { rulesOf } from '../admin/rules-in-words.ts'
import type { ResolvedConfig } from './resolve-config.ts'
import type { ResolvedTarget } from './resolve-target.ts'

/** What was understood of a configuration. Shows no secret. */
export interface ConfigSummary {
  readonly server: ResolvedConfig['server'] & { readonly clients: readonly string[] }
  readonly operators: readonly string[]
  readonly targets: readonly TargetSummary[]
  /** Undefined = every target, in order, for any model. */
  readonly groups: readonly GroupSummary[] | undefined
  readonly journal: ResolvedConfig['journal']
  readonly record: ResolvedConfig['record']
  readonly alerts: readonly {
    readonly host: string
    readonly on: readonly string[]
    readonly signed: boolean
  }[]
  readonly healthChecks: ResolvedConfig['healthChecks'] | false
  /** What is allowed and perhaps not meant. */
  readonly notes: readonly string[]
}

interface TargetSummary {
  readonly name: string
  readonly baseUrl: string
  readonly api: string
  /** Left out = the client's goes through. */
  readonly model?: string
  /** Whether a key is sent. */
  readonly hasKey: boolean
  /** When its circuit opens and closes, a sentence; null = it has no breaker. */
  readonly rules: string | null
}

interface GroupSummary {
  readonly name: string
  readonly strategy: string
  readonly targets: readonly string[]
  readonly fallbacks: readonly string[]
}

export function summarize(config: ResolvedConfig): ConfigSummary {
  const {
    server,
    clientKeys,
    adminTokens,
    targets,
    groups,
    journal,
    record,
    alerts,
    healthChecks = false,
  } = config
  return {
    server: { ...server, clients: Object.keys(clientKeys) },
    operators: Object.keys(adminTokens),
    targets: targets.map(targetSummary),
    groups: groups && [...groups.values()],
    journal,
    record,
    alerts: alerts.map(({ url, on, secret }) => ({
      host: new URL(url).host,
      on,
      signed: secret !== undefined,
    })),
    healthChecks,
    notes: [
      ...openDoor(config),
      ...mocks(config),
      ...endpointUrls(config),
      ...unreached(config),
      ...mixed(config),
      ...modelless(config),
    ],
  }
}

function targetSummary({ name, baseUrl, api, model, apiKey, auth, core }: ResolvedTarget): TargetSummary {
  const { circuitBreaker } = core
  return {
    name,
    baseUrl,
    api,
    ...(model !== undefined && { model }),
    hasKey: apiKey !== undefined && auth !== undefined,
    rules: circuitBreaker === false ? null : rulesInWords(circuitBreaker),
  }
}

function rulesInWords(options: ResolvedTarget['core']['circuitBreaker']): string {
  const { policy, observe } = resolveBreaker(typeof options === 'object' ? options : {})
  return `${observe ? 'Only observed, refuses nobody. ' : ''}${rulesOf(policy).sentence}`
}

const isLoopback = (host: string) => /^(?:127\.|localhost$|::1$|\[::1\]$)/.test(host)

function openDoor({ server, clientKeys }: ResolvedConfig): string[] {
  if (isLoopback(server.host) || Object.keys(clientKeys).length > 0) return []
  return [`everybody who reaches ${server.host}:${server.port} may use your keys: set server.clientKeys`]
}

function mocks({ server }: ResolvedConfig): string[] {
  if (!server.allowMocks) return []
  return [
    'server.allowMocks: whoever may call can make a circuit open with x-switchgear-mock; not for production',
  ]
}

/** The path of an endpoint is put behind the address. */
function endpointUrls({ targets }: ResolvedConfig): string[] {
  return targets
    .filter(({ baseUrl }) =>
      /\/(?:chat\/completions|completions|responses|embeddings|messages)$/.test(baseUrl),
    )
    .map(({ name, baseUrl }) => `target ${name}: baseUrl ${baseUrl} ends in an endpoint; leave that part out`)
}

function unreached({
  targets,
  groups,
  contextWindowFallbacks,
  contentPolicyFallbacks,
}: ResolvedConfig): string[] {
  if (groups === undefined) return []
  const reached = new Set(
    [
      ...[...groups.values()].map((group) => [...group.targets, ...group.fallbacks]),
      ...Object.values(contextWindowFallbacks),
      ...Object.values(contentPolicyFallbacks),
    ].flat(),
  )
  return targets
    .filter(({ name }) => !reached.has(name))
    .map(
      ({ name }) => `target ${name} is in no group and in no fallbacks: only x-switchgear-target reaches it`,
    )
}

/** An endpoint is served by the targets that speak its API. */
function mixed({ targets, groups }: ResolvedConfig): string[] {
  const apis = new Map(targets.map(({ name, api }) => [name, api]))
  return [...(groups?.values() ?? [])]
    .filter((group) => new Set(group.targets.map((name) => apis.get(name))).size > 1)
    .map(
      ({ name }) =>
        `group ${name} mixes the APIs openai and anthropic: a request goes to those that speak its own`,
    )
}

/** A name that one provider knows is seldom the name that another one knows. */
function modelless({ targets, groups }: ResolvedConfig): string[] {
  return targets
    .filter(({ model }) => model === undefined)
    .flatMap(({ name }) => {
      const group = [...(groups?.values() ?? [])].find(({ fallbacks }) => fallbacks.includes(name))
      if (group === undefined) return []
      const asked = group.name === '*' ? 'whatever the client asks for' : group.name
      return [
        `target ${name} has no model of its own: as a fallback of ${group.name} it is asked for ${asked}`,
      ]
    })
}
