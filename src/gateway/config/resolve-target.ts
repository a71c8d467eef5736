import type { TargetOptions } from '../../core/target-options.ts'
import type { GatewayConfig, GatewayTarget } from './schema.ts'
import { mergeDefaults } from './merge-defaults.ts'

export type Api = 'openai' | 'anthropic'

/** How a target is checked while its circuit is open. */
export interface TargetHealthCheck {
  /** Default: the target's own model. */
  readonly model?: string
  readonly maxTokens: number
}

/** A target with its provider and the defaults put in. */
export interface ResolvedTarget {
  readonly name: string
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly api: Api
  readonly apiKey?: string
  /** The header that carries the key, and what stands before the key in it; undefined = the key is not sent. */
  readonly auth: { readonly header: string; readonly prefix: string } | undefined
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly model?: string
  readonly weight: number
  readonly set: Readonly<Record<string, unknown>>
  readonly drop: readonly string[]
  /** False = never, also where `healthChecks` is on. */
  readonly healthCheck: false | TargetHealthCheck
  /** The core's options of this target, but for what sends requests. */
  readonly core: CoreTarget
}

type CoreTarget = Pick<
  TargetOptions,
  | 'name'
  | 'model'
  | 'circuitBreaker'
  | 'bucket'
  | 'maxRetries'
  | 'retry'
  | 'timeoutMs'
  | 'firstContentTimeoutMs'
  | 'idleTimeoutMs'
> & { readonly name: string }

const CHECK_TOKENS = 1

/** The name the core gives to a target. */
export const nameOf = ({ name }: GatewayTarget, index: number): string =>
  name ?? (index === 0 ? 'primary' : `fallback[${index - 1}]`)

/** A target with everything filled in. */
export function resolveTarget(config: GatewayConfig, target: GatewayTarget, index: number): ResolvedTarget {
  const provider = new Map(Object.entries(config.providers ?? {})).get(target.provider ?? '')
  const name = nameOf(target, index)
  const { model, bucket } = target
  const api = target.api ?? provider?.api ?? 'openai'
  const apiKey = target.apiKey ?? provider?.apiKey
  return {
    name,
    baseUrl: withoutExtraSlashes(target.baseUrl ?? provider?.baseUrl ?? ''),
    api,
    ...(apiKey !== undefined && { apiKey }),
    auth: resolveAuth(target.auth ?? provider?.auth, api),
    headers: { ...lowerCase(provider?.headers), ...lowerCase(target.headers) },
    query: { ...provider?.query, ...target.query },
    ...(model !== undefined && { model }),
    weight: target.weight ?? 1,
    set: target.set ?? {},
    drop: target.drop ?? [],
    healthCheck: resolveHealthCheck(target.healthCheck),
    core: {
      name,
      ...(model !== undefined && { model }),
      ...(bucket !== undefined && { bucket }),
      ...mergeDefaults(target, config.defaults),
    },
  }
}

function resolveAuth(auth: GatewayTarget['auth'], api: Api): ResolvedTarget['auth'] {
  switch (auth ?? (api === 'anthropic' ? 'x-api-key' : 'bearer')) {
    case 'none':
      return undefined
    case 'bearer':
      return { header: 'authorization', prefix: 'Bearer ' }
    case 'x-api-key':
      return { header: 'x-api-key', prefix: '' }
    default: {
      const { header, prefix = '' } = auth as Exclude<GatewayTarget['auth'], string | undefined>
      return { header: header.toLowerCase(), prefix }
    }
  }
}

function resolveHealthCheck(check: GatewayTarget['healthCheck'] = true): false | TargetHealthCheck {
  if (check === false) return false
  return { maxTokens: CHECK_TOKENS, ...(check !== true && check) }
}

/** An address out of a variable often ends with a slash. */
const withoutExtraSlashes = (url: string) => url.replaceAll(/(?<!:)\/{2,}/g, '/').replace(/\/+$/, '')

const lowerCase = (headers: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
