import * as Schema from 'effect/Schema'

import { callRules } from './breaker-schema.ts'
import { coreNumber, optional, optionalCoreNumber } from './keys.ts'
import { addressKeys, provider } from './provider-schema.ts'
import { admin, alert, healthChecks, journal, record, server } from './server-schema.ts'

const names = Schema.Array(Schema.NonEmptyString)
const lists = (description: string) =>
  optional(Schema.Record(Schema.String, names), {
    description,
    right: 'must be a mapping: name of a group or target → list of names',
  })

const target = Schema.Struct({
  name: optional(Schema.NonEmptyString, {
    description: 'The name of the target. Default: primary, then fallback[0], fallback[1] …',
    right: 'must be a name, such as openai',
  }),
  provider: optional(Schema.NonEmptyString, {
    description: 'The entry of `providers` that says where and how. What stands in the target comes first.',
    right: 'must be the name of an entry of providers',
  }),
  ...addressKeys,
  model: optional(Schema.NonEmptyString, {
    description: 'The model this target is asked for. Default: what the client asks for.',
    right: 'must be the name of a model; put quotes around one that looks like a number',
  }),
  weight: optional(Schema.Finite.check(Schema.isGreaterThan(0)), {
    description: 'Its share of the calls under the strategy weighted.',
    right: 'must be a number above 0',
    default: 1,
  }),
  set: optional(Schema.Record(Schema.String, Schema.Json), {
    description: 'Fields that are put into the body of a request.',
    right: 'must be a mapping: field of the body → value',
  }),
  drop: optional(names, {
    description: 'Fields that are taken out of the body of a request.',
    right: 'must be a list of fields of the body',
  }),
  healthCheck: optional(
    Schema.Union([
      Schema.Boolean,
      Schema.Struct({
        model: optional(Schema.NonEmptyString, {
          description: 'The model the check asks for. Default: the model of the target.',
          right: 'must be the name of a model',
        }),
        maxTokens: optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)), {
          description: 'The longest answer a check may cost.',
          right: 'must be a whole number above 0',
        }),
      }),
    ]),
    {
      description: 'How this target is checked while its circuit is open; `false` = never.',
      right: 'must be true, false, or a mapping of model and maxTokens',
      default: true,
    },
  ),
  bucket: optional(Schema.NonEmptyString, {
    description: 'Targets of the same bucket share one circuit. Default: the name of the target.',
    right: 'must be a name',
  }),
  ...callRules,
}).annotate({ right: 'must be a target: a mapping with a provider or a baseUrl' })

/** How the deployments of a group are chosen, among those whose circuit admits. */
export const strategies = ['ordered', 'round-robin', 'weighted', 'least-busy'] as const

const group = Schema.Union([
  Schema.NonEmptyArray(Schema.NonEmptyString),
  Schema.Struct({
    targets: Schema.NonEmptyArray(Schema.NonEmptyString).annotate({
      description: 'The deployments of the group: names of targets.',
      right: 'must be a list of one name of a target at least',
    }),
    strategy: optional(Schema.Literals(strategies), {
      description: 'Which deployment is asked first, among those whose circuit admits.',
      right: `must be one of: ${strategies.join(', ')}`,
      default: 'ordered',
    }),
    fallbacks: optional(names, {
      description: 'Groups and targets that are asked when no deployment of the group answered, in order.',
      right: 'must be a list of names of groups or targets',
    }),
  }),
]).annotate({
  right: 'must be a list of names of targets, or a mapping with targets, and perhaps strategy, fallbacks',
})

