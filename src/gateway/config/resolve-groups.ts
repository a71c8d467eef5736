import type { GatewayConfig, strategies } from './schema.ts'

export type Strategy = (typeof strategies)[number]

/** A model group, in names of targets. */
export interface ResolvedGroup {
  readonly name: string
  readonly targets: readonly string[]
  readonly strategy: Strategy
  /** Asked after them, in order; none of the group's own targets and none twice. */
  readonly fallbacks: readonly string[]
}

interface Group {
  readonly targets: readonly string[]
  readonly strategy?: Strategy
  readonly fallbacks?: readonly string[]
}

/** The groups of a configuration as they are written; the short form is a list of targets. */
function writtenGroups(models: NonNullable<GatewayConfig['models']>): Map<string, Group> {
  return new Map(
    Object.entries(models).map(([name, group]) => [name, 'targets' in group ? group : { targets: group }]),
  )
}

/** The model groups; undefined = every target, in order, for any model. */
export function resolveGroups(config: GatewayConfig): Map<string, ResolvedGroup> | undefined {
  if (config.models === undefined) return undefined
  const groups = writtenGroups(config.models)
  return new Map(
    [...groups].map(([name, { targets, strategy = 'ordered' }]) => {
      const fallbacks = chain(name, groups, config).filter((target) => !targets.includes(target))
      return [name, { name, targets, strategy, fallbacks }]
    }),
  )
}

/**
 * Where a group's calls go on: its own list first, then the lists of the groups in it. Each group is read once, so a
 * cycle ends.
 */
function chain(name: string, groups: ReadonlyMap<string, Group>, config: GatewayConfig): string[] {
  const own = (group: string) => groups.get(group)?.fallbacks ?? valueOf(config.fallbacks, group)
  const read = new Set([name])
  const targets = new Set<string>()
  const waiting = [...(own(name) ?? config.defaultFallbacks ?? [])]
  for (const next of waiting) {
    for (const target of groups.get(next)?.targets ?? [next]) targets.add(target)
    if (read.has(next)) continue
    read.add(next)
    waiting.push(...(own(next) ?? []))
  }
  return [...targets]
}

const valueOf = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined

/** Lists for special prompts, as target → targets. What a target says itself comes before what its groups say. */
export function resolveLists(
  lists: Readonly<Record<string, readonly string[]>> = {},
  config: GatewayConfig,
): Record<string, string[]> {
  const groups = writtenGroups(config.models ?? {})
  const targetsOf = (name: string) => groups.get(name)?.targets ?? [name]
  const resolved = new Map<string, Set<string>>()
  const ofTargets = Object.entries(lists).filter(([from]) => !groups.has(from))
  const ofGroups = Object.entries(lists).filter(([from]) => groups.has(from))
  for (const [from, list] of [...ofTargets, ...ofGroups]) {
    for (const target of targetsOf(from)) {
      const found = resolved.get(target) ?? new Set()
      for (const next of list.flatMap(targetsOf)) if (next !== target) found.add(next)
      resolved.set(target, found)
    }
  }
  return Object.fromEntries([...resolved].map(([target, list]) => [target, [...list]]))
}
