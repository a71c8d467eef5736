import * as Schema from 'effect/Schema'

import { coreNumber, optional, optionalCoreNumber } from './keys.ts'

const SHARE = { exclusiveMinimum: 0, maximum: 1 }

const windowMs = coreNumber('The length of the window, in ms.', { minimum: 10 })
const minCalls = coreNumber('Calls in the window below which the rule says nothing.', { minimum: 0 })
const rules = [
  Schema.Struct({
    kind: Schema.Literal('consecutive'),
    threshold: optionalCoreNumber('Failures in a row, an integer. Default: the threshold beside.', {
      minimum: 1,
    }),
  }),
  Schema.Struct({
    kind: Schema.Literal('leaky'),
    threshold: coreNumber('Failures beyond successes, an integer.', { minimum: 1 }),
  }),
  Schema.Struct({
    kind: Schema.Literal('rolling'),
    windowMs,
    minCalls,
    failureRatio: coreNumber('The share of failed calls that opens the circuit.', SHARE),
  }),
  Schema.Struct({
    kind: Schema.Literal('latency'),
    windowMs,
    minCalls,
    slowMs: coreNumber('A call that takes longer is slow, in ms.', { minimum: 0 }),
    slowRatio: coreNumber('The share of slow calls that opens the circuit.', SHARE),
  }),
] as const
const rule = Schema.Union(rules).annotate({
  identifier: 'trippingRule',
  right: 'must be a rule with a kind: consecutive, leaky, rolling or latency',
})

const kindPolicy = Schema.Struct({
  threshold: optionalCoreNumber('Failures of this kind in a row that open the circuit, an integer.', {
    minimum: 1,
  }),
  cooldownMs: optionalCoreNumber('How long the circuit then stays open, in ms.', { minimum: 0 }),
  immediateOpen: optional(Schema.Boolean, {
    description: 'One failure of this kind opens the circuit.',
    right: 'must be true or false',
  }),
}).annotate({ right: 'must be a mapping of threshold, cooldownMs and immediateOpen' })

const cooldownBackoff = Schema.Struct({
  multiplier: coreNumber('Growth of the cooldown per failed trial.', { minimum: 1 }),
  maxMs: optionalCoreNumber('The longest cooldown, in ms.', { minimum: 0 }),
  minMs: optionalCoreNumber('The shortest cooldown, in ms.', { default: 0, minimum: 0 }),
  jitter: optional(Schema.Literals(['full', 'equal', 'none']), {
    description: 'How much of the cooldown is drawn by chance.',
    right: 'must be full, equal or none',
    default: 'full',
  }),
})

const options = Schema.Struct({
  threshold: optionalCoreNumber('Failures in a row that open the circuit, an integer.', {
    default: 5,
    minimum: 1,
  }),
  cooldownMs: optionalCoreNumber('How long the circuit stays open before the trial, in ms.', {
    default: 30_000,
    minimum: 0,
  }),
  cooldownBackoff: optional(cooldownBackoff, {
    description: 'Growth of the cooldown per failed trial. Default: none.',
    right: 'must be a mapping with multiplier, and perhaps maxMs, minMs, jitter',
  }),
  tripping: optional(Schema.Union([Schema.NonEmptyArray(rule), rule]), {
    description: 'What opens the circuit; of a list any rule does. Default: `threshold` failures in a row.',
    right: 'must be a rule such as {kind: consecutive, threshold: 5}, or a list of rules',
  }),
  halfOpenProbes: optionalCoreNumber('Probes of one trial, an integer.', { default: 1, minimum: 1 }),
  halfOpenSuccessRatio: optionalCoreNumber('Share of the probes that must succeed.', {
    default: 1,
    ...SHARE,
  }),
  halfOpenConcurrency: optionalCoreNumber('Probes in flight at a time, an integer. Default: all of them.', {
    minimum: 1,
  }),
  halfOpenVerdict: optional(Schema.Literals(['all', 'early']), {
    description: '`all` waits for every probe, `early` decides when the verdict is certain.',
    right: 'must be all or early',
    default: 'all',
  }),
  probeLeaseMs: optionalCoreNumber(
    'How long a probe may be silent before it counts as failed, in ms. Default: longer than the longest limit.',
    { exclusiveMinimum: 0 },
  ),
  degradation: optional(
    Schema.Struct({
      at: optionalCoreNumber('Share of the threshold, below 1.', { default: 0.6, exclusiveMinimum: 0 }),
    }),
    {
      description: 'Report `degraded` from this share of the threshold. Default: off.',
      right: 'must be a mapping such as {at: 0.6}',
    },
  ),
  kinds: optional(Schema.Record(Schema.String, kindPolicy), {
    description: 'Own threshold and cooldown per failure kind, such as `auth` or `quota_exhausted`.',
    right: 'must be a mapping: failure kind → threshold, cooldownMs, immediateOpen',
  }),
  isolateByModel: optional(Schema.Boolean, {
    description: 'A circuit of its own for every model.',
    right: 'must be true or false',
    default: false,
  }),
  maxRetryAfterMs: optionalCoreNumber('A longer Retry-After is cut to this, in ms.', {
    default: 300_000,
    minimum: 0,
  }),
  mode: optional(Schema.Literals(['enforce', 'observe']), {
    description: '`observe` runs the machine and refuses nothing.',
    right: 'must be enforce or observe',
    default: 'enforce',
  }),
}).annotate({ identifier: 'circuitBreaker' })

const limit = (description: string, standard: number) =>
  optionalCoreNumber(description, { default: standard, exclusiveMinimum: 0 })

/** How a target is asked, how often, and when no more. Ranges are the core's to check. */
export const callRules = {
  circuitBreaker: optional(Schema.Union([Schema.Boolean, options]), {
    description: 'The rules of the circuit breaker; `false` = none. Default: the defaults, else true.',
    right: 'must be true, false, or a mapping of options such as {threshold: 5}',
  }),
  maxRetries: optionalCoreNumber('Attempts after the first, in one visit of a target; an integer.', {
    default: 2,
    minimum: 0,
  }),
  retry: optional(
    Schema.Struct({
      baseMs: optionalCoreNumber('The first back-off, in ms.', { default: 500, minimum: 0 }),
      multiplier: optionalCoreNumber('Growth per attempt.', { default: 2, minimum: 1 }),
      maxMs: optionalCoreNumber('The longest wait in place, in ms.', { default: 10_000, minimum: 0 }),
    }),
    {
      description: 'How long to wait between two attempts at one target.',
      right: 'must be a mapping of baseMs, multiplier and maxMs',
    },
  ),
  timeoutMs: limit('Until an answer, or the first part of a stream, is there, in ms.', 60_000),
  firstContentTimeoutMs: limit('Until the first content of a stream, in ms.', 30_000),
  idleTimeoutMs: limit('Between two parts of a stream after the first content, in ms.', 30_000),
}
