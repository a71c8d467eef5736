import * as Schema from 'effect/Schema'
import * as SchemaIssue from 'effect/SchemaIssue'

import { didYouMean } from '../../core/validate.ts'
import { loneText } from '../../yaml/lone-text.ts'
import { isMapping, valueAt } from './config-path.ts'
import type { Finding, Path } from './config-path.ts'
import { placeOf } from './places.ts'
import { configSchema } from './schema.ts'
import { isSecret } from './secrets.ts'

const decode = Schema.decodeUnknownSync(configSchema, { errors: 'all', onExcessProperty: 'error' })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Everything in a value that the schema refuses, one finding a place. */
export function shapeFindings(value: unknown): Finding[] {
  const byPlace = new Map<string, Finding>()
  for (const finding of issuesOf(value).map(({ path, message }) => findingOf(path, message, value))) {
    const place = JSON.stringify(finding.path)
    if (!byPlace.has(place)) byPlace.set(place, finding)
  }
  return [...byPlace.values()]
}

interface Issue {
  readonly path: Path
  readonly message: string
}

function issuesOf(value: unknown): Issue[] {
  try {
    decode(value)
    return []
  } catch (error) {
    if (!Schema.isSchemaError(error)) throw error
    return format(error.issue).issues.map(({ path = [], message }) => {
      // an entry that a list should have and has not is the list's own fault
      const missing = typeof path.at(-1) === 'number' && valueAt(value, path as Path) === undefined
      return { path: (missing ? path.slice(0, -1) : path) as Path, message }
    })
  }
}

function findingOf(path: Path, message: string, value: unknown): Finding {
  const key = path.at(-1)
  const known = typeof key === 'string' ? placeOf(path.slice(0, -1), value).keys : undefined
  if (known !== undefined && typeof key === 'string' && !known.includes(key)) {
    return { path, text: `unknown key. ${didYouMean(key, known)}` }
  }
  const { right = message.replace('Expected', 'must be'), choice } = placeOf(path, value)
  const found = valueAt(value, path)
  if (choice !== undefined && isMapping(found) && !choice.words.some((word) => word === found[choice.key])) {
    const text = `${wrong(found[choice.key], false)}, must be one of: ${choice.words.join(', ')}`
    return { path: [...path, choice.key], text }
  }
  const advice =
    placeOf(path, value).text === 'only' ? undefined : loneText(found, placeOf(path, value).keys ?? [])
  return { path, text: `${wrong(found, isSecret(path))}, ${advice ?? right}` }
}

/** What stands there, without saying it: it may be a secret. */
function wrong(value: unknown, secret: boolean): string {
  if (value === undefined) return 'is missing'
  if (value === null || value === '') return 'is empty'
  if (Array.isArray(value)) return value.length === 0 ? 'is an empty list' : 'is a list'
  switch (typeof value) {
    case 'object':
      return 'is a mapping'
    case 'number':
      return secret ? 'is a number without quotes' : `is the number ${value}`
    case 'boolean':
      return `is ${value}`
    default:
      return 'is a text that does not fit'
  }
}
