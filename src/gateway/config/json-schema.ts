import * as JsonSchema from 'effect/JsonSchema'
import * as Schema from 'effect/Schema'
import * as SchemaRepresentation from 'effect/SchemaRepresentation'

import { configSchema } from './schema.ts'

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const RANGE: ReadonlySet<string> = new Set(['minimum', 'exclusiveMinimum', 'maximum'])
const VARIABLE = { $ref: '#/definitions/variable' }

/** The configuration as JSON Schema (draft-07, which editors read), for completion and checks while typing. */
export function configJsonSchema(): Node {
  const derived = SchemaRepresentation.toJsonSchemaDocument(Schema.toRepresentation(configSchema), {
    onExcessProperty: 'error',
    includeAnnotationKey: (key) => RANGE.has(key),
  })
  const { schema, definitions } = JsonSchema.toDocumentDraft07({
    ...derived,
    schema: forEditors(derived.schema) as Node,
    definitions: forEditors(derived.definitions) as Readonly<Record<string, Node>>,
  })
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Switchgear gateway',
    ...schema,
    definitions: {
      ...definitions,
      variable: {
        type: 'string',
        pattern: String.raw`\$\{`,
        description: 'Put in from the environment: ${NAME} or ${NAME:-default}.',
      },
    },
  }
}

/** {@link configJsonSchema} as the text of a file. */
export const configSchemaText = (): string => `${JSON.stringify(configJsonSchema(), null, 2)}\n`

/** What a file may say and the decoded value may not, and the other way round. */
function forEditors(value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap((option) => flat(forEditors(option)))
  if (!isNode(value)) return value
  const entries = Object.entries(withoutWordsForNumbers(value))
    // a list of one at least is told by its length and its items
    .filter(([key]) => key !== 'prefixItems')
    .map(([key, child]) => [key, key === 'default' ? child : forEditors(child)])
  return withVariable(Object.fromEntries(entries) as Node)
}

/** JSON has no Infinity, YAML has `.inf`; neither has the word. */
function withoutWordsForNumbers(node: Node): Node {
  const { anyOf, ...others } = node
  if (!Array.isArray(anyOf) || !anyOf.some(isWordForNumber)) return node
  return { ...anyOf.find((option: Node) => !isWordForNumber(option)), ...others }
}

const isWordForNumber = ({ enum: words }: Node) => Array.isArray(words) && words.includes('Infinity')

/** Alternatives within alternatives are alternatives. */
const flat = (option: unknown): unknown[] =>
  isNode(option) && Array.isArray(option['anyOf']) && Object.keys(option).length === 1
    ? option['anyOf']
    : [option]

/** Whatever is more special than text may also be a variable. */
function withVariable(node: Node): Node {
  const { description, default: standard, ...rule } = node
  const { type, enum: words, pattern } = rule
  const isChoice = Array.isArray(words) ? words.length > 1 : pattern !== undefined
  if (!['number', 'integer', 'boolean'].includes(String(type)) && !(type === 'string' && isChoice))
    return node
  return {
    ...(description !== undefined && { description }),
    ...(standard !== undefined && { default: standard }),
    anyOf: [rule, VARIABLE],
  }
}
