import type { BreakerContext } from './breaker-context.ts'
import type { BreakerEvent } from './breaker-events.ts'
import { degradedQuietMs, kindTrips, readingDegrades, readingRecovers, rulesTrip } from './breaker-policy.ts'
import { cappedRetryAfter } from './cooldown.ts'
import { ratioMet, ratioMissed, slotIsFree } from './trial.ts'

interface Args {
  readonly context: BreakerContext
  readonly event: BreakerEvent
}

const isCurrent = ({ context, event }: Args) =>
  'generation' in event && event.generation === context.generation

const trips = ({ context, event }: Args) =>
  'reading' in event &&
  (rulesTrip(context.policy, event.reading) ||
    kindTrips(context.policy, 'failure' in event ? event.failure : undefined, event.reading))

const savedAs = ({ event }: Args, state: string, held: boolean) =>
  event.type === 'resumed' && event.saved.state === state && (event.saved.hold !== null) === held

/** Every guard of the breaker: pure, total, named as a product owner would say it. */
export const breakerGuards = {
  outcomeTrips: (args: Args) => isCurrent(args) && args.context.hold === null && trips(args),
  outcomeDegrades: (args: Args) =>
    isCurrent(args) &&
    !trips(args) &&
    'reading' in args.event &&
    readingDegrades(args.context.policy, args.event.reading),
  readingRecovered: (args: Args) =>
    isCurrent(args) &&
    !trips(args) &&
    'reading' in args.event &&
    readingRecovers(args.context.policy, args.event.reading),
  evidenceIsGone: ({ context, event }: Args) =>
    event.type === 'reading.aged' &&
    (event.quietMs >= degradedQuietMs(context.policy) || readingRecovers(context.policy, event.reading)),
  retryAfterLengthens: ({ context, event }: Args) =>
    event.type === 'call.failed' &&
    event.generation > 0 &&
    context.openUntil !== null &&
    event.at + cappedRetryAfter(context.policy, event.retryAfterMs) > context.openUntil,
  slotIsFree: ({ context }: Args) => context.trial !== null && slotIsFree(context.policy, context.trial),
  probeIsKnown: ({ context, event }: Args) =>
    'permit' in event &&
    'generation' in event &&
    event.generation === context.generation &&
    context.trial !== null &&
    context.trial.permits.includes(event.permit),
  ratioMet: ({ context }: Args) => context.trial !== null && ratioMet(context.policy, context.trial),
  ratioMissed: ({ context }: Args) => context.trial !== null && ratioMissed(context.policy, context.trial),
  asksHold: ({ event }: Args) => 'hold' in event && event.hold === true,
  nobodyHolds: ({ context }: Args) => context.hold === null,
  wasHeldClosed: (args: Args) => savedAs(args, 'closed', true),
  wasHeldOpen: (args: Args) => savedAs(args, 'open', true),
  wasCooling: (args: Args) => savedAs(args, 'open', false),
  wasHalfOpen: (args: Args) => savedAs(args, 'half-open', false),
} as const

export type BreakerGuard = keyof typeof breakerGuards
