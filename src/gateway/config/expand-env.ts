import { isNode, isPair, isScalar, isSeq, visit } from 'yaml'
import type { Document, Scalar } from 'yaml'

import type { Path } from './config-path.ts'
import { placeOf } from './places.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What the expansion found: variables that are not set, and what must never be shown. */
export interface Expansion {
  readonly missing: { readonly path: Path; readonly name: string }[]
  /** Value → the variable it came from. */
  readonly secrets: Map<string, string>
}

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** Puts variables in place of `${NAME}` and `${NAME:-default}`; `$${` stands for `${` itself. */
export function expandEnv(document: Document, env: Environment): Expansion {
  const expansion: Expansion = { missing: [], secrets: new Map() }
  visit(document, {
    Scalar(at, node, parents) {
      if (at === 'key' || typeof node.value !== 'string' || !node.value.includes('${')) return
      const path = pathOf([...parents, node])
      const value = expand(path, node.value, env, expansion)
      const { text } = placeOf(path, undefined)
      // within { } a reference has to be quoted, whatever it stands for
      node.value = text === 'never' || (text === 'also' && node.type === 'PLAIN') ? resolved(value) : value
    },
  })
  return expansion
}

function pathOf(nodes: readonly unknown[]): Path {
  return nodes.flatMap((node, i): Path => {
    if (isPair(node)) return [keyOf(node.key)]
    return isSeq(node) ? [node.items.indexOf(nodes[i + 1])] : []
  })
}

const keyOf = (key: unknown) => String(isScalar(key) ? key.value : isNode(key) ? key.toString() : key)

function expand(path: Path, text: string, env: Environment, { missing, secrets }: Expansion): string {
  return text.replaceAll(REFERENCE, (whole, name: string | undefined, standard: string | undefined) => {
    if (name === undefined) return '${'
    const value = env[name]
    // like a shell: the default also stands in for an empty value
    if (value !== undefined && (value !== '' || standard === undefined)) {
      secrets.set(value, name)
      return value
    }
    if (standard !== undefined) return standard
    missing.push({ path, name })
    return whole
  })
}

/** What a value means that is not just text. */
function resolved(value: string): Scalar['value'] {
  if (value === 'true' || value === 'false') return value === 'true'
  return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
}