/** The configuration of the gateway. Unknown keys are faults. */
export const configSchema = Schema.Struct({
  $schema: optional(Schema.String, {
    description: 'Where an editor finds the JSON Schema of this file; the gateway does not read it.',
    right: 'must be the address of a JSON Schema',
  }),
  server: optional(server, {
    description: 'Where and how the gateway listens.',
    right: 'must be a mapping of host, port and limits',
  }),
  admin: optional(admin, {
    description: 'Who may see and act under /admin.',
    right: 'must be a mapping with tokens',
  }),
  providers: optional(Schema.Record(Schema.String, provider), {
    description: 'Addresses and keys that targets share: name → provider.',
    right: 'must be a mapping: name → provider with a baseUrl',
  }),
  defaults: optional(Schema.Struct(callRules), {
    description:
      'Rules for every target that does not say otherwise. The options of circuitBreaker are taken over one by one; a target that gives threshold or tripping replaces both.',
    right: 'must be a mapping such as {timeoutMs: 30000}',
  }),
  targets: Schema.NonEmptyArray(target).annotate({
    description: 'Every place a request can go, in order.',
    right: 'must be a list of one target at least, each with a provider or a baseUrl',
  }),
  models: optional(Schema.Record(Schema.String, group), {
    description:
      'Model groups: the name a client asks for → its deployments. "*" stands for any other model. Default: every target, in order, for any model.',
    right: 'must be a mapping: name of a model → list of names of targets',
  }),
  fallbacks: lists('Group → groups and targets that are asked when none of its deployments answered.'),
  defaultFallbacks: optional(names, {
    description: 'The same for every group without fallbacks of its own.',
    right: 'must be a list of names of groups or targets',
  }),
  contextWindowFallbacks: lists(
    'For prompts that are too long: group or target → groups and targets, in order.',
  ),
  contentPolicyFallbacks: lists(
    'For prompts that a filter refused: group or target → groups and targets, in order.',
  ),
  deadlineMs: optionalCoreNumber('For each whole call, in ms. Default: none.', { exclusiveMinimum: 0 }),
  whenAllOpen: optional(
    Schema.Union([
      Schema.Literals(['fail', 'last-resort']),
      Schema.Struct({
        waitMs: coreNumber('How long a call may wait for a circuit, in ms.', { minimum: 0 }),
      }),
    ]),
    {
      description: 'What happens to a call when every circuit refuses.',
      right: 'must be fail, last-resort, or {waitMs: <number>}',
      default: 'fail',
    },
  ),
  retryBudget: optional(
    Schema.Union([
      Schema.Literal(false),
      Schema.Struct({
        capacity: optionalCoreNumber('Retries that may be saved up.', { default: 10, minimum: 0 }),
        perCall: optionalCoreNumber('What each call adds.', { default: 0.2, minimum: 0 }),
      }),
    ]),
    {
      description: 'Bounds the retries of all calls together; `false` = without bound.',
      right: 'must be false, or a mapping of capacity and perCall',
    },
  ),
  journal: optional(journal, {
    description: 'Where every change of a circuit is kept; `false` = nowhere, circuits forget at a restart.',
    right: 'must be true, false, or a mapping of file, keepDays and maxMegabytes',
    default: true,
  }),
  record: optional(record, {
    description: 'Writes down what every request came to, names and numbers only, for `switchgear replay`.',
    right: 'must be true, false, or a mapping of file, sample, keepDays and maxMegabytes',
    default: false,
  }),
  alerts: optional(Schema.Array(alert), {
    description: 'Webhooks that are told of trouble.',
    right: 'must be a list of mappings with a url',
  }),
  healthChecks: optional(healthChecks, {
    description: 'One cheap request to a target now and then, only while its circuit is open. Default: off.',
    right: 'must be a mapping of intervalMs and maxPerHour',
  }),
  openTelemetry: optional(Schema.Boolean, {
    description:
      'Spans and metrics through @opentelemetry/api; an SDK that sends them is loaded with `node --import`.',
    right: 'must be true or false',
    default: false,
  }),
}).annotate({ right: 'must be a mapping with the key targets' })

export type GatewayConfig = typeof configSchema.Type
export type GatewayTarget = GatewayConfig['targets'][number]
