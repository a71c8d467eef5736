import { enterClosed, enterCooling, enterHalfOpen, enterHeldOpen } from './breaker-context.ts'
import type { BreakerContext } from './breaker-context.ts'
import type { BreakerEvent, Cause, Hold, SavedCircuit } from './breaker-events.ts'
import { kindTrips } from './breaker-policy.ts'
import { cappedRetryAfter, drawCooldown, longestCooldown } from './cooldown.ts'
import { withoutProbe } from './trial.ts'
import type { Trial } from './trial.ts'
import { nearestRule } from './tripping.ts'
import type { Reading } from './tripping.ts'

type Changes = Partial<BreakerContext>
type OperatorEvent = Extract<BreakerEvent, { type: 'operator.opened' | 'operator.closed' }>

const rollOf = (event: BreakerEvent) => ('roll' in event ? event.roll : 0)
const failureOf = (event: BreakerEvent) => ('failure' in event ? event.failure : undefined)
const retryAfterOf = (event: BreakerEvent) => ('retryAfterMs' in event ? event.retryAfterMs : undefined)

const isOperator = (event: BreakerEvent): event is OperatorEvent =>
  event.type === 'operator.opened' || event.type === 'operator.closed'

const operatorCause = (event: BreakerEvent): Cause =>
  isOperator(event) ? { why: 'operator', by: event.by, reason: event.reason } : { why: 'operator' }

const holdOf = (event: BreakerEvent): Hold =>
  isOperator(event)
    ? { until: event.until ?? null, by: event.by, reason: event.reason }
    : { until: null, by: '', reason: '' }

const savedOf = (event: BreakerEvent): SavedCircuit | undefined =>
  event.type === 'resumed' ? event.saved : undefined

/** What was counted, and which rule that brings nearest to its threshold. */
function evidence({ policy: { rules } }: BreakerContext, reading: Reading | undefined): Partial<Cause> {
  if (reading === undefined) return {}
  const at = nearestRule(rules, reading.rules)
  const kind = rules[at]?.kind
  return { reading, ...(kind !== undefined && { rule: { at, kind } }) }
}

/** The policy or the kind tripped: a cooldown is drawn. */
export function trip(context: BreakerContext, event: BreakerEvent): Changes {
  const { policy, reopens } = context
  const failure = failureOf(event)
  const reading = 'reading' in event ? event.reading : undefined
  const byKind = reading !== undefined && kindTrips(policy, failure, reading)
  const cause: Cause = {
    why: byKind ? 'kind_tripped' : 'tripped',
    ...(failure !== undefined && { failure }),
    ...(byKind ? { reading } : evidence(context, reading)),
  }
  const drawn = drawCooldown(policy, reopens, rollOf(event), failure)
  const cooldownMs = Math.max(drawn, cappedRetryAfter(policy, retryAfterOf(event)))
  return enterCooling(context, event.at, cause, cooldownMs, event.at + cooldownMs)
}

/** The trial failed: one more reopening, a new and usually longer cooldown. */
export function reopen(context: BreakerContext, event: BreakerEvent): Changes {
  const reopens = context.reopens + 1
  const failure = context.trial?.failure ?? undefined
  const drawn = drawCooldown(context.policy, reopens, rollOf(event), failure)
  const openUntil = Math.max(event.at + drawn, context.trial?.retryUntil ?? 0)
  const cause: Cause = {
    why: 'trial_missed',
    ...(failure !== undefined && { failure }),
    trial: counts(context.trial),
  }
  return { ...enterCooling(context, event.at, cause, openUntil - event.at, openUntil), reopens }
}

/** The trial succeeded. */
export function recover(context: BreakerContext, event: BreakerEvent): Changes {
  return enterClosed(context, event.at, { why: 'trial_met', trial: counts(context.trial) })
}

const counts = (trial: Trial | null) => ({ succeeded: trial?.succeeded ?? 0, failed: trial?.failed ?? 0 })

/** A straggler's Retry-After moves the end of the open period back. */
export function lengthen(context: BreakerContext, event: BreakerEvent): Changes {
  const until = event.at + cappedRetryAfter(context.policy, retryAfterOf(event))
  return { openUntil: Math.max(context.openUntil ?? 0, until) }
}

/** The cooldown is over: the trial begins at its deadline, whoever noticed it. */
export function startTrial(context: BreakerContext): Changes {
  return enterHalfOpen(context, context.openUntil ?? context.since, { why: 'cooldown_over' })
}

export function degrade(context: BreakerContext, event: BreakerEvent): Changes {
  const reading = 'reading' in event ? event.reading : undefined
  const failure = failureOf(event)
  return {
    since: event.at,
    cause: { why: 'degraded', ...evidence(context, reading), ...(failure !== undefined && { failure }) },
  }
}

export function ease(_context: BreakerContext, event: BreakerEvent): Changes {
  return { since: event.at, cause: { why: event.type === 'reading.aged' ? 'went_quiet' : 'eased' } }
}

export function admitProbe({ trial }: BreakerContext, event: BreakerEvent): Changes {
  if (trial === null || event.type !== 'probe.requested') return {}
  return { trial: { ...trial, permits: [...trial.permits, event.permit] } }
}

