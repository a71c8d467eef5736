import { readFileSync } from 'node:fs'

import { ConfigError } from '../../core/errors.ts'
import { checkConfig } from './check-config.ts'
import type { ConfigFault } from './check-config.ts'
import type { GatewayConfig } from './schema.ts'
import type { Environment } from './expand-env.ts'

/**
 * Reads the configuration of the gateway, YAML or JSON.
 *
 * @throws ConfigError with every fault as `file:line path: what is wrong, what would be right`
 */
export function readConfig(file: string, env: Environment = process.env): GatewayConfig {
  return parseConfig(readConfigText(file), file, env)
}

/** The text of a file. @throws ConfigError that says why it cannot be read */
export function readConfigText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new ConfigError(`${file}: cannot be read, ${REASONS[code] ?? code}.`, { path: file })
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'its owner does not allow it',
}

/** {@link readConfig} for a text; `name` is how its faults call the file. */
export function parseConfig(text: string, name: string, env: Environment = process.env): GatewayConfig {
  const { config, faults } = checkConfig(text, env)
  if (config !== undefined) return config
  const [first] = faults
  throw new ConfigError(faults.map((fault) => faultLine(name, fault)).join('\n'), {
    ...(first && { path: first.path, line: first.line }),
  })
}

/** `file:line path: what is wrong, what would be right`; of what is no YAML, with its column and the line itself. */
export function faultLine(file: string, { line, column, path, text, excerpt }: ConfigFault): string {
  const place = `${file}:${line}${column === undefined ? '' : `:${column}`}${path === '' ? '' : ` ${path}`}`
  return `${place}: ${text}${excerpt === undefined ? '' : `\n${excerpt}`}`
}
