import { isMap, isPair, isScalar, visit } from 'yaml'
import type { Document, Scalar } from 'yaml'

import { textKeys } from './config-schema.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What the expansion found: variables that are not set, and what must never be shown. */
export interface Expansion {
  readonly missing: { readonly node: Scalar; readonly name: string }[]
  /** Value → the variable it came from. */
  readonly secrets: Map<string, string>
}

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g
// shorter values stand in ordinary words and numbers, too
const SHORTEST_SECRET = 8

/** Puts variables in place of `${NAME}` and `${NAME:-default}`; `$${` stands for `${` itself. */
export function expandEnv(document: Document, env: Environment): Expansion {
  const expansion: Expansion = { missing: [], secrets: new Map() }
  visit(document, {
    Scalar(at, node, path) {
      if (at === 'key' || typeof node.value !== 'string' || !node.value.includes('${')) return
      const key = path.findLast((parent) => isPair(parent) || isMap(parent))
      const name = isPair(key) && isScalar(key.key) ? String(key.key.value) : ''
      const value = expand(node, node.value, env, expansion)
      node.value = node.type === 'PLAIN' && !textKeys.has(name) ? resolved(value) : value
    },
  })
  return expansion
}

function expand(node: Scalar, text: string, env: Environment, { missing, secrets }: Expansion): string {
  return text.replaceAll(REFERENCE, (whole, name: string | undefined, standard: string | undefined) => {
    if (name === undefined) return '${'
    const value = env[name]
    // like a shell: the default also stands in for an empty value
    if (value !== undefined && (value !== '' || standard === undefined)) {
      if (value.length >= SHORTEST_SECRET) secrets.set(value, name)
      return value
    }
    if (standard !== undefined) return standard
    missing.push({ node, name })
    return whole
  })
}

/** An unquoted value means what it would mean if it stood in the file. */
function resolved(value: string): string | number | boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
}
