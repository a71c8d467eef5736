import { ConfigError } from '../core/errors.ts'
import { createSwitchgear } from '../core/switchgear.ts'
import type { Path } from './config-file.ts'
import type { GatewayConfig } from './config-schema.ts'
import { toSwitchgearOptions } from './gear-options.ts'

interface CoreFault {
  readonly path: Path
  readonly text: string
}

// a config of more faults than this is read anew after the first repair
const MOST_FAULTS = 50

/**
 * What the core would refuse. It stops at the first fault, so each option it names is taken out and the rest is tried
 * again.
 */
export function coreFaults(config: GatewayConfig): CoreFault[] {
  const faults: CoreFault[] = []
  const rest = structuredClone(config) as unknown
  while (faults.length < MOST_FAULTS) {
    const error = tryOut(rest as GatewayConfig)
    if (error === undefined) break
    const fault = toFault(error)
    faults.push(fault)
    if (!takeOut(rest, fault.path)) break
  }
  return faults
}

function tryOut(config: GatewayConfig): unknown {
  try {
    const nothing = () => Promise.reject(new Error('only tried out'))
    void createSwitchgear(toSwitchgearOptions(config, () => ({ invoke: nothing, stream: nothing }))).close()
    return undefined
  } catch (error) {
    return error
  }
}

function toFault(error: unknown): CoreFault {
  const { message } = error as Error
  const path = (error instanceof ConfigError ? error.path : /^[\w[\].-]+(?= is )/.exec(message)?.[0]) ?? ''
  const text = message.startsWith(`${path} `) ? message.slice(path.length + 1) : message
  const keys = path.split(/[.[\]]+/).filter((key) => key !== '')
  return { path: keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)), text }
}

/** Takes the refused option out, a nested one as a whole; false = there was nothing to take out. */
function takeOut(config: unknown, path: Path): boolean {
  const depth = path[0] === 'targets' ? (path[2] === 'circuitBreaker' && path.length > 3 ? 4 : 3) : 1
  const keys = path.slice(0, depth)
  const last = keys.pop()
  const parent = keys.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], config)
  if (last === undefined || last === 'targets' || typeof parent !== 'object' || parent === null) return false
  return last in parent && Reflect.deleteProperty(parent, last)
}
