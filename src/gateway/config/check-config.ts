import { cleanLines, cleanWords } from '../../audit/incident/clean-words.ts'
import { YamlFile } from '../../yaml/yaml-file.ts'
import type { YamlFault } from '../../yaml/yaml-file.ts'
import { isMapping, listAt, shown, valueAt } from './config-path.ts'
import type { Finding, Path } from './config-path.ts'
import { referenceFindings } from './references.ts'
import { ruleFindings } from './config-rules.ts'
import type { GatewayConfig } from './schema.ts'
import { hider } from './secrets.ts'
import { shapeFindings } from './shape.ts'
import { coreFindings } from './core-faults.ts'
import { expandEnv } from './expand-env.ts'
import type { Environment } from './expand-env.ts'

/** Something that is wrong in a configuration. Shows no secret. */
export interface ConfigFault {
  readonly line: number
  /** Of what is no YAML, or another one than was meant. */
  readonly column?: number
  /** Such as `targets[0].baseUrl`; empty = the file as a whole. */
  readonly path: string
  /** What is wrong, and what would be right. */
  readonly text: string
  /** The line, with a mark below the column. */
  readonly excerpt?: string
}

type Checked =
  | { readonly config: GatewayConfig; readonly faults: readonly [] }
  | { readonly config?: undefined; readonly faults: readonly ConfigFault[] }

/** Reads a configuration, YAML or JSON, and finds every fault in it, in the order of the lines. */
export function checkConfig(text: string, env: Environment): Checked {
  const file = new YamlFile(text)
  if (file.faults.length > 0) return { faults: file.faults.map(ofYaml) }
  const { missing, secrets } = expandEnv(file.document, env)
  const { value, fault } = file.read()
  if (fault !== undefined) return { faults: [ofYaml(fault)] }
  const findings = allFindings(
    value,
    missing.map(({ path, name }) => ({ path, text: unset(name) })),
  )
  if (findings.length === 0) return { config: value as GatewayConfig, faults: [] }
  const hide = hider(value, secrets)
  return {
    faults: inOrder(
      findings.map(({ path, text: told }) => ({
        line: file.lineOf(path),
        path: cleanWords(hide(shown(path))),
        text: cleanWords(hide(told)),
      })),
    ),
  }
}

const ofYaml = ({ text, excerpt, ...fault }: YamlFault): ConfigFault => ({
  ...fault,
  path: '',
  text: cleanWords(text),
  ...(excerpt !== undefined && { excerpt: cleanLines(excerpt) }),
})

const unset = (name: string) =>
  `the environment variable ${name} is not set, set it or write \${${name}:-default}`

const inOrder = (faults: readonly ConfigFault[]) => [...faults].sort((a, b) => a.line - b.line)

/** One finding a place: what was found first explains what would come after it. */
function allFindings(value: unknown, missing: readonly Finding[]): Finding[] {
  const shape = shapeFindings(value)
  const found = [...missing]
  const add = (more: readonly Finding[]) =>
    found.push(...more.filter(({ path }) => !found.some((known) => isSame(known.path, path))))
  add(shape)
  add(isMapping(value) ? [...referenceFindings(value), ...ruleFindings(value)] : [])
  const sound = soundPart(value, shape)
  add(sound === undefined ? [] : coreFindings(sound))
  return found
}

const isSame = (a: Path, b: Path) => a.length === b.length && a.every((key, i) => key === b[i])

/** What is left to look at when the faults of the shape are mended; undefined = too little. */
function soundPart(value: unknown, shape: readonly Finding[]): GatewayConfig | undefined {
  const copy = structuredClone(value)
  // a key that is missing is found again, and then what lacks it is taken out
  for (let findings = shape; findings.length > 0; findings = shapeFindings(copy)) {
    const mended = findings.map(({ path }) => takeOut(copy, path))
    if (!mended.includes(true)) return undefined
  }
  return copy as GatewayConfig
}

function takeOut(config: unknown, path: Path): boolean {
  const [list, index] = path
  if (list === 'targets' && typeof index === 'number' && path.length === 2) {
    return Reflect.set(listAt(config, ['targets']), index, {})
  }
  for (let depth = path.length; depth > 0; depth--) {
    const key = path[depth - 1]
    const parent = valueAt(config, path.slice(0, depth - 1))
    if (typeof key !== 'string' || !isMapping(parent) || !Object.hasOwn(parent, key)) continue
    return key === 'targets' && depth === 1 ? false : Reflect.deleteProperty(parent, key)
  }
  return false
}
