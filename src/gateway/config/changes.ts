import { isDeepStrictEqual } from 'node:util'

import type { ResolvedConfig } from './resolve-config.ts'
import type { ResolvedTarget } from './resolve-target.ts'

/** What a new configuration changes and what goes on as it was, in words. Shows no value, only names. */
export interface ConfigChanges {
  readonly changed: string[]
  readonly kept: string[]
}

// bound to a socket or to a file from the start
const NEEDS_RESTART: ReadonlySet<string> = new Set([
  'host',
  'port',
  'admin',
  'maxBodyBytes',
  'requestTimeoutMs',
  'journal',
  'record',
  'openTelemetry',
])
const RESTART = 'needs a restart, the old one stays in force until then'

/** Compares the configuration in force with a new one, for a reload. */
export function configChanges(before: ResolvedConfig, after: ResolvedConfig): ConfigChanges {
  const changes: ConfigChanges = { changed: [], kept: [] }
  const tell = (what: string, how: string | undefined) => {
    if (how === undefined) changes.kept.push(what)
    else changes.changed.push(`${what}: ${how}`)
  }
  compareTargets(before, after, tell)
  compareNamed('model group', before.groups ?? new Map(), after.groups ?? new Map(), tell)
  compareServer(before, after, tell)
  const names = { 'client keys': 'clientKeys', 'admin tokens': 'adminTokens' } as const
  for (const [what, key] of Object.entries(names)) tell(what, secretsIn(before[key], after[key]))
  for (const key of WHOLE) {
    if (before[key] !== undefined || after[key] !== undefined) {
      const same = isDeepStrictEqual(before[key], after[key])
      tell(key, same ? undefined : NEEDS_RESTART.has(key) ? RESTART : howOf(before[key], after[key]))
    }
  }
  return changes
}

const WHOLE = [
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
] as const

type Tell = (what: string, how: string | undefined) => void

const howOf = (before: unknown, after: unknown) =>
  before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'

function compareTargets(before: ResolvedConfig, after: ResolvedConfig, tell: Tell): void {
  const flat = ({ core, ...target }: ResolvedTarget) => ({ ...core, ...target })
  const byName = ({ targets }: ResolvedConfig) =>
    new Map(targets.map((target) => [target.name, flat(target)]))
  const old = byName(before)
  const now = byName(after)
  compareNamed('target', old, now, tell)
  const common = (one: typeof old, other: typeof old) => [...one.keys()].filter((name) => other.has(name))
  if (!isDeepStrictEqual(common(old, now), common(now, old))) tell('targets', 'in another order')
}

/** Every name of both, in the order of the new one. */
function compareNamed(
  what: string,
  before: ReadonlyMap<string, object>,
  after: ReadonlyMap<string, object>,
  tell: Tell,
): void {
  for (const name of new Set([...after.keys(), ...before.keys()])) {
    const [old, now] = [before.get(name), after.get(name)]
    const keys = old === undefined || now === undefined ? [] : differingKeys(old, now)
    const same = old !== undefined && now !== undefined && keys.length === 0
    const which = keys.length > 0 ? `changed ${keys.join(', ')}` : howOf(old, now)
    tell(`${what} ${name}`, same ? undefined : which)
  }
}

function compareServer(
  { server: before }: ResolvedConfig,
  { server: after }: ResolvedConfig,
  tell: Tell,
): void {
  const keys = differingKeys(before, after)
  for (const key of keys) tell(`server.${key}`, NEEDS_RESTART.has(key) ? RESTART : 'changed')
  if (keys.length === 0) tell('server', undefined)
}

function secretsIn(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string | undefined {
  const old = new Map(Object.entries(before))
  const now = new Map(Object.entries(after))
  const names = [...new Set([...now.keys(), ...old.keys()])].filter((name) => old.get(name) !== now.get(name))
  if (names.length === 0) return undefined
  return names.map((name) => `${howOf(old.get(name), now.get(name))} ${name}`).join(', ')
}

function differingKeys(before: object, after: object): string[] {
  const old = new Map<string, unknown>(Object.entries(before))
  const now = new Map<string, unknown>(Object.entries(after))
  const keys = new Set([...now.keys(), ...old.keys()])
  return [...keys].filter((key) => !isDeepStrictEqual(old.get(key), now.get(key)))
}

/** The new configuration with what only a restart can change left as it is. */
export function keepBound(
  next: ResolvedConfig,
  { server, journal, record, openTelemetry }: ResolvedConfig,
): ResolvedConfig {
  const { host, port, admin, maxBodyBytes, requestTimeoutMs } = server
  const bound = { host, port, admin, maxBodyBytes, requestTimeoutMs }
  return { ...next, server: { ...next.server, ...bound }, journal, record, openTelemetry }
}