const permitOf = (event: BreakerEvent) => ('permit' in event ? event.permit : -1)

export function countSuccess({ trial }: BreakerContext, event: BreakerEvent): Changes {
  return trial === null
    ? {}
    : { trial: withoutProbe(trial, permitOf(event), { succeeded: trial.succeeded + 1 }) }
}

export function countFailure({ trial, policy }: BreakerContext, event: BreakerEvent): Changes {
  if (trial === null) return {}
  const wait = cappedRetryAfter(policy, retryAfterOf(event))
  const found = {
    failed: trial.failed + 1,
    failure: failureOf(event) ?? 'probe_lost',
    retryUntil: wait > 0 ? Math.max(trial.retryUntil ?? 0, event.at + wait) : trial.retryUntil,
  }
  return { trial: withoutProbe(trial, permitOf(event), found) }
}

export function releaseProbe({ trial }: BreakerContext, event: BreakerEvent): Changes {
  return trial === null ? {} : { trial: withoutProbe(trial, permitOf(event), {}) }
}

/** An operator opens: a cooldown from now, like a trip. */
export function openByHand(context: BreakerContext, event: BreakerEvent): Changes {
  const cooldownMs = drawCooldown(context.policy, context.reopens, rollOf(event), undefined)
  return enterCooling(context, event.at, operatorCause(event), cooldownMs, event.at + cooldownMs)
}

/** An operator opens an open circuit: a new cooldown from now, never an earlier end; still the same opening. */
export function openAgain(context: BreakerContext, event: BreakerEvent): Changes {
  const cooldownMs = drawCooldown(context.policy, context.reopens, rollOf(event), undefined)
  const openUntil = Math.max(context.openUntil ?? 0, event.at + cooldownMs)
  return { cause: operatorCause(event), openedAt: event.at, cooldownMs: openUntil - event.at, openUntil }
}

export function holdOpen(context: BreakerContext, event: BreakerEvent): Changes {
  return enterHeldOpen(context, event.at, operatorCause(event), holdOf(event))
}

/** An operator holds a circuit that is open already: still the same opening. */
export function holdOn(context: BreakerContext, event: BreakerEvent): Changes {
  const { openedAt, cooldownMs, openUntil, hold, cause } = holdOpen(context, event) as BreakerContext
  return { openedAt, cooldownMs, openUntil, hold, cause }
}

export function closeByHand(context: BreakerContext, event: BreakerEvent): Changes {
  return enterClosed(context, event.at, operatorCause(event))
}

export function holdClosed(context: BreakerContext, event: BreakerEvent): Changes {
  return enterClosed(context, event.at, operatorCause(event), holdOf(event))
}

const holdEnd: Cause = { why: 'hold_ended' }

export function tryAfterHold(context: BreakerContext, event: BreakerEvent): Changes {
  return enterHalfOpen(context, event.at, holdEnd)
}

export function closeAfterHold(context: BreakerContext, event: BreakerEvent): Changes {
  return enterClosed(context, event.at, holdEnd)
}

/** Back after a restart: the reopen count survives, permits and counters do not. */
function restored(
  context: BreakerContext,
  event: BreakerEvent,
): [BreakerContext, Cause, SavedCircuit | undefined] {
  const saved = savedOf(event)
  const generation = Math.max(context.generation, saved?.generation ?? 0)
  const reopens = saved?.reopens ?? 0
  return [{ ...context, generation, reopens }, { why: 'restored' }, saved]
}

export function resumeClosed(context: BreakerContext, event: BreakerEvent): Changes {
  const [before, cause] = restored(context, event)
  return enterClosed(before, event.at, cause)
}

export function resumeHeldClosed(context: BreakerContext, event: BreakerEvent): Changes {
  const [before, cause, saved] = restored(context, event)
  return enterClosed(before, event.at, saved?.cause ?? cause, saved?.hold ?? null)
}

export function resumeHeldOpen(context: BreakerContext, event: BreakerEvent): Changes {
  const [before, cause, saved] = restored(context, event)
  const hold = saved?.hold ?? holdOf(event)
  return {
    ...enterHeldOpen(before, saved?.openedAt ?? event.at, saved?.cause ?? cause, hold),
    reopens: before.reopens,
  }
}

/** XState does not re-arm a restored delay (statelyai/xstate#5331): the absolute deadline does. */
export function resumeCooling(context: BreakerContext, event: BreakerEvent): Changes {
  const [before, cause, saved] = restored(context, event)
  const drawn = saved?.cooldownMs ?? before.policy.cooldownMs
  const openUntil = Math.min(saved?.openUntil ?? event.at, event.at + longestCooldown(before.policy, drawn))
  const openedAt = Math.min(saved?.openedAt ?? event.at, event.at)
  const cooling = enterCooling(before, openedAt, saved?.cause ?? cause, drawn, openUntil)
  return { ...cooling, reopens: before.reopens }
}

export function resumeHalfOpen(context: BreakerContext, event: BreakerEvent): Changes {
  const [before, cause, saved] = restored(context, event)
  // a trial that goes on keeps its reason; one that is due by now has begun with the restart
  const why = saved?.state === 'half-open' ? saved.cause : cause
  return { ...enterHalfOpen(before, event.at, why), reopens: before.reopens }
}
