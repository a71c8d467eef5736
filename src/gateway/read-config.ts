import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

import * as Schema from 'effect/Schema'
import * as SchemaIssue from 'effect/SchemaIssue'

import { ConfigError } from '../core/errors.ts'
import { didYouMean } from '../core/validate.ts'
import { parseFile } from './config-file.ts'
import type { ConfigFile, Path } from './config-file.ts'
import { configSchema, knownKeys, whatIsRight } from './config-schema.ts'
import type { GatewayConfig } from './config-schema.ts'
import { coreFaults } from './core-faults.ts'
import { expandEnv } from './expand-env.ts'
import type { Environment } from './expand-env.ts'

interface Fault {
  readonly line: number
  readonly path: string
  readonly text: string
}

/**
 * Reads the configuration of the gateway, YAML or JSON.
 *
 * @throws ConfigError with one line a fault: `file:line path: what is wrong, what would be right`
 */
export function readConfig(file: string, env: Environment = process.env): GatewayConfig {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const why =
      code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a directory' : String(code)
    throw new ConfigError(`${file}: cannot be read, ${why}.`, { path: file })
  }
  return parseConfig(text, basename(file), env)
}

/** {@link readConfig} for a text; `name` is how its faults call the file. */
export function parseConfig(text: string, name: string, env: Environment = process.env): GatewayConfig {
  const file = parseFile(text)
  const unread = file.faults.map(({ line, message }) => ({ line, path: '', text: message }))
  if (unread.length > 0) throw configError(name, unread)
  const { missing, secrets } = expandEnv(file.document, env)
  const unset = missing.map(({ node, name: variable }) => ({
    line: file.lineOfNode(node),
    path: '',
    text: `the environment variable ${variable} is not set, set it or write \${${variable}:-default}`,
  }))
  const value = valueOf(file, name)
  const hide = (fault: Fault): Fault => ({ ...fault, text: hidden(fault.text, secrets, value) })
  const issues = issuesOf(value)
  const sound = issues.length === 0 ? value : without(value, issues)
  const refused = issuesOf(sound).length === 0 ? coreFaults(sound as GatewayConfig) : []
  const faults = [
    ...unset,
    ...issues.map((issue) => faultOf(issue, value, file)),
    ...refused.map((fault) => ({ line: file.lineOf(fault.path), path: shown(fault.path), text: fault.text })),
  ]
  if (faults.length > 0) throw configError(name, faults.map(hide))
  return value as GatewayConfig
}

/** An alias that leads nowhere, or to too much, is found only when the document is read. */
function valueOf(file: ConfigFile, name: string): unknown {
  try {
    return file.document.toJS()
  } catch (error) {
    throw configError(name, [
      { line: 1, path: '', text: error instanceof Error ? error.message : 'cannot be read' },
    ])
  }
}

interface Issue {
  readonly path: Path
  readonly message: string
}

const decode = Schema.decodeUnknownSync(configSchema, { errors: 'all', onExcessProperty: 'error' })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

function issuesOf(value: unknown): Issue[] {
  try {
    decode(value)
    return []
  } catch (error) {
    if (!Schema.isSchemaError(error)) throw error
    return format(error.issue).issues.map(({ path = [], message }) => toIssue(path as Path, message, value))
  }
}

/** An entry that a list should have and has not is the list's own fault. */
function toIssue(path: Path, message: string, value: unknown): Issue {
  const missing = typeof path.at(-1) === 'number' && valueAt(value, path) === undefined
  return { path: missing ? path.slice(0, -1) : path, message }
}

/** What is left to look at when the faults of the shape are mended. */
function without(value: unknown, issues: readonly Issue[]): unknown {
  const copy = structuredClone(value)
  for (const { path } of issues) {
    const parent = valueAt(copy, path.slice(0, -1))
    const last = path.at(-1)
    if (typeof last === 'string' && typeof parent === 'object' && parent !== null)
      Reflect.deleteProperty(parent, last)
  }
  return copy
}

function faultOf({ path, message }: Issue, value: unknown, file: ConfigFile): Fault {
  const at = { line: file.lineOf(path), path: shown(path) }
  const parent = knownKeys[place(path.slice(0, -1))]
  if (parent !== undefined && !parent.includes(String(path.at(-1))) && typeof path.at(-1) === 'string') {
    return { ...at, text: `unknown key. ${didYouMean(String(path.at(-1)), parent)}` }
  }
  return {
    ...at,
    text: `${wrong(valueAt(value, path))}, ${rightAt(path) ?? message.replace('Expected', 'must be')}`,
  }
}

/** What stands there, without saying it: it may be a secret. */
function wrong(value: unknown): string {
  if (value === undefined) return 'is missing'
  if (value === null || value === '') return 'is empty'
  if (Array.isArray(value)) return value.length === 0 ? 'is an empty list' : 'is a list'
  const article = {
    object: 'is a mapping',
    number: 'is the number ' + String(value),
    boolean: `is ${String(value)}`,
  }
  if (typeof value === 'string') return 'is a text that does not fit'
  return article[typeof value as keyof typeof article] ?? 'does not fit'
}

function rightAt(path: Path): string | undefined {
  const known = whatIsRight[place(path)]
  if (known !== undefined) return known
  if (typeof path.at(-1) === 'number') return whatIsRight[place(path.slice(0, -1))]
  if (String(path[0]).endsWith('Fallbacks')) return whatIsRight[String(path[0])]
  return String(path.at(-1)).endsWith('Ms') ? 'must be a number of milliseconds' : undefined
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined),
    value,
  )
}

const shown = (path: Path) =>
  path.map((key, i) => (typeof key === 'number' ? `[${key}]` : i === 0 ? key : `.${key}`)).join('')

const place = (path: Path) => shown(path).replaceAll(/\[\d+\]/g, '[]')

/** A core's error quotes values; one that came from a variable, or a key, is not shown. */
function hidden(text: string, secrets: ReadonlyMap<string, string>, config: unknown): string {
  let safe = text
  for (const [value, variable] of secrets) safe = safe.replaceAll(value, `\${${variable}}`)
  const targets = valueAt(config, ['targets'])
  for (const target of Array.isArray(targets) ? targets : []) {
    const key = valueAt(target, ['apiKey'])
    if (typeof key === 'string' && key.length >= 8) safe = safe.replaceAll(key, '…')
  }
  return safe
}

function configError(name: string, faults: readonly Fault[]): ConfigError {
  const sorted = [...faults].sort((a, b) => a.line - b.line)
  const lines = sorted.map(
    ({ line, path, text }) => `${name}:${line}${path === '' ? '' : ` ${path}`}: ${text}`,
  )
  const [first] = sorted
  return new ConfigError(lines.join('\n'), { ...(first && { path: first.path, line: first.line }) })
}
