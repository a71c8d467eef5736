import * as Schema from 'effect/Schema'

import type { CircuitBreakerOptions } from '../core/breaker-options.ts'
import type { SwitchgearOptions } from '../core/switchgear-options.ts'
import type { RetryOptions } from '../core/target-options.ts'

/** What the core checks itself, with the same words as in the library. */
const handedOn = <T>(fits: (value: unknown) => boolean) => Schema.declare((value): value is T => fits(value))

const isBag = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

const text = Schema.optionalKey(Schema.NonEmptyString)
const number = Schema.optionalKey(Schema.Number)
const lists = Schema.optionalKey(Schema.Record(Schema.String, Schema.Array(Schema.NonEmptyString)))
const baseUrl = Schema.String.check(Schema.makeFilter(isBaseUrl))

const server = Schema.Struct({
  host: text,
  port: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))),
})

const target = Schema.Struct({
  name: text,
  model: text,
  baseUrl,
  apiKey: Schema.optionalKey(Schema.NonEmptyString.check(Schema.makeFilter(isHeaderValue))),
  circuitBreaker: Schema.optionalKey(
    handedOn<boolean | CircuitBreakerOptions>((value) => typeof value === 'boolean' || isBag(value)),
  ),
  bucket: text,
  maxRetries: number,
  retry: Schema.optionalKey(handedOn<RetryOptions>(isBag)),
  timeoutMs: number,
  firstContentTimeoutMs: number,
  idleTimeoutMs: number,
})

/** The configuration of the gateway. Unknown keys are faults. */
export const configSchema = Schema.Struct({
  server: Schema.optionalKey(server),
  targets: Schema.NonEmptyArray(target),
  deadlineMs: number,
  whenAllOpen: Schema.optionalKey(
    handedOn<NonNullable<SwitchgearOptions['whenAllOpen']>>(
      (value) => typeof value === 'string' || isBag(value),
    ),
  ),
  retryBudget: Schema.optionalKey(
    handedOn<NonNullable<SwitchgearOptions['retryBudget']>>((value) => value === false || isBag(value)),
  ),
  contextWindowFallbacks: lists,
  contentPolicyFallbacks: lists,
})

export type GatewayConfig = typeof configSchema.Type
export type GatewayTarget = GatewayConfig['targets'][number]

/** The keys that are known at a place; `[]` stands for any index. */
export const knownKeys: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(configSchema.fields),
  server: Object.keys(server.fields),
  'targets[]': Object.keys(target.fields),
}

/** Fields whose text stays text, even where it looks like a number. */
export const textKeys: ReadonlySet<string> = new Set(['name', 'model', 'baseUrl', 'apiKey', 'host', 'bucket'])

/** What would be right at a place. */
export const whatIsRight: Readonly<Record<string, string>> = {
  '': 'must be a mapping with the key targets',
  server: 'must be a mapping of host and port',
  'server.host': 'must be an address to listen on, such as 127.0.0.1',
  'server.port': 'must be a whole number from 0 to 65535',
  targets: 'must be a list of one target at least, each with a baseUrl',
  'targets[]': 'must be a target: a mapping with a baseUrl',
  'targets[].name': 'must be a name, such as openai',
  'targets[].model': 'must be the name of a model; put quotes around one that looks like a number',
  'targets[].baseUrl':
    'must be the http(s) URL of an OpenAI-compatible API without a key in it, such as https://api.openai.com/v1',
  'targets[].apiKey':
    'must be a key without line breaks, best as ${NAME_OF_A_VARIABLE}; leave it out where none is needed',
  'targets[].circuitBreaker': 'must be true, false, or a mapping of options such as {threshold: 5}',
  'targets[].bucket': 'must be a name',
  'targets[].retry': 'must be a mapping of baseMs, multiplier and maxMs',
  whenAllOpen: 'must be fail, last-resort, or {waitMs: <number>}',
  retryBudget: 'must be false, or a mapping of capacity and perCall',
  contextWindowFallbacks: 'must be a mapping: name of a target → list of names',
  contentPolicyFallbacks: 'must be a mapping: name of a target → list of names',
}

/** A key from a file often ends with a line break, which no header can carry. */
function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e]+$/.test(value)
}

function isBaseUrl(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}
