import { largestShare } from '../../machines/tripping.ts'
import { failureTable } from '../classify/failure-table.ts'
import type { DurationHistogram, GearStats, TransitionCount } from '../core/stats.ts'
import { METRICS } from './names.ts'
import type { MetricKey } from './names.ts'
import { packageVersion } from './package-version.ts'
import type { Labels, MetricSource } from './source.ts'

/** One value of a metric. */
export interface Sample {
  /** Labels in common with other samples: one object for all that concern the same circuit or target. */
  readonly of: Labels
  /** Labels besides. */
  readonly labels: Labels
  readonly value: number | DurationHistogram
}

export type Samples = Readonly<Record<MetricKey, readonly Sample[]>>

type Breaker = GearStats['breakers'][number]
type Target = GearStats['targets'][number]

const STATES = ['closed', 'degraded', 'open', 'half-open'] as const
const OUTCOMES = ['success', 'failure', 'neutral'] as const

/** A counter that appears with its first count has no increase that a query could see: what alerts watch is there from the start. */
const WATCHED: readonly TransitionCount[] = [
  { from: 'closed', to: 'open', why: 'tripped', n: 0 },
  { from: 'open', to: 'half-open', why: 'cooldown_over', n: 0 },
  { from: 'half-open', to: 'open', why: 'trial_missed', n: 0 },
  { from: 'half-open', to: 'closed', why: 'trial_met', n: 0 },
]
const WATCHED_DEGRADED: readonly TransitionCount[] = [{ from: 'degraded', to: 'open', why: 'tripped', n: 0 }]
const WATCHED_KIND_TRIPS: readonly TransitionCount[] = [
  { from: 'closed', to: 'open', why: 'kind_tripped', n: 0 },
]
const WATCHED_KINDS = Object.entries(failureTable).flatMap(([kind, { alert }]) => (alert ? [kind] : []))

const NONE: Labels = {}

const version = packageVersion()

/**
 * Everything the core has counted, as the values of all metrics. The circuits that exist now are the ones that are
 * shown: those of a forgotten circuit vanish, and should it come back, its counters begin at 0 as after a restart.
 */
export function readSamples(source: MetricSource): Samples {
  const { gear, labels: common = NONE, groups, journal, alerts } = source
  const samples = Object.fromEntries(Object.keys(METRICS).map((key) => [key, []])) as unknown as Record<
    MetricKey,
    Sample[]
  >
  const put: Put = (key, of, labels, value) => samples[key].push({ of, labels, value })
  const { breakers, targets, calls, running } = gear.stats()
  const models = new Map(targets.map(({ name, model }) => [name, model]))
  const labelled = breakers.map((breaker) => ({
    breaker,
    labels: { ...common, ...circuitLabels(breaker, models) },
  }))
  for (const { breaker, labels } of labelled) putBreaker(put, breaker, labels)
  for (const target of targets) putTarget(put, target, { ...common, target: target.name }, common)
  for (const [result, n] of Object.entries(calls))
    put('requests', common, { result: result === 'outOfTime' ? 'deadline' : result }, n)
  put('requestsInFlight', common, NONE, running)
  // targets that share a circuit are one as far as it is concerned
  const circuitOf = new Map(
    labelled.flatMap(({ breaker, labels }) => breaker.targets.map((name) => [name, labels.target])),
  )
  for (const [group, members] of groups?.() ?? [['*', [...models.keys()]]])
    for (const target of new Set(members.map((name) => circuitOf.get(name) ?? name)))
      put('groupTarget', common, { group, target }, 1)
  put('build', common, { version, node: process.versions.node }, 1)
  const health = journal?.()
  if (health !== undefined) {
    put('journalDegraded', common, NONE, health.state === 'degraded' ? 1 : 0)
    put('journalWaiting', common, NONE, health.waiting ?? 0)
    put('journalLost', common, NONE, health.lost ?? 0)
  }
  const told = alerts?.()
  if (told !== undefined) {
    put('alerts', common, { result: 'delivered' }, told.delivered)
    put('alerts', common, { result: 'dropped' }, told.dropped)
    put('alertsWaiting', common, NONE, told.waiting)
  }
  return samples
}

type Put = (key: MetricKey, of: Labels, labels: Labels, value: Sample['value']) => void

/** The bucket without its model, which is unique together with it; and the model, where all of its targets have the same. */
function circuitLabels(
  { bucket, model, targets }: Breaker,
  models: ReadonlyMap<string, string | undefined>,
): { readonly target: string; readonly model: string } {
  const isolated = model !== undefined && bucket.endsWith(`/${model}`)
  const own = new Set(targets.map((name) => models.get(name)))
  const shared = own.size === 1 ? [...own][0] : undefined
  return { target: isolated ? bucket.slice(0, -model.length - 1) : bucket, model: model ?? shared ?? '' }
}

function putBreaker(put: Put, { stats, status, policy }: Breaker, circuit: Labels): void {
  for (const state of STATES) put('breakerState', circuit, { state }, status.state === state ? 1 : 0)
  put('breakerHeld', circuit, NONE, status.held ? 1 : 0)
  put('breakerSince', circuit, NONE, status.since / 1000)
  if (status.openUntil !== null) put('openUntil', circuit, NONE, status.openUntil / 1000)
  put('probesInFlight', circuit, NONE, status.probes.inFlight)
  const { rules } = status.reading
  put('thresholdRatio', circuit, NONE, largestShare(policy.rules, rules))
  const rolling = rules[policy.rules.findIndex(({ kind }) => kind === 'rolling')]
  if (rolling !== undefined && rolling.calls > 0)
    put('failureRatio', circuit, NONE, rolling.count / rolling.calls)
  for (const outcome of OUTCOMES) put('calls', circuit, { outcome }, stats[outcome])
  for (const [reason, n] of Object.entries(stats.refused)) put('refused', circuit, { reason }, n)
  for (const [reason, n] of Object.entries(stats.wouldRefuse))
    if (n > 0) put('wouldRefuse', circuit, { reason }, n)
  put('late', circuit, NONE, stats.late)
  for (const { from, to, why: reason, n } of transitionsOf(stats, policy))
    put('breakerTransitions', circuit, { from, to, reason }, n)
}

function transitionsOf({ transitions: seen = [] }: Breaker['stats'], policy: Breaker['policy']) {
  const watched = [
    ...WATCHED,
    ...(policy.degradedAt === null ? [] : WATCHED_DEGRADED),
    ...(Object.keys(policy.kinds).length === 0 ? [] : WATCHED_KIND_TRIPS),
  ]
  const isSeen = ({ from, to, why }: TransitionCount) =>
    seen.some((one) => one.from === from && one.to === to && one.why === why)
  return [...seen, ...watched.filter((one) => !isSeen(one))]
}

function putTarget(put: Put, { name: to, stats }: Target, target: Labels, common: Labels): void {
  for (const outcome of OUTCOMES) put('attempts', target, { outcome }, stats.attempts[outcome])
  put('retries', target, NONE, stats.retries)
  for (const kind of new Set([...WATCHED_KINDS, ...stats.failures.keys()]))
    put('failures', target, { kind }, stats.failures.get(kind) ?? 0)
  put('attemptDuration', target, NONE, stats.duration)
  put('firstContent', target, NONE, stats.firstContent)
  for (const { from, ...results } of stats.hops ?? [])
    for (const [result, n] of Object.entries(results)) put('fallbacks', common, { from, to, result }, n)
}
