import { assign, emit, enqueueActions, setup } from 'xstate'
import type { AnyActorRef } from 'xstate'
import { breakerMachine } from './breaker.machine.ts'
import type { BreakerEvent } from './breaker-events.ts'
import type { BreakerPolicy } from './breaker-policy.ts'

/** A breaker to be spawned. */
export interface WantedBreaker {
  readonly bucket: string
  readonly policy: BreakerPolicy
}

export interface SupervisorContext {
  /** The policy of every bucket that has a breaker now. */
  readonly breakers: Readonly<Record<string, BreakerPolicy>>
  /** Chains under way. */
  readonly chains: number
  /** Breakers that failed and were replaced. */
  readonly replaced: number
}

interface At {
  readonly at: number
}

/** What an operator tells one breaker. */
export type OperatorCommand = Extract<BreakerEvent, { type: 'operator.opened' | 'operator.closed' }>

/** An actor's error, as XState reports it to the parent. */
interface ActorFailed {
  readonly type: `xstate.error.actor.${string}`
  readonly actorId: string
  readonly error: unknown
}

export type SupervisorEvent =
  | ({ readonly type: 'breakers.wanted'; readonly wanted: readonly WantedBreaker[] } & At)
  | ({ readonly type: 'breaker.evicted'; readonly bucket: string } & At)
  | ({ readonly type: 'operator.commanded'; readonly bucket: string; readonly command: OperatorCommand } & At)
  | ({ readonly type: 'chain.started'; readonly call: string; readonly chain: AnyActorRef } & At)
  | ({ readonly type: 'chain.ended'; readonly call: string } & At)

/** What an observer of the supervisor hears. */
export type SupervisorNotice =
  | { readonly type: 'chain.started'; readonly call: string; readonly chain: AnyActorRef }
  | { readonly type: 'chain.ended'; readonly call: string }
  | { readonly type: 'breaker.replaced'; readonly bucket: string; readonly message: string }

const textOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown error').slice(0, 200)

// '#_' begins an address of XState's own; that of a child called so has it twice
const addressOf = (bucket: string) => (bucket.startsWith('#_') ? `#_${bucket}` : bucket)

/**
 * The root of a switchgear: spawns and keeps the breakers, is told of every chain, passes operators' commands on.
 * Chains are roots of their own, because the cost of a child grows with the number of its siblings.
 */
export const supervisorMachine = setup({
  types: {
    context: {} as SupervisorContext,
    events: {} as SupervisorEvent | ActorFailed,
    emitted: {} as SupervisorNotice,
  },
  actors: { breaker: breakerMachine },
  guards: {
    bucketIsKnown: ({ context, event }) => 'bucket' in event && Object.hasOwn(context.breakers, event.bucket),
    breakerIsKnown: ({ context, event }) =>
      'actorId' in event && Object.hasOwn(context.breakers, event.actorId),
  },
  actions: {
    // one assign for all: each spawn of its own copies the list of children again
    spawnBreakers: assign(({ context, event, spawn }) => {
      if (event.type !== 'breakers.wanted') return {}
      const breakers = { ...context.breakers }
      for (const { bucket, policy } of event.wanted) {
        if (Object.hasOwn(breakers, bucket)) continue
        breakers[bucket] = policy
        spawn('breaker', { id: bucket, input: { policy, at: event.at } })
      }
      return { breakers }
    }),
    stopBreaker: enqueueActions(({ enqueue, event, context }) => {
      if (event.type !== 'breaker.evicted') return
      const { [event.bucket]: _gone, ...breakers } = context.breakers
      enqueue.stopChild(event.bucket)
      enqueue.assign({ breakers })
    }),
    replaceBreaker: enqueueActions(({ enqueue, event, context }) => {
      const policy = 'actorId' in event ? context.breakers[event.actorId] : undefined
      if (policy === undefined || !('actorId' in event)) return
      enqueue.stopChild(event.actorId)
      enqueue.spawnChild('breaker', { id: event.actorId, input: { policy, at: 0 } })
      enqueue.assign({ replaced: context.replaced + 1 })
      enqueue.emit({ type: 'breaker.replaced', bucket: event.actorId, message: textOf(event.error) })
    }),
    passCommandOn: enqueueActions(({ enqueue, event }) => {
      if (event.type === 'operator.commanded') enqueue.sendTo(addressOf(event.bucket), event.command)
    }),
    countChain: assign({ chains: ({ context }) => context.chains + 1 }),
    uncountChain: assign({ chains: ({ context }) => Math.max(0, context.chains - 1) }),
    tellStart: emit(({ event }) =>
      event.type === 'chain.started'
        ? { type: 'chain.started' as const, call: event.call, chain: event.chain }
        : { type: 'chain.ended' as const, call: '' },
    ),
    tellEnd: emit(({ event }) => ({
      type: 'chain.ended' as const,
      call: event.type === 'chain.ended' ? event.call : '',
    })),
  },
}).createMachine({
  id: 'supervisor',
  description: 'Keeps one breaker a bucket and knows every call that has begun to fail.',
  context: { breakers: {}, chains: 0, replaced: 0 },
  initial: 'running',
  states: {
    running: {
      description: 'Breakers are spawned on first use and live until they are evicted.',
      on: {
        'breakers.wanted': {
          actions: 'spawnBreakers',
          description: 'A bucket is used for the first time: its breaker is spawned, closed.',
        },
        'breaker.evicted': {
          guard: 'bucketIsKnown',
          actions: 'stopBreaker',
          description: 'A bucket has to make room: its breaker is stopped.',
        },
        'xstate.error.actor.*': [
          {
            guard: 'breakerIsKnown',
            actions: 'replaceBreaker',
            description: 'A breaker failed: a new one takes its place and resumes from the last snapshot.',
          },
          // without this an unhandled failure would end the supervisor and every breaker with it
          { description: 'An actor that is kept no more failed: nobody misses it.' },
        ],
        'operator.commanded': {
          guard: 'bucketIsKnown',
          actions: 'passCommandOn',
          description: 'An operator opens or closes a circuit by hand.',
        },
        'chain.started': {
          actions: ['countChain', 'tellStart'],
          description: 'A call has failed once or has to wait: its chain is registered.',
        },
        'chain.ended': { actions: ['uncountChain', 'tellEnd'], description: 'A chain has ended.' },
      },
    },
  },
})
