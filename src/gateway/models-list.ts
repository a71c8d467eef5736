import type { ResolvedConfig } from './config/resolve-config.ts'

/** A model as OpenAI lists it. */
interface ListedModel {
  readonly id: string
  readonly object: 'model'
  /** In Unix seconds. */
  readonly created: number
  readonly owned_by: string
}

/** What a client can ask for: the groups; without groups what the targets are asked for, or their names. */
export function listModels({ groups, targets }: ResolvedConfig, created: number): ListedModel[] {
  const owners = new Map<string, string>()
  for (const name of groups?.keys() ?? []) if (name !== '*') owners.set(name, 'switchgear')
  const open = groups === undefined ? targets.map(({ name }) => name) : (groups.get('*')?.targets ?? [])
  for (const { name, model } of targets) {
    const id = model ?? name
    if (open.includes(name) && !owners.has(id)) owners.set(id, name)
  }
  return [...owners].map(([id, owner]) => ({ id, object: 'model', created, owned_by: owner }))
}
