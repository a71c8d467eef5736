import { degradedQuietMs } from '../../../machines/breaker-policy.ts'
import type { BreakerEvent, SavedCircuit } from '../../../machines/breaker-events.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { BreakerSnapshot } from '../../../machines/circuit-state.ts'
import { kindReadings, policyReadings } from './breaker-readings.ts'

const LONG = 60_000
const SHORT = 1
const OTHER_PERMIT = 999

const byOps = { by: 'ops', reason: 'drill' } as const

/** Random shares that matter: one is enough where nothing is drawn. */
const rollsOf = ({ backoff }: BreakerPolicy) =>
  backoff !== null && typeof backoff === 'object' && backoff.jitter !== 'none' ? [0, 0.5, 0.999_999] : [0.5]

function outcomes(policy: BreakerPolicy, generation: number, at: number): BreakerEvent[] {
  const readings = policyReadings(policy)
  const worst = readings.at(-1)
  const failed = { type: 'call.failed', at, generation, roll: 0.5, failure: 'server_error' } as const
  const succeeded = { type: 'call.succeeded', at, generation, roll: 0.5 } as const
  const each = readings.flatMap((reading): BreakerEvent[] => [
    { ...failed, reading },
    { ...succeeded, reading },
  ])
  const byKind = kindReadings(policy).map((found): BreakerEvent => ({ ...failed, ...found }))
  if (worst === undefined) return [...each, ...byKind]
  const drawn = rollsOf(policy)
    .filter((roll) => roll !== failed.roll)
    .map((roll): BreakerEvent => ({ ...failed, reading: worst, roll }))
  const told = [SHORT, LONG].map((retryAfterMs): BreakerEvent => ({
    ...failed,
    reading: worst,
    retryAfterMs,
  }))
  const stale = [generation - 1, -1].flatMap((generation): BreakerEvent[] => [
    { ...failed, generation, reading: worst },
    { ...failed, generation, reading: worst, retryAfterMs: SHORT },
    { ...failed, generation, reading: worst, retryAfterMs: LONG },
    { ...succeeded, generation, reading: worst },
  ])
  return [...each, ...byKind, ...drawn, ...told, ...stale]
}

function ageing(policy: BreakerPolicy, at: number): BreakerEvent[] {
  const quiet = degradedQuietMs(policy)
  return policyReadings(policy).flatMap((reading): BreakerEvent[] =>
    [quiet - 1, quiet].map((quietMs) => ({ type: 'reading.aged', at, reading, quietMs })),
  )
}

function probes({ context }: BreakerSnapshot, at: number): BreakerEvent[] {
  const { generation, trial, policy } = context
  const permits = trial?.permits ?? []
  const fresh = permits.length + (trial?.succeeded ?? 0) + (trial?.failed ?? 0) + 1
  const asked = {
    type: 'probe.requested',
    at,
    permit: Math.max(fresh, ...permits.map((id) => id + 1)),
  } as const
  const known = permits.map((permit) => ({ generation, permit }))
  const strange = [
    { generation, permit: OTHER_PERMIT },
    { generation: generation - 1, permit: permits[0] ?? 1 },
  ]
  const reports = [...known, ...strange].flatMap((of): BreakerEvent[] => [
    { type: 'probe.succeeded', at, roll: 0.5, ...of },
    { type: 'probe.released', at, ...of },
    ...rollsOf(policy).flatMap((roll): BreakerEvent[] => [
      { type: 'probe.failed', at, roll, failure: 'server_error', ...of },
      { type: 'probe.expired', at, roll, ...of },
    ]),
    { type: 'probe.failed', at, roll: 0.5, failure: 'rate_limit', retryAfterMs: LONG, ...of },
    { type: 'probe.failed', at, roll: 0.5, failure: 'rate_limit', retryAfterMs: SHORT, ...of },
    ...Object.keys(policy.kinds).map((failure): BreakerEvent => ({
      type: 'probe.failed',
      at,
      roll: 0.5,
      failure,
      ...of,
    })),
  ])
  return [asked, ...reports]
}

function commands(policy: BreakerPolicy, at: number): BreakerEvent[] {
  const until = at + 100
  return [
    ...rollsOf(policy).map((roll): BreakerEvent => ({ type: 'operator.opened', at, roll, ...byOps })),
    { type: 'operator.opened', at, roll: 0.5, ...byOps, hold: true },
    { type: 'operator.opened', at, roll: 0.5, ...byOps, hold: true, until },
    { type: 'operator.closed', at, ...byOps },
    { type: 'operator.closed', at, ...byOps, hold: true },
    { type: 'operator.closed', at, ...byOps, hold: true, until },
    { type: 'hold.ended', at },
  ]
}

const FAR = 10_000_000

/** Circuits as they may come back from a disk, clean and not so clean. */
function savedCircuits(generation: number, at: number): SavedCircuit[] {
  const cause = { why: 'tripped' } as const
  const nothing = { hold: null, openedAt: null, cooldownMs: null, openUntil: null, reopens: 0 }
  const base = { version: 1, generation: generation + 4, cause, since: at - 500, ...nothing } as const
  const hold = { until: null, ...byOps }
  const brief = { until: at + 300, ...byOps }
  const open = { ...base, state: 'open', openedAt: at - 500, cooldownMs: 1000, openUntil: at + 500 } as const
  return [
    { ...base, state: 'closed', generation: 1 },
    { ...base, state: 'closed', hold },
    { ...base, state: 'closed', hold: brief },
    { ...base, state: 'open', hold, openedAt: at - 500 },
    { ...base, state: 'open', hold: brief, openedAt: at - 500, reopens: 1 },
    { ...open, reopens: 1 },
    { ...open, openUntil: at - 1 },
    { ...open, openedAt: at + FAR, cooldownMs: FAR, openUntil: at + 2 * FAR },
    { ...open, openUntil: null },
    { ...base, state: 'half-open', reopens: 2 },
    { ...base, state: 'half-open', hold },
  ]
}

/** Everything that can happen to a breaker in this configuration, and a little after `now`. */
export function breakerSteps(policy: BreakerPolicy, snapshot: BreakerSnapshot, now: number): BreakerEvent[] {
  const { generation, openUntil } = snapshot.context
  const at = openUntil === null ? now + 10 : Math.max(now, Math.min(now + 10, openUntil - 1))
  const saved = savedCircuits(generation, at).map((saved): BreakerEvent => ({ type: 'resumed', at, saved }))
  return [
    ...outcomes(policy, generation, at),
    ...ageing(policy, at),
    { type: 'cooldown.elapsed', at: Math.max(at, openUntil ?? at) },
    ...probes(snapshot, at),
    ...commands(policy, at),
    ...saved,
  ]
}
