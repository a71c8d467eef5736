import type { Cause, Hold } from './breaker-events.ts'
import type { BreakerPolicy } from './breaker-policy.ts'
import { freshTrial } from './trial.ts'
import type { Trial } from './trial.ts'

/** What a breaker knows beside its state. A field is null in every state that does not need it. */
export interface BreakerContext {
  /** The rules; injected, never persisted. */
  readonly policy: BreakerPolicy
  /** Grows at every entry of closed, open and half-open. A permit of another generation decides nothing. */
  readonly generation: number
  /** Trials that failed since the last recovery or manual close. */
  readonly reopens: number
  /** Why the circuit is in its present state. */
  readonly cause: Cause
  /** When the present state was entered. */
  readonly since: number
  /** Open: when the cooldown or the hold began. Elsewhere null. */
  readonly openedAt: number | null
  /** Open and cooling: the cooldown as it was drawn, in ms. Elsewhere null. */
  readonly cooldownMs: number | null
  /** Open and cooling: when the trial may begin. Elsewhere null. */
  readonly openUntil: number | null
  /** Held open or held closed: by whom and until when. Elsewhere null. */
  readonly hold: Hold | null
  /** Half-open: what the trial has found so far. Elsewhere null. */
  readonly trial: Trial | null
}

type Changes = Partial<BreakerContext>

export interface BreakerInput {
  readonly policy: BreakerPolicy
  readonly at: number
}

export function startContext({ policy, at }: BreakerInput): BreakerContext {
  const cause: Cause = { why: 'started' }
  const nothing = { openedAt: null, cooldownMs: null, openUntil: null, hold: null, trial: null }
  return { policy, generation: 1, reopens: 0, cause, since: at, ...nothing }
}

/** Entering closed: everything of the outage is forgotten. */
export function enterClosed(
  context: BreakerContext,
  at: number,
  cause: Cause,
  hold: Hold | null = null,
): Changes {
  const nothing = { openedAt: null, cooldownMs: null, openUntil: null, trial: null }
  return { generation: context.generation + 1, reopens: 0, cause, since: at, hold, ...nothing }
}

/** Entering open to cool down until `openUntil`. */
export function enterCooling(
  context: BreakerContext,
  at: number,
  cause: Cause,
  cooldownMs: number,
  openUntil: number,
): Changes {
  const cooling = { openedAt: at, cooldownMs, openUntil, hold: null, trial: null }
  return { generation: context.generation + 1, cause, since: at, ...cooling }
}

/** Entering open on an operator's hold. */
export function enterHeldOpen(context: BreakerContext, at: number, cause: Cause, hold: Hold): Changes {
  const held = { openedAt: at, cooldownMs: null, openUntil: null, hold, trial: null }
  return { generation: context.generation + 1, cause, since: at, ...held }
}

/** Entering half-open with a fresh trial. */
export function enterHalfOpen(context: BreakerContext, at: number, cause: Cause): Changes {
  const trying = { openedAt: null, cooldownMs: null, openUntil: null, hold: null, trial: freshTrial }
  return { generation: context.generation + 1, cause, since: at, ...trying }
}
