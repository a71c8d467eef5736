import { didYouMean } from '../../core/validate.ts'
import { entriesAt, isMapping, listAt, valueAt } from './config-path.ts'
import type { Finding, Path } from './config-path.ts'
import { nameOf } from './resolve-target.ts'

/** Names of a configuration that may be wrong otherwise. */
interface Names {
  readonly providers: readonly string[]
  readonly targets: readonly string[]
  readonly groups: readonly string[]
  /** Whether there are groups at all. */
  readonly grouped: boolean
}

const GROUP_LISTS = ['contextWindowFallbacks', 'contentPolicyFallbacks'] as const

/** Every name that leads nowhere, stands twice, or could mean two things. */
export function referenceFindings(config: unknown): Finding[] {
  const names: Names = {
    providers: entriesAt(config, ['providers']).map(([name]) => name),
    targets: targetNames(config),
    groups: entriesAt(config, ['models']).map(([name]) => name),
    grouped: valueAt(config, ['models']) !== undefined,
  }
  return [
    ...targetFindings(config, names),
    ...groupFindings(config, names),
    ...fallbackFindings(config, names),
    ...GROUP_LISTS.flatMap((key) =>
      entriesAt(config, [key]).flatMap(([from]) => [
        ...unknownFinding([key, from], from, names),
        ...listFindings(config, [key, from], names),
      ]),
    ),
  ]
}

/** The names of all targets, in order; the default name where there is none. */
function targetNames(config: unknown): string[] {
  return listAt(config, ['targets']).map((target, i) => {
    const name = valueAt(target, ['name'])
    return nameOf(typeof name === 'string' ? { name } : {}, i)
  })
}

function targetFindings(config: unknown, { providers, targets }: Names): Finding[] {
  return listAt(config, ['targets']).flatMap((target, i): Finding[] => {
    if (!isMapping(target)) return []
    const path: Path = ['targets', i]
    const findings: Finding[] = []
    const name = targets[i] ?? ''
    const first = targets.indexOf(name)
    if (first < i) {
      const text = `'${name}' is the name of targets[${first}], too; give each target a name of its own`
      findings.push({ path: [...path, 'name'], text })
    }
    const { provider, baseUrl } = target
    if (provider === undefined && baseUrl === undefined) {
      findings.push({ path, text: 'has neither a provider nor a baseUrl, give one of them' })
    }
    if (typeof provider === 'string' && provider !== '' && !providers.includes(provider)) {
      const hint = providers.length === 0 ? 'There are no providers.' : didYouMean(provider, providers)
      findings.push({ path: [...path, 'provider'], text: `'${provider}' is no provider. ${hint}` })
    }
    return findings
  })
}

function groupFindings(config: unknown, { targets, groups }: Names): Finding[] {
  return groups.flatMap((group) => {
    const short: Path = ['models', group]
    const path = Array.isArray(valueAt(config, short)) ? short : [...short, 'targets']
    const members = listAt(config, path)
    const findings = members.flatMap((name, i): Finding[] => {
      if (typeof name !== 'string' || name === '') return []
      if (members.indexOf(name) < i) return [twice([...path, i], name)]
      if (targets.includes(name)) return []
      const hint = groups.includes(name)
        ? 'It is a model group; only targets can be deployments of one.'
        : didYouMean(name, targets)
      return [{ path: [...path, i], text: `'${name}' is no target. ${hint}` }]
    })
    if (targets.includes(group) && !members.includes(group)) {
      const text = `'${group}' is also the name of a target that is not in this group; rename one of them`
      findings.push({ path: short, text })
    }
    return findings
  })
}

function fallbackFindings(config: unknown, names: Names): Finding[] {
  const keys = ['fallbacks', 'defaultFallbacks'].filter((key) => valueAt(config, [key]) !== undefined)
  if (!names.grouped) {
    return keys.map((key) => ({
      path: [key],
      text: 'there are no model groups (models); without them every target is asked, in order',
    }))
  }
  return [
    ...names.groups.flatMap((group) => listFindings(config, ['models', group, 'fallbacks'], names)),
    ...entriesAt(config, ['fallbacks']).flatMap(([from]) => {
      const path: Path = ['fallbacks', from]
      const own = valueAt(config, ['models', from, 'fallbacks'])
      return [
        ...(names.groups.includes(from)
          ? []
          : [
              {
                path,
                text: names.targets.includes(from)
                  ? `'${from}' is a target; only model groups have fallbacks`
                  : `'${from}' is no model group. ${didYouMean(from, names.groups)}`,
              },
            ]),
        ...(own === undefined
          ? []
          : [{ path, text: `is given twice, here and in models.${from}.fallbacks` }]),
        ...listFindings(config, path, names),
      ]
    }),
    ...listFindings(config, ['defaultFallbacks'], names),
  ]
}

/** A list of groups and targets. */
function listFindings(config: unknown, path: Path, names: Names): Finding[] {
  const list = listAt(config, path)
  return list.flatMap((name, i) => {
    if (typeof name !== 'string' || name === '') return []
    if (list.indexOf(name) < i) return [twice([...path, i], name)]
    return unknownFinding([...path, i], name, names)
  })
}

function unknownFinding(path: Path, name: string, { targets, groups, grouped }: Names): Finding[] {
  if (targets.includes(name) || groups.includes(name)) return []
  const what = grouped ? 'neither a model group nor a target' : 'no target'
  return [{ path, text: `'${name}' is ${what}. ${didYouMean(name, [...new Set([...groups, ...targets])])}` }]
}

const twice = (path: Path, name: string): Finding => ({ path, text: `'${name}' is named twice` })
