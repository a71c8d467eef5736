import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { presets } from '../audit/replay/contenders.ts'
import type { Load } from '../audit/simulate/load.ts'
import { resolveBreaker } from '../core/breaker-options.ts'
import type { CircuitBreakerOptions, ResolvedBreaker } from '../core/breaker-options.ts'
import { ConfigError } from '../core/errors.ts'
import type { ResolvedConfig } from '../gateway/config/resolve-config.ts'
import { YamlSource } from '../testing/scenario/yaml-source.ts'

/** Rules from a file or a preset, for any target or for targets by name. */
export interface PolicySource {
  readonly name: string
  /** Rules of the first target, or the same for all. */
  readonly first: ResolvedBreaker
  /** undefined = it has no circuit for such a target. */
  readonly of: (target: string) => ResolvedBreaker | undefined
  /** Targets that it names; empty = any. */
  readonly targets: readonly string[]
}

const PRESET_NAMES: Readonly<Record<string, string>> = { default: 'plain default' }

/**
 * Reads policies: names of presets, files with the options of a breaker, and configurations of a gateway.
 *
 * @throws ConfigError for a file that cannot be read, and for every fault in one
 */
export async function readPolicies(given: readonly string[]): Promise<PolicySource[]> {
  const sources: PolicySource[] = []
  for (const one of given) {
    const source = presetOf(one) ?? (await fileOf(one))
    const taken = sources.some(({ name }) => name === source.name)
    sources.push(taken ? { ...source, name: one } : source)
  }
  return sources
}

function presetOf(name: string): PolicySource | undefined {
  const preset = presets.find((one) => one.name === (PRESET_NAMES[name] ?? name))
  return preset && { name: preset.name, first: preset.rules, of: () => preset.rules, targets: [] }
}

async function fileOf(file: string): Promise<PolicySource> {
  const text = readText(file)
  const source = new YamlSource(text, file)
  const { value } = source
  if (typeof value === 'object' && value !== null && 'targets' in value) return await configOf(file, text)
  const nested = typeof value === 'object' && value !== null && 'circuitBreaker' in value
  const options = nested ? value.circuitBreaker : value
  // what stands there may be a secret: of a text or a list no word is shown
  if (typeof options === 'string' || Array.isArray(options)) {
    const [line, place] = nested ? [source.lineOf(['circuitBreaker']), 'circuitBreaker: '] : [1, '']
    throw new ConfigError(`${file}:${line} ${place}This is a ${Array.isArray(options) ? 'list' : 'text'}.`, {
      line,
      hint: 'It must be a map of the options of a breaker, or the configuration of a gateway.',
    })
  }
  const rules = checked(options, source, file, nested ? 'circuitBreaker' : '')
  return { name: basename(file), first: rules, of: () => rules, targets: [] }
}

/** The text of a file. @throws ConfigError that says why it cannot be read */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code = '' } = error as { readonly code?: string }
    throw new ConfigError(`${file}: cannot be read, ${REASONS[code] ?? code}.`, { path: file })
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'its owner does not allow it',
}

function checked(options: unknown, source: YamlSource, file: string, path: string): ResolvedBreaker {
  try {
    return resolveBreaker(options as CircuitBreakerOptions, path)
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof ConfigError)) throw error
    const hint = error instanceof ConfigError ? error.hint : undefined
    // the error to come adds the hint to its message itself
    const what = hint === undefined ? error.message : error.message.slice(0, -hint.length).trimEnd()
    const place = /[\w]+(?:[.[][\w]+\]?)*(?= is | lacks |\.$)/.exec(what)?.[0] ?? ''
    const keys = place.split(/[.[\]]+/).filter((key) => key !== '')
    const line = source.lineOf(keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)))
    throw new ConfigError(`${file}:${line} ${what}`, { line, ...(hint !== undefined && { hint }) })
  }
}

/** Nobody is asked here: a key that is not set is none that is missing. */
const anyEnvironment = new Proxy(process.env, {
  get: (env, name) => (typeof name === 'string' ? (env[name] ?? 'https://unset.invalid') : undefined),
})

async function resolved(file: string, text: string): Promise<ResolvedConfig> {
  const { parseConfig } = await import('../gateway/config/read-config.ts')
  const { resolveConfig } = await import('../gateway/config/resolve-config.ts')
  return resolveConfig(parseConfig(text, file, anyEnvironment))
}

/** The targets and rules of a gateway as options of a switchgear, but for what sends requests. */
export async function configTargets(file: string): Promise<Load['switchgear']> {
  const { targets, deadlineMs, whenAllOpen, retryBudget } = await resolved(file, readText(file))
  return {
    targets: targets.map(({ core }) => core as Readonly<Record<string, unknown>>),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(whenAllOpen !== undefined && { whenAllOpen }),
    ...(retryBudget !== undefined && { retryBudget }),
  }
}

async function configOf(file: string, text: string): Promise<PolicySource> {
  const { targets } = await resolved(file, text)
  const rules = new Map(
    targets.flatMap(({ name, core: { circuitBreaker } }): [string, ResolvedBreaker][] => {
      if (circuitBreaker === undefined || circuitBreaker === false) return []
      return [[name, resolveBreaker(circuitBreaker === true ? {} : circuitBreaker)]]
    }),
  )
  const [first] = rules.values()
  if (first === undefined) {
    throw new ConfigError(`${file}: No target has a circuit breaker.`, {
      path: 'targets',
      hint: 'Give one of them circuitBreaker: true, or options.',
    })
  }
  return { name: basename(file), first, of: (target) => rules.get(target), targets: [...rules.keys()] }
}
