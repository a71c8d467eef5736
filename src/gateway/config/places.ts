import * as SchemaAST from 'effect/SchemaAST'

import { isMapping, valueAt } from './config-path.ts'
import type { Path } from './config-path.ts'
import { configSchema } from './schema.ts'

/** What the schema says of a place in a configuration. */
export interface Place {
  /** Every key that may stand there; undefined = keys are names of the user's own, or there are none. */
  readonly keys: readonly string[] | undefined
  /** What would be right there: `must be …`. */
  readonly right: string | undefined
  /** Whether text may stand there; where only text may, a value that looks like a number is text, too. */
  readonly text: 'only' | 'never' | 'also'
  /** The key whose word says which kind of mapping it is, and its words. */
  readonly choice: { readonly key: string; readonly words: readonly string[] } | undefined
}

const rightOf = SchemaAST.resolveAt<string>('right')

/** The place of a path, in a configuration that may be wrong; its values choose between alternatives. */
export function placeOf(path: Path, config: unknown): Place {
  let nodes = alternatives(configSchema.ast)
  const rights = [rightOf(configSchema.ast)]
  for (const [depth, key] of path.entries()) {
    const next = narrowed(nodes, valueAt(config, path.slice(0, depth))).flatMap((node) => below(node, key))
    rights.push(next.map(rightOf).find((right) => right !== undefined))
    nodes = next.flatMap(alternatives)
  }
  const mappings = narrowed(nodes, valueAt(config, path)).filter(SchemaAST.isObjects)
  const free = mappings.some(({ indexSignatures }) => indexSignatures.length > 0)
  const keys = mappings.flatMap(({ propertySignatures }) =>
    propertySignatures.map(({ name }) => String(name)),
  )
  return {
    keys: free || mappings.length === 0 ? undefined : [...new Set(keys)],
    // an entry of a mapping or list may leave it to the whole
    right: rights.at(-1) ?? rights.at(-2),
    choice: choiceOf(nodes),
    text: textAt(nodes),
  }
}

const alternatives = (node: SchemaAST.AST): SchemaAST.AST[] =>
  SchemaAST.isUnion(node) ? node.types.flatMap(alternatives) : [node]

function textAt(nodes: readonly SchemaAST.AST[]): Place['text'] {
  const isText = (node: SchemaAST.AST) => SchemaAST.isString(node) || isWord(node)
  if (nodes.length > 0 && nodes.every(isText)) return 'only'
  const isPlain = nodes.some((node) => SchemaAST.isNumber(node) || SchemaAST.isBoolean(node))
  return isPlain && !nodes.some(isText) ? 'never' : 'also'
}

const isWord = (node: SchemaAST.AST) => SchemaAST.isLiteral(node) && typeof node.literal === 'string'

function choiceOf(nodes: readonly SchemaAST.AST[]): Place['choice'] {
  const pairs = nodes
    .filter(SchemaAST.isObjects)
    .flatMap(({ propertySignatures }) =>
      propertySignatures.flatMap(({ name, type }) =>
        SchemaAST.isLiteral(type) ? [{ key: String(name), word: String(type.literal) }] : [],
      ),
    )
  const [first] = pairs
  return first && { key: first.key, words: pairs.map(({ word }) => word) }
}

/** The alternatives that a mapping can mean, by its words such as `kind`; all of them where none fits. */
function narrowed(nodes: readonly SchemaAST.AST[], value: unknown): readonly SchemaAST.AST[] {
  if (!isMapping(value)) return nodes
  const fits = (node: SchemaAST.AST) =>
    !SchemaAST.isObjects(node) ||
    node.propertySignatures.every(
      ({ name, type }) => !SchemaAST.isLiteral(type) || value[String(name)] === type.literal,
    )
  const fitting = nodes.filter(fits)
  return fitting.some(SchemaAST.isObjects) ? fitting : nodes
}

function below(node: SchemaAST.AST, key: string | number): SchemaAST.AST[] {
  if (SchemaAST.isArrays(node) && typeof key === 'number') {
    return [node.elements[key] ?? node.rest[0]].filter((type) => type !== undefined)
  }
  if (!SchemaAST.isObjects(node)) return []
  const known = node.propertySignatures.find(({ name }) => name === String(key))
  return known === undefined ? node.indexSignatures.map(({ type }) => type) : [known.type]
}
