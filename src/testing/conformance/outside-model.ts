import type { BreakerEvent } from '../../../machines/breaker-events.ts'
import type { breakerMachine } from '../../../machines/breaker.machine.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { callsFlow } from '../../../machines/circuit-state.ts'
import type { BreakerSnapshot } from '../../../machines/circuit-state.ts'
import type { Reading } from '../../../machines/tripping.ts'
import { breakerModel } from '../paths/breaker-model.ts'
import type { Model } from '../paths/model.ts'
import type { Offer } from './adapter.ts'

const SHORT = 1
const LONG = 60_000
const HELD_FOR = 5000
const FIRST_GENERATION = 1
const byOps = { by: 'ops', reason: 'drill' } as const

/** What the walk over every step of some rules needs to know. */
export interface Outside {
  readonly policy: BreakerPolicy
  readonly threshold: number
  readonly probeLeaseMs: number
  readonly offers: readonly Offer[]
}

const after = (count: number): Reading => ({
  rules: [{ count, calls: count }],
  kinds: {},
  consecutiveFailures: count,
})

/** Counts on both sides of the threshold; what lies between looks the same. */
function counts(threshold: number, isHeld: boolean): number[] {
  const last = isHeld ? threshold + 1 : threshold
  return [...new Set([1, threshold - 1, threshold, last])].filter((count) => count >= 1)
}

function outcomes({ threshold, offers }: Outside, snapshot: BreakerSnapshot, at: number): BreakerEvent[] {
  const { generation, hold } = snapshot.context
  const found = { at, roll: 0.5, failure: 'server_error' } as const
  const waits = offers.includes('retryAfter') ? [SHORT, LONG] : []
  const ends = (generation: number, counts: readonly number[]): BreakerEvent[] => {
    const failed = counts.flatMap((count): BreakerEvent[] => {
      const failed = { type: 'call.failed', generation, reading: after(count), ...found } as const
      return [failed, ...waits.map((retryAfterMs) => ({ ...failed, retryAfterMs }))]
    })
    return [...failed, { type: 'call.succeeded', generation, reading: after(0), at, roll: 0.5 }]
  }
  const own = callsFlow(snapshot) ? ends(generation, counts(threshold, hold !== null)) : []
  // of the first generation there is always a call under way
  const late = generation === FIRST_GENERATION ? [] : ends(FIRST_GENERATION, [threshold])
  return [...own, ...late]
}

function probes(outside: Outside, snapshot: BreakerSnapshot, at: number, now: number): BreakerEvent[] {
  const { policy, probeLeaseMs, offers } = outside
  const { generation, trial } = snapshot.context
  // whoever asks an open circuit is refused
  if (trial === null) return callsFlow(snapshot) ? [] : [{ type: 'probe.requested', at, permit: 1 }]
  const permit = Math.max(trial.permits.length + trial.succeeded + trial.failed, ...trial.permits) + 1
  const reports = trial.permits.flatMap((permit): BreakerEvent[] => {
    const of = { generation, permit }
    const failed = { type: 'probe.failed', at, roll: 0.5, failure: 'server_error', ...of } as const
    return [
      { type: 'probe.succeeded', at, roll: 0.5, ...of },
      failed,
      ...(offers.includes('retryAfter') ? [{ ...failed, retryAfterMs: LONG }] : []),
      ...(offers.includes('neutral') ? [{ type: 'probe.released', at, ...of } as const] : []),
    ]
  })
  const isAlone = trial.permits.length === 1 && policy.halfOpenConcurrency === 1
  const lost = trial.permits.map((permit): BreakerEvent => ({
    type: 'probe.expired',
    at: now + probeLeaseMs,
    roll: 0.5,
    generation,
    permit,
  }))
  return [
    { type: 'probe.requested', at, permit },
    ...reports,
    ...(isAlone && offers.includes('probeLeaseMs') ? lost : []),
  ]
}

function commands({ offers }: Outside, snapshot: BreakerSnapshot, at: number): BreakerEvent[] {
  const can = (offer: Offer) => offers.includes(offer)
  const opened = { type: 'operator.opened', at, roll: 0.5, ...byOps } as const
  const closed = { type: 'operator.closed', at, ...byOps } as const
  const until = at + HELD_FOR
  const { hold } = snapshot.context
  // who can hold it open can also let go
  const isHeldOpen = hold !== null && !callsFlow(snapshot)
  return [
    ...(can('open') ? [opened] : []),
    ...(can(isHeldOpen ? 'holdOpen' : 'close') ? [closed] : []),
    ...(can('holdOpen') ? [{ ...opened, hold: true }] : []),
    ...(can('holdClosed') ? [{ ...closed, hold: true }] : []),
    ...(can('holdOpen') && can('holdFor') ? [{ ...opened, hold: true, until }] : []),
    ...(can('holdClosed') && can('holdFor') ? [{ ...closed, hold: true, until }] : []),
    ...(hold !== null && hold.until !== null ? [{ type: 'hold.ended', at: hold.until } as const] : []),
  ]
}

/** The breaker of some rules, with everything that can happen to it and be done from outside. */
export function outsideModel(name: string, outside: Outside): Model<typeof breakerMachine> {
  const model = breakerModel(name, outside.policy)
  return {
    ...model,
    events: (snapshot, now) => {
      const { openUntil, hold } = snapshot.context
      const end = Math.min(openUntil ?? Infinity, hold?.until ?? Infinity)
      const at = Math.max(now, Math.min(now + 10, end - 1))
      return [
        ...outcomes(outside, snapshot, at),
        ...probes(outside, snapshot, at, now),
        ...commands(outside, snapshot, at),
      ]
    },
    // after the first generation there are late calls
    key: (snapshot) =>
      `${model.key(snapshot)}${snapshot.context.generation > FIRST_GENERATION ? ' later' : ''}`,
  }
}
