import { SECRET_KEYS, SECRET_MAPPINGS, SHORTEST_SECRET } from '../../yaml/secret-keys.ts'
import { entriesAt, isMapping, valueAt } from './config-path.ts'
import type { Path } from './config-path.ts'

/** Characters that an admin token has at least. */
export const SHORTEST_TOKEN = 16

/** Characters that the key of a client has at least. */
export const SHORTEST_CLIENT_KEY = 8

/** True = what stands at this path, or below it, must never be shown. */
export const isSecret = (path: Path): boolean =>
  path.some((key, i) => SECRET_KEYS.has(key) || (SECRET_MAPPINGS.has(key) && i < path.length - 1))

/** Texts of the faults with every secret of the configuration and every value of a variable taken out. */
export function hider(config: unknown, variables: ReadonlyMap<string, string>): (text: string) => string {
  const known = new Map<string, string>(secretsOf(config, []).map((secret) => [secret, '…']))
  for (const [value, variable] of variables) known.set(value, `\${${variable}}`)
  // the longest first: one may stand within another
  const hidden = [...known].filter(([value]) => value.length >= SHORTEST_SECRET)
  hidden.sort(([a], [b]) => b.length - a.length)
  return (text) => hidden.reduce((safe, [value, shown]) => safe.replaceAll(value, shown), text)
}

function secretsOf(config: unknown, path: Path): string[] {
  const value = valueAt(config, path)
  if (Array.isArray(value)) return value.flatMap((_, i) => secretsOf(config, [...path, i]))
  if (isMapping(value)) return entriesAt(config, path).flatMap(([key]) => secretsOf(config, [...path, key]))
  return isSecret(path) && (typeof value === 'string' || typeof value === 'number') ? [String(value)] : []
}
