import * as Schema from 'effect/Schema'

import { headerText, httpUrl, optional, positiveMs, required, wholeNumber } from './keys.ts'
import { SHORTEST_CLIENT_KEY, SHORTEST_TOKEN } from './secrets.ts'

const host = optional(Schema.NonEmptyString, {
  description: 'The address to listen on.',
  right: 'must be an address to listen on, such as 127.0.0.1',
  default: '127.0.0.1',
})
const port = wholeNumber(0, 65_535)
const secrets = (right: string) =>
  Schema.Record(Schema.String, headerText.annotate({ right: `${right}, best as \${NAME_OF_A_VARIABLE}` }))
const milliseconds = (description: string, standard: number) =>
  optional(positiveMs, {
    description,
    right: 'must be a whole number of milliseconds above 0',
    default: standard,
  })

export const server = Schema.Struct({
  host,
  port: optional(port, {
    description: 'The port to listen on, 0 for any free one.',
    right: 'must be a whole number from 0 to 65535',
    default: 4000,
  }),
  admin: optional(
    Schema.Struct({
      host,
      port: required(port, {
        description: 'The port of the admin API, the dashboard, /metrics and /status; 0 for any free one.',
        right: 'must be a whole number from 0 to 65535',
      }),
    }),
    {
      description: 'Serves /, /admin, /metrics and /status on a port of their own. Default: the same port.',
      right: 'must be a mapping of host and port',
    },
  ),
  maxBodyBytes: optional(wholeNumber(1), {
    description: 'A larger body is answered with 413.',
    right: 'must be a whole number of bytes above 0',
    default: 67_108_864,
  }),
  requestTimeoutMs: milliseconds('How long a client may take to send one request, in ms.', 60_000),
  keepAliveMs: milliseconds('How often a waiting streaming client gets an SSE comment, in ms.', 15_000),
  drainMs: optional(wholeNumber(0, 2_147_483_647), {
    description: 'How long running requests may go on after SIGTERM, in ms.',
    right: 'must be a whole number of milliseconds of at least 0',
    default: 30_000,
  }),
  allowMocks: optional(Schema.Boolean, {
    description: 'Whether the header x-switchgear-mock is obeyed.',
    right: 'must be true or false',
    default: false,
  }),
  clientKeys: optional(secrets(`must be a key in one line of at least ${SHORTEST_CLIENT_KEY} characters`), {
    description: 'Name → key that a client must show. Default: open to everybody who reaches the port.',
    right: 'must be a mapping: name of a client → key',
  }),
})

export const admin = Schema.Struct({
  tokens: optional(secrets(`must be a token in one line of at least ${SHORTEST_TOKEN} characters`), {
    description:
      'Name → token of the admin API; the name says who did it. Default: one is made at the first start.',
    right: 'must be a mapping: name of a person or program → token',
  }),
})

export const journal = Schema.Union([
  Schema.Boolean,
  Schema.Struct({
    file: optional(Schema.NonEmptyString, {
      description: 'The SQLite file, relative to the configuration.',
      right: 'must be the name of a file',
      default: 'switchgear.db',
    }),
    keepDays: optional(Schema.Finite.check(Schema.isGreaterThan(0)), {
      description: 'Rows older than this are removed.',
      right: 'must be a number of days above 0',
      default: 30,
    }),
    maxMegabytes: optional(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(1)), {
      description: 'The oldest rows are removed when the file grows beyond this.',
      right: 'must be a number of megabytes of at least 1',
      default: 512,
    }),
  }),
])

export const record = Schema.Union([
  Schema.Boolean,
  Schema.Struct({
    file: optional(Schema.NonEmptyString, {
      description:
        'The file, one JSON object a line, relative to the configuration; older ones stand beside it.',
      right: 'must be the name of a file',
      default: 'outcomes.jsonl',
    }),
    sample: optional(Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(1)), {
      description:
        'Share of the uneventful successes that have a row of their own; everything else always has one.',
      right: 'must be a number above 0, at most 1',
      default: 1,
    }),
    keepDays: optional(Schema.Finite.check(Schema.isGreaterThan(0)), {
      description: 'Files older than this are removed.',
      right: 'must be a number of days above 0',
      default: 7,
    }),
    maxMegabytes: optional(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(1)), {
      description: 'The oldest files are removed when all together are larger than this.',
      right: 'must be a number of megabytes of at least 1',
      default: 64,
    }),
  }),
])

/** What an alert can be about. */
export const alertReasons = ['open', 'hold', 'stuck-half-open', 'flapping', 'auth', 'quota'] as const

export const alert = Schema.Struct({
  url: required(Schema.String.check(httpUrl(isWebhookUrl)), {
    description: 'Where the CloudEvent is posted to.',
    right: 'must be an http(s) URL without a user in it',
  }),
  secret: optional(
    Schema.String.check(
      Schema.makeFilter(isWebhookSecret, { toJsonSchema: () => [{ pattern: '^whsec_' }, true] }),
    ),
    {
      description:
        'Signs every alert (Standard Webhooks), best as ${NAME_OF_A_VARIABLE}. Default: not signed.',
      right:
        'must be whsec_ and then 24 to 64 bytes as base64, as of: echo "whsec_$(openssl rand -base64 32)"',
    },
  ),
  on: optional(Schema.NonEmptyArray(Schema.Literals(alertReasons)), {
    description: 'What is told. Default: all of it.',
    right: `must be a list of some of: ${alertReasons.join(', ')}`,
  }),
  flapping: optional(
    Schema.Struct({
      opens: optional(wholeNumber(2), {
        description: 'Openings of one circuit.',
        right: 'must be a whole number of at least 2',
        default: 5,
      }),
      withinMs: milliseconds('… within this time, in ms.', 600_000),
    }),
    {
      description: 'When a circuit counts as flapping.',
      right: 'must be a mapping of opens and withinMs',
    },
  ),
  stuckHalfOpenMs: milliseconds('A circuit that is half-open for longer is stuck, in ms.', 300_000),
}).annotate({ right: 'must be a mapping with a url' })

export const healthChecks = Schema.Struct({
  intervalMs: milliseconds('How often a target whose circuit is open is asked, in ms.', 30_000),
  maxPerHour: optional(wholeNumber(1), {
    description: 'Most requests of one target in an hour: what the checks may cost.',
    right: 'must be a whole number above 0',
    default: 60,
  }),
})

function isWebhookUrl(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

function isWebhookSecret(value: string): boolean {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(value)?.[1]
  if (base64 === undefined) return false
  const bytes = Buffer.from(base64, 'base64').length
  return bytes >= 24 && bytes <= 64
}
