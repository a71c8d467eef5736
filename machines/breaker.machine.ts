import { assign, setup } from 'xstate'
import * as act from './breaker-actions.ts'
import { startContext } from './breaker-context.ts'
import type { BreakerContext, BreakerInput } from './breaker-context.ts'
import type { BreakerEvent } from './breaker-events.ts'
import { breakerGuards } from './breaker-guards.ts'

type Change = (context: BreakerContext, event: BreakerEvent) => Partial<BreakerContext>

const change = (by: Change) =>
  assign<BreakerContext, BreakerEvent, undefined, BreakerEvent, never>(({ context, event }) =>
    by(context, event),
  )

/**
 * The circuit breaker of one bucket. Pure: time and chance come in with the events, the policy with the input.
 *
 * @see Michael Nygard, "Release It!" (2007), for the pattern
 */
export const breakerMachine = setup({
  types: {
    context: {} as BreakerContext,
    events: {} as BreakerEvent,
    input: {} as BreakerInput,
  },
  guards: breakerGuards,
  actions: {
    trip: change(act.trip),
    reopen: change(act.reopen),
    recover: change(act.recover),
    lengthen: change(act.lengthen),
    startTrial: change(act.startTrial),
    degrade: change(act.degrade),
    ease: change(act.ease),
    admitProbe: change(act.admitProbe),
    countSuccess: change(act.countSuccess),
    countFailure: change(act.countFailure),
    releaseProbe: change(act.releaseProbe),
    openByHand: change(act.openByHand),
    openAgain: change(act.openAgain),
    holdOpen: change(act.holdOpen),
    holdOn: change(act.holdOn),
    closeByHand: change(act.closeByHand),
    holdClosed: change(act.holdClosed),
    tryAfterHold: change(act.tryAfterHold),
    closeAfterHold: change(act.closeAfterHold),
    resumeClosed: change(act.resumeClosed),
    resumeHeldClosed: change(act.resumeHeldClosed),
    resumeHeldOpen: change(act.resumeHeldOpen),
    resumeCooling: change(act.resumeCooling),
    resumeHalfOpen: change(act.resumeHalfOpen),
  },
  delays: {
    cooldown: ({ context, event }) => Math.max(0, (context.openUntil ?? event.at) - event.at),
  },
}).createMachine({
  id: 'breaker',
  description: 'One failure domain: is it worth calling now?',
  context: ({ input }) => startContext(input),
  initial: 'closed',
  on: {
    'operator.closed': [
      {
        guard: 'asksHold',
        target: '.closed.held',
        actions: 'holdClosed',
        description: 'An operator closes the circuit and keeps it closed, whatever happens.',
      },
      {
        target: '.closed.healthy',
        actions: 'closeByHand',
        description: 'An operator closes the circuit; all counters start anew.',
      },
    ],
  },
  states: {
    closed: {
      description: 'Calls flow. Failures are counted.',
      initial: 'healthy',
      on: {
        'call.failed': {
          guard: 'outcomeTrips',
          target: 'open.cooling',
          actions: 'trip',
          description: 'A failure meets a rule: the circuit opens.',
        },
        'call.succeeded': {
          guard: 'outcomeTrips',
          target: 'open.cooling',
          actions: 'trip',
          description:
            'A success meets a rule (a slow answer, or a window now large enough): the circuit opens.',
        },
        'operator.opened': [
          {
            guard: 'asksHold',
            target: 'open.held',
            actions: 'holdOpen',
            description: 'An operator opens the circuit and keeps it open.',
          },
          {
            guard: 'nobodyHolds',
            target: 'open.cooling',
            actions: 'openByHand',
            description: 'An operator opens the circuit for one cooldown.',
          },
        ],
        resumed: [
          {
            guard: 'wasHeldClosed',
            target: 'closed.held',
            actions: 'resumeHeldClosed',
            description: 'After a restart a circuit held closed is still held.',
          },
          {
            guard: 'wasHeldOpen',
            target: 'open.held',
            actions: 'resumeHeldOpen',
            description: 'After a restart a circuit held open is still held.',
          },
          {
            guard: 'wasCooling',
            target: 'open.cooling',
            actions: 'resumeCooling',
            description: 'After a restart an open circuit waits for the rest of its cooldown.',
          },
          {
            guard: 'wasHalfOpen',
            target: 'halfOpen',
            actions: 'resumeHalfOpen',
            description: 'After a restart a trial starts afresh.',
          },
          {
            target: 'closed.healthy',
            actions: 'resumeClosed',
            description: 'After a restart a closed circuit counts from zero.',
          },
        ],
      },
      states: {
        healthy: {
          description: 'Nothing worth a remark.',
          on: {
            'call.failed': {
              guard: 'outcomeDegrades',
              target: 'degraded',
              actions: 'degrade',
              description: 'A failure brings the circuit near its threshold: reported, not refused.',
            },
            'call.succeeded': {
              guard: 'outcomeDegrades',
              target: 'degraded',
              actions: 'degrade',
              description: 'A success (slow, or completing a window) brings the circuit near its threshold.',
            },
          },
        },
        degraded: {
          description: 'Near the threshold. Calls still flow; balancing prefers healthy targets.',
          on: {
            'call.failed': {
              guard: 'readingRecovered',
              target: 'healthy',
              actions: 'ease',
              description: 'Older evidence has left the window: healthy again in spite of this failure.',
            },
            'call.succeeded': {
              guard: 'readingRecovered',
              target: 'healthy',
              actions: 'ease',
              description: 'The reading has fallen well below the threshold: healthy again.',
            },
            'reading.aged': {
              guard: 'evidenceIsGone',
              target: 'healthy',
              actions: 'ease',
              description: 'Nothing has happened for so long that the evidence is gone: healthy again.',
            },
          },
        },
        held: {
          description:
            'Kept closed by an operator. Everything is counted, nothing trips, nothing is refused.',
          on: {
            'hold.ended': {
              target: '#breaker.closed.healthy',
              reenter: true,
              actions: 'closeAfterHold',
              description: 'The hold has run out: closed, counting from zero.',
            },
          },
        },
      },
    },
    open: {
      description: 'Calls are refused at once, with a figure for when to come back.',
      initial: 'cooling',
      on: {
        'operator.opened': [
          {
            guard: 'asksHold',
            target: '.held',
            actions: 'holdOn',
            description: 'An operator keeps the open circuit open.',
          },
          {
            guard: 'nobodyHolds',
            target: '.cooling',
            actions: 'openAgain',
            description: 'An operator starts the cooldown anew; it never ends earlier than before.',
          },
        ],
      },
      states: {
        cooling: {
          description: 'Waiting for the cooldown to end.',
          after: {
            cooldown: {
              target: '#breaker.halfOpen',
              actions: 'startTrial',
              description: 'The cooldown is over: the trial begins.',
            },
          },
          on: {
            'cooldown.elapsed': {
              target: '#breaker.halfOpen',
              actions: 'startTrial',
              description: 'The cooldown is over and an admission noticed it first: the trial begins.',
            },
            'call.failed': {
              guard: 'retryAfterLengthens',
              target: 'cooling',
              reenter: true,
              actions: 'lengthen',
              description:
                'A late answer names a longer wait: the open period is lengthened, never shortened.',
            },
          },
        },
        held: {
          description:
            'Kept open by an operator. Only an operator, or the end of the time that was given, ends it.',
          on: {
            'hold.ended': {
              target: '#breaker.halfOpen',
              actions: 'tryAfterHold',
              description: 'The hold has run out: the trial begins.',
            },
          },
        },
      },
    },
    halfOpen: {
      description: 'The trial: a bounded number of calls may pass as probes, the others are refused.',
      always: [
        {
          guard: 'ratioMet',
          target: 'closed.healthy',
          actions: 'recover',
          description: 'Enough probes succeeded: the circuit closes, all counters start anew.',
        },
        {
          guard: 'ratioMissed',
          target: 'open.cooling',
          actions: 'reopen',
          description: 'Too many probes failed: the circuit opens again for a new cooldown.',
        },
      ],
      on: {
        'probe.requested': {
          guard: 'slotIsFree',
          actions: 'admitProbe',
          description: 'A slot is free: the call passes as a probe.',
        },
        'probe.succeeded': {
          guard: 'probeIsKnown',
          actions: 'countSuccess',
          description: 'A probe of this trial succeeded.',
        },
        'probe.failed': {
          guard: 'probeIsKnown',
          actions: 'countFailure',
          description: 'A probe of this trial failed.',
        },
        'probe.expired': {
          guard: 'probeIsKnown',
          actions: 'countFailure',
          description: 'A probe was silent for longer than it may be: it counts as failed.',
        },
        'probe.released': {
          guard: 'probeIsKnown',
          actions: 'releaseProbe',
          description: 'A probe says nothing about the target: its slot is free again.',
        },
        'operator.opened': [
          {
            guard: 'asksHold',
            target: 'open.held',
            actions: 'holdOpen',
            description: 'An operator ends the trial and keeps the circuit open.',
          },
          {
            target: 'open.cooling',
            actions: 'openByHand',
            description: 'An operator ends the trial and opens the circuit for one cooldown.',
          },
        ],
      },
    },
  },
})
