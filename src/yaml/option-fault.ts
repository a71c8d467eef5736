import { ConfigError } from '../core/errors.ts'
import type { YamlPath } from './yaml-file.ts'

/** What the core says of an option, and which one it is. */
export interface OptionFault {
  /** Empty where it is about all of them. */
  readonly path: YamlPath
  /** What is wrong, without the name of the option: `is 0; it must be …`, or a sentence. */
  readonly text: string
}

/** Which option an error of the core is about. */
export function optionFault(error: unknown): OptionFault {
  const message = error instanceof Error ? error.message : String(error)
  const told = (error instanceof ConfigError ? error.path : /^[\w[\].-]+(?= is )/.exec(message)?.[0]) ?? ''
  const text = message.startsWith(`${told} `) ? message.slice(told.length + 1) : message
  const beside = /beside (targets\[\d+\]\.circuitBreaker)\.tripping/.exec(message)?.[1]
  const keys = (beside === undefined ? told : `${beside}.${told}`)
    .split(/[.[\]]+/)
    .filter((key) => key !== '')
  return { path: keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)), text }
}
