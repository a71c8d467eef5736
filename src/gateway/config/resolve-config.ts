import { resolve } from 'node:path'

import type { SwitchgearOptions } from '../../core/switchgear-options.ts'
import type { GatewayConfig } from './schema.ts'
import { alertReasons } from './server-schema.ts'
import { resolveGroups, resolveLists } from './resolve-groups.ts'
import type { ResolvedGroup } from './resolve-groups.ts'
import { resolveTarget } from './resolve-target.ts'
import type { ResolvedTarget } from './resolve-target.ts'

export interface ResolvedServer {
  readonly host: string
  readonly port: number
  /** Where /, /admin, /metrics and /status are served; undefined = on the same port. */
  readonly admin: { readonly host: string; readonly port: number } | undefined
  readonly maxBodyBytes: number
  readonly requestTimeoutMs: number
  readonly keepAliveMs: number
  readonly drainMs: number
  readonly allowMocks: boolean
}

export interface ResolvedJournal {
  /** An absolute path. */
  readonly file: string
  readonly keepDays: number
  readonly maxMegabytes: number
}

export interface ResolvedRecord {
  /** An absolute path. */
  readonly file: string
  readonly sample: number
  readonly keepDays: number
  readonly maxMegabytes: number
}

export type AlertReason = (typeof alertReasons)[number]

export interface ResolvedAlert {
  readonly url: string
  /** `whsec_…`; undefined = not signed. */
  readonly secret?: string
  readonly on: readonly AlertReason[]
  readonly flapping: { readonly opens: number; readonly withinMs: number }
  readonly stuckHalfOpenMs: number
}

export interface ResolvedHealthChecks {
  readonly intervalMs: number
  readonly maxPerHour: number
}

/** A configuration with everything filled in. */
export interface ResolvedConfig {
  readonly server: ResolvedServer
  readonly targets: readonly ResolvedTarget[]
  /** By the name a client asks for; undefined = every target, in order, for any model. */
  readonly groups: ReadonlyMap<string, ResolvedGroup> | undefined
  /** Target → targets. */
  readonly contextWindowFallbacks: Readonly<Record<string, readonly string[]>>
  /** Target → targets. */
  readonly contentPolicyFallbacks: Readonly<Record<string, readonly string[]>>
  readonly deadlineMs?: number
  readonly whenAllOpen?: NonNullable<SwitchgearOptions['whenAllOpen']>
  readonly retryBudget?: NonNullable<SwitchgearOptions['retryBudget']>
  readonly journal: false | ResolvedJournal
  readonly record: false | ResolvedRecord
  readonly alerts: readonly ResolvedAlert[]
  /** Undefined = off. */
  readonly healthChecks: ResolvedHealthChecks | undefined
  readonly openTelemetry: boolean
  /** Name → token; empty = none is configured. */
  readonly adminTokens: Readonly<Record<string, string>>
  /** Name → key; empty = open to everybody. */
  readonly clientKeys: Readonly<Record<string, string>>
}

const HOST = '127.0.0.1'

/**
 * Fills in everything a configuration leaves out: defaults, providers, groups in names of targets.
 *
 * @param directory where relative files are looked for. Default: the working directory.
 */
export function resolveConfig(config: GatewayConfig, directory = '.'): ResolvedConfig {
  const { deadlineMs, whenAllOpen, retryBudget, healthChecks } = config
  return {
    server: resolveServer(config.server),
    targets: config.targets.map((target, index) => resolveTarget(config, target, index)),
    groups: resolveGroups(config),
    contextWindowFallbacks: resolveLists(config.contextWindowFallbacks, config),
    contentPolicyFallbacks: resolveLists(config.contentPolicyFallbacks, config),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(whenAllOpen !== undefined && { whenAllOpen }),
    ...(retryBudget !== undefined && { retryBudget }),
    journal: resolveJournal(config.journal, directory),
    record: resolveRecord(config.record, directory),
    alerts: (config.alerts ?? []).map((alert) => ({
      stuckHalfOpenMs: 300_000,
      on: alertReasons,
      ...alert,
      flapping: { opens: 5, withinMs: 600_000, ...alert.flapping },
    })),
    healthChecks: healthChecks && { intervalMs: 30_000, maxPerHour: 60, ...healthChecks },
    openTelemetry: config.openTelemetry ?? false,
    adminTokens: config.admin?.tokens ?? {},
    clientKeys: config.server?.clientKeys ?? {},
  }
}

function resolveServer({
  admin,
  clientKeys: _clientKeys,
  ...server
}: NonNullable<GatewayConfig['server']> = {}): ResolvedServer {
  return {
    host: HOST,
    port: 4000,
    maxBodyBytes: 67_108_864,
    requestTimeoutMs: 60_000,
    keepAliveMs: 15_000,
    drainMs: 30_000,
    allowMocks: false,
    ...server,
    admin: admin && { host: HOST, ...admin },
  }
}

function resolveJournal(
  journal: GatewayConfig['journal'] = true,
  directory: string,
): false | ResolvedJournal {
  if (journal === false) return false
  const { file = 'switchgear.db', ...limits } = journal === true ? {} : journal
  return { keepDays: 30, maxMegabytes: 512, ...limits, file: resolve(directory, file) }
}

function resolveRecord(record: GatewayConfig['record'] = false, directory: string): false | ResolvedRecord {
  if (record === false) return false
  const { file = 'outcomes.jsonl', ...limits } = record === true ? {} : record
  return { sample: 1, keepDays: 7, maxMegabytes: 64, ...limits, file: resolve(directory, file) }
}
