import type { ChainEvent, ChainPlan, PlannedTarget, Refusal } from './chain-events.ts'
import { retryWait } from './retry.ts'

/** What a chain knows beside its state. */
export interface ChainContext {
  /** The call's plan; injected, never persisted. */
  readonly plan: ChainPlan
  /** Targets still to be tried, in order. */
  readonly ahead: readonly string[]
  /** Which list `ahead` comes from. */
  readonly list: 'chain' | 'context-window' | 'content-policy'
  /** The target being visited; null between visits. */
  readonly target: string | null
  /** Attempts of the present visit; 0 between visits. */
  readonly attempt: number
  /** Targets visited, in order. None is visited twice. */
  readonly asked: readonly string[]
  /** What refused since the chain last began. */
  readonly refused: readonly Refusal[]
  /** The present visit goes against a refusal, because nobody else is left. */
  readonly lastResort: boolean
  /** The present visit goes against a refusal, because the caller bypasses the circuit. */
  readonly bypassed: boolean
  /** Backing off or waiting: until when. Elsewhere null. */
  readonly waitUntil: number | null
  /** Until when the call may wait for a circuit at all; null = it has not waited yet. */
  readonly patienceUntil: number | null
}

type Changes = Partial<ChainContext>
type Change = (context: ChainContext, event: ChainEvent) => Changes
export type AttemptFailed = Extract<ChainEvent, { type: 'attempt.failed' }>

export interface ChainInput {
  readonly plan: ChainPlan
}

const nowhere = { target: null, attempt: 0, waitUntil: null, lastResort: false, bypassed: false } as const

export function startChain({ plan }: ChainInput): ChainContext {
  return { plan, ahead: plan.targets, list: 'chain', asked: [], refused: [], ...nowhere, patienceUntil: null }
}

const noRetry: PlannedTarget = { name: '', maxRetries: 0, retry: { baseMs: 0, multiplier: 1, maxMs: 0 } }

export function plannedTarget(context: ChainContext): PlannedTarget {
  return context.plan.known[context.target ?? ''] ?? noRetry
}

/** The wait before a retry after this failure, in ms. */
export function backoffMs(context: ChainContext, event: AttemptFailed): number {
  const { failure, retryAfterMs } = event.verdict
  return retryWait(plannedTarget(context).retry, context.attempt, event.roll, failure, retryAfterMs)
}

/** Targets of the failure's own list that have not been visited. */
export function specialList(context: ChainContext, event: AttemptFailed): readonly string[] {
  const route = event.verdict.fallback
  if (context.plan.noFallback === true) return []
  if (route !== 'context-window' && route !== 'content-policy') return []
  // a target may be called like a property that every object has
  const lists = context.plan.lists[route]
  const target = context.target ?? ''
  const listed = (Object.hasOwn(lists, target) ? lists[target] : undefined) ?? []
  return [...new Set(listed)].filter((name) => !context.asked.includes(name))
}

/** The refusal that ends first, held circuits left out; undefined = none ends by itself. */
export function firstToReturn(context: ChainContext): Refusal | undefined {
  const returning = context.refused.filter(({ reason, retryAt }) => reason !== 'held' && retryAt !== null)
  return returning.reduce<Refusal | undefined>(
    (first, next) => (first === undefined || (next.retryAt ?? 0) < (first.retryAt ?? 0) ? next : first),
    undefined,
  )
}

/** When waiting for a circuit has to end: the user's patience, and the deadline. */
export function patienceEnd(context: ChainContext, at: number): number {
  const { whenAllOpen, deadlineAt } = context.plan
  const patience = whenAllOpen.kind === 'wait' ? at + whenAllOpen.waitMs : at
  return Math.min(context.patienceUntil ?? patience, deadlineAt ?? Infinity)
}

export const skip: Change = (context, event) =>
  event.type === 'target.refused'
    ? { ahead: context.ahead.slice(1), refused: [...context.refused, refusalOf(event)] }
    : {}

const refusalOf = ({ target, reason, retryAt }: Refusal): Refusal => ({ target, reason, retryAt })

const visit = (context: ChainContext, target: string): Changes => ({
  target,
  attempt: 1,
  asked: [...context.asked, target],
  waitUntil: null,
})

export const beginVisit: Change = (context, event) =>
  event.type === 'target.admitted'
    ? {
        ...visit(context, event.target),
        // nobody ahead, nobody else to go to: whatever ends the visit, the call ends with it
        ahead: context.plan.noFallback === true ? [] : context.ahead.slice(1),
        bypassed: event.bypassed === true,
      }
    : {}

export const beginLastResort: Change = (context) => ({
  ...visit(context, firstToReturn(context)?.target ?? ''),
  lastResort: true,
})

export const backOff: Change = (context, event) =>
  event.type === 'attempt.failed' ? { waitUntil: event.at + backoffMs(context, event) } : {}

export const tryAgain: Change = (context) => ({ attempt: context.attempt + 1, waitUntil: null })

export const endVisit: Change = () => nowhere

export const takeSpecialList: Change = (context, event) => {
  if (event.type !== 'attempt.failed') return {}
  const route = event.verdict.fallback
  const list = route === 'content-policy' ? route : 'context-window'
  return { ...nowhere, ahead: specialList(context, event), list }
}

/** Until a circuit returns or patience ends, whichever is first. */
export const waitForCircuit: Change = (context, event) => {
  const patienceUntil = patienceEnd(context, event.at)
  const returns = context.refused
    .filter(({ reason, retryAt }) => reason === 'open' && retryAt !== null)
    .map(({ retryAt }) => retryAt ?? Infinity)
  return { patienceUntil, waitUntil: Math.min(patienceUntil, ...returns) }
}

/** The call is over, whatever it was waiting for. */
export const stopWaiting: Change = () => ({ waitUntil: null })

/** The chain begins anew: those that refused are asked again. */
export const askAgain: Change = (context) => ({
  ahead: context.refused.map(({ target }) => target),
  refused: [],
  waitUntil: null,
})
