import type { CircuitsReport } from '../gateway/admin/wire.ts'
import { shown } from './circuit-words.ts'

/** What to say of a name that is no circuit, but a model group; undefined = it is none. */
export function groupInWords(name: string, { groups = [], circuits }: CircuitsReport): string | undefined {
  const group = groups.find((one) => one.name === name)
  if (group === undefined) return undefined
  const circuitsOf = (target: string) => {
    const own = circuits.filter(({ targets }) => targets.includes(target)).map(({ circuit }) => circuit)
    if (own.length === 1 && own[0] === target) return shown(target)
    return `${shown(target)} (${own.length === 0 ? 'no circuit so far' : `circuit ${own.map(shown).join(', ')}`})`
  }
  const told = (targets: readonly string[]) => targets.map(circuitsOf).join(', ')
  const behind = group.fallbacks.length === 0 ? '' : `, and of its fallbacks: ${told(group.fallbacks)}`
  return `There is no circuit '${shown(name)}': it is a model group, and circuits are those of its targets: ${told(group.targets)}${behind}.`
}
