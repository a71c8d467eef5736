import { createSwitchgear } from '../../core/switchgear.ts'
import { optionFault } from '../../yaml/option-fault.ts'
import { isMapping, valueAt } from './config-path.ts'
import type { Finding, Path } from './config-path.ts'
import type { GatewayConfig } from './schema.ts'
import { replacedBy } from './merge-defaults.ts'
import { nameOf, resolveTarget } from './resolve-target.ts'

// a config of more faults than this is read anew after the first repair
const MOST_FAULTS = 50

/**
 * What the core would refuse, said of where it was written: in a target, or in the defaults it took it from. The core
 * stops at the first fault, so each option it names is taken out and the rest is tried again.
 */
export function coreFindings(config: GatewayConfig): Finding[] {
  const findings: Finding[] = []
  const rest = structuredClone(config)
  while (findings.length < MOST_FAULTS) {
    const error = tryOut(rest)
    if (error === undefined) break
    const { path: refused, text } = toFinding(error, rest)
    const path = originOf(refused, rest)
    findings.push({ path, text })
    if (!takeOut(rest, path)) break
  }
  return findings
}

function tryOut(config: GatewayConfig): unknown {
  const { deadlineMs, whenAllOpen, retryBudget } = config
  const invoke = () => Promise.reject(new Error('only tried out'))
  try {
    const gear = createSwitchgear({
      ...(deadlineMs !== undefined && { deadlineMs }),
      ...(whenAllOpen !== undefined && { whenAllOpen }),
      ...(retryBudget !== undefined && { retryBudget }),
      targets: config.targets.map((target, i) => ({
        ...resolveTarget(config, target, i).core,
        name: uniqueName(config, i),
        invoke,
      })),
    })
    void gear.close()
    return undefined
  } catch (error) {
    return error
  }
}

/** A name that stands twice is told of elsewhere. */
function uniqueName({ targets }: GatewayConfig, index: number): string {
  const names = targets.map(nameOf)
  const name = names[index] ?? ''
  return names.indexOf(name) === index ? name : `${name} (${index})`
}

function toFinding(error: unknown, { targets }: GatewayConfig): Finding {
  const { path, text } = optionFault(error)
  const [first, second, ...others] = path
  if (first !== 'targets' || typeof second !== 'string') return { path, text }
  // some of the core's errors name the target
  const index = targets.map(nameOf).indexOf(second)
  return { path: index < 0 ? ['targets'] : ['targets', index, ...others], text }
}

/** Where a refused option was written: the defaults, unless the target says something in its place. */
function originOf(path: Path, { targets, defaults }: GatewayConfig): Path {
  const [list, index, ...keys] = path
  if (list !== 'targets' || typeof index !== 'number' || keys.length === 0) return path
  const own = targets[index]
  const [key, option] = keys
  const value = valueAt(own, [String(key)])
  // two targets of one bucket disagree
  if (key === 'circuitBreaker' && option === undefined) {
    return own?.bucket === undefined ? [list, index] : [list, index, 'bucket']
  }
  if (key === 'circuitBreaker' && isMapping(value) && option !== undefined) {
    if (replacedBy(value, String(option))) return path
  } else if (value !== undefined && (!isMapping(value) || option === undefined || option in value)) {
    return path
  }
  return valueAt(defaults, keys.slice(0, 2)) === undefined ? path : ['defaults', ...keys]
}

/** Takes the refused option out, a nested one as a whole; false = there was nothing to take out. */
function takeOut(config: unknown, path: Path): boolean {
  const place = path[0] === 'targets' ? 2 : path[0] === 'defaults' ? 1 : 0
  const isNested = place > 0 && path[place] === 'circuitBreaker' && path.length > place + 1
  const keys = path.slice(0, place + (isNested ? 2 : 1))
  const last = keys.at(-1)
  const parent = valueAt(config, keys.slice(0, -1))
  if (typeof last !== 'string' || last === 'targets' || !isMapping(parent)) return false
  return Object.hasOwn(parent, last) && Reflect.deleteProperty(parent, last)
}
