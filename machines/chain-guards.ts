import { backoffMs, firstToReturn, patienceEnd, plannedTarget, specialList } from './chain-context.ts'
import type { AttemptFailed, ChainContext } from './chain-context.ts'
import type { ChainEvent } from './chain-events.ts'

interface Args {
  readonly context: ChainContext
  readonly event: ChainEvent
}

const nobodyAsked = ({ ahead, asked }: ChainContext) => ahead.length === 0 && asked.length === 0

const isTimeout = (failure: string) => failure === 'timeout' || failure === 'first_content_timeout'

/** The target is not the one that the request was written for. */
const hopped = ({ plan, target, list }: ChainContext) => list !== 'chain' || target !== plan.targets[0]

function goesOn(context: ChainContext, event: AttemptFailed): boolean {
  const { failure, fallback } = event.verdict
  if (event.route !== undefined) return event.route === 'next'
  if (fallback === 'next') return true
  if (failure === 'invalid_request' || fallback === 'context-window') return hopped(context)
  return fallback === 'content-policy' && context.list !== 'chain'
}

function mayRetry(context: ChainContext, event: AttemptFailed): boolean {
  const { failure, retry } = event.verdict
  // who goes against a refusal decides nothing, and asks once
  if (retry === 'no' || !event.budget || context.lastResort || context.bypassed) return false
  if (isTimeout(failure) && context.ahead.length > 0) return false
  const { maxRetries, retry: policy } = plannedTarget(context)
  const wait = backoffMs(context, event)
  const inTime = context.plan.deadlineAt === null || event.at + wait < context.plan.deadlineAt
  return context.attempt <= maxRetries && wait <= policy.maxMs && inTime
}

function worthWaiting(context: ChainContext, at: number): boolean {
  if (!nobodyAsked(context)) return false
  const end = patienceEnd(context, at)
  // a half-open circuit may admit at any moment, so its figure is no reason to give up
  return (
    at < end &&
    context.refused.some(
      ({ reason, retryAt }) => reason === 'half-open' || (retryAt !== null && retryAt <= end),
    )
  )
}

const failed = (event: ChainEvent): event is AttemptFailed => event.type === 'attempt.failed'

/** Every guard of the chain: pure, total, named as a product owner would say it. */
export const chainGuards = {
  worthWaiting: ({ context, event }: Args) => worthWaiting(context, event.at),
  lastResortLeft: ({ context }: Args) =>
    context.plan.whenAllOpen.kind === 'last-resort' &&
    nobodyAsked(context) &&
    firstToReturn(context) !== undefined,
  nobodyLeft: ({ context }: Args) => context.ahead.length === 0,
  isNext: ({ context, event }: Args) => 'target' in event && context.ahead[0] === event.target,
  mayRetry: ({ context, event }: Args) => failed(event) && mayRetry(context, event),
  hasListOfItsOwn: ({ context, event }: Args) =>
    failed(event) &&
    event.route === undefined &&
    context.list === 'chain' &&
    specialList(context, event).length > 0,
  goesOn: ({ context, event }: Args) => failed(event) && goesOn(context, event),
  permitIsCurrent: ({ event }: Args) => event.type === 'backoff.elapsed' && event.permitIsCurrent,
} as const

export type ChainGuard = keyof typeof chainGuards
