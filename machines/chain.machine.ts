import { assign, setup } from 'xstate'
import * as act from './chain-context.ts'
import type { ChainContext, ChainInput } from './chain-context.ts'
import type { ChainEvent } from './chain-events.ts'
import { chainGuards } from './chain-guards.ts'

const change = (by: (context: ChainContext, event: ChainEvent) => Partial<ChainContext>) =>
  assign<ChainContext, ChainEvent, undefined, ChainEvent, never>(({ context, event }) => by(context, event))

/**
 * One call's way along its targets. Pure: the runtime asks, sends and waits, and reports as events;
 * the chain decides what comes next.
 */
export const chainMachine = setup({
  types: {
    context: {} as ChainContext,
    events: {} as ChainEvent,
    input: {} as ChainInput,
  },
  guards: chainGuards,
  actions: {
    skip: change(act.skip),
    beginVisit: change(act.beginVisit),
    beginLastResort: change(act.beginLastResort),
    backOff: change(act.backOff),
    tryAgain: change(act.tryAgain),
    endVisit: change(act.endVisit),
    takeSpecialList: change(act.takeSpecialList),
    waitForCircuit: change(act.waitForCircuit),
    askAgain: change(act.askAgain),
    stopWaiting: change(act.stopWaiting),
  },
}).createMachine({
  id: 'chain',
  description: 'One call on its way along its targets.',
  context: ({ input }) => act.startChain(input),
  initial: 'choosing',
  on: {
    'caller.aborted': {
      target: '.aborted',
      actions: 'stopWaiting',
      description: 'The caller hung up: nothing more is begun.',
    },
    'deadline.passed': {
      target: '.outOfTime',
      actions: 'stopWaiting',
      description: 'The time for the whole call is over.',
    },
  },
  states: {
    choosing: {
      description: 'Asking the next target for admission.',
      always: [
        {
          guard: 'worthWaiting',
          target: 'waiting',
          actions: 'waitForCircuit',
          description: 'Every circuit refuses, nobody was asked, and one returns in time: wait for it.',
        },
        {
          guard: 'lastResortLeft',
          target: 'visiting.attempting',
          actions: 'beginLastResort',
          description:
            'Every circuit refuses, nobody was asked: the one that returns first is asked all the same.',
        },
        { guard: 'nobodyLeft', target: 'exhausted', description: 'No target is left.' },
      ],
      on: {
        'target.admitted': {
          guard: 'isNext',
          target: 'visiting.attempting',
          actions: 'beginVisit',
          description: 'The circuit admits, or the caller bypasses it: the visit begins.',
        },
        'target.refused': {
          guard: 'isNext',
          target: 'choosing',
          actions: 'skip',
          description: 'The circuit refuses: on to the next target.',
        },
      },
    },
    visiting: {
      description: 'At one target, its retries included.',
      initial: 'attempting',
      states: {
        attempting: {
          description: 'A request is under way.',
          on: {
            'attempt.succeeded': { target: '#chain.succeeded', description: 'The target answered.' },
            'stream.committed': {
              target: 'committed',
              description: 'The first content has reached the reader: no other target may continue it.',
            },
            'attempt.failed': [
              {
                guard: 'mayRetry',
                target: 'backingOff',
                actions: 'backOff',
                description: 'A failure that may pass: the same target once more, after a wait.',
              },
              {
                guard: 'hasListOfItsOwn',
                target: '#chain.choosing',
                actions: 'takeSpecialList',
                description: 'The request does not fit this target: on to the list made for such requests.',
              },
              {
                guard: 'goesOn',
                target: '#chain.choosing',
                actions: 'endVisit',
                description: 'The target failed: on to the next one.',
              },
              {
                target: '#chain.stopped',
                description: 'The failure would meet the caller everywhere: the call ends here.',
              },
            ],
          },
        },
        backingOff: {
          description: 'Waiting before the next attempt at the same target.',
          on: {
            'backoff.elapsed': [
              {
                guard: 'permitIsCurrent',
                target: 'attempting',
                actions: 'tryAgain',
                description: 'The circuit has not moved meanwhile: try again.',
              },
              {
                target: '#chain.choosing',
                actions: 'endVisit',
                description: 'The circuit has moved meanwhile: on to the next target.',
              },
            ],
          },
        },
        committed: {
          description: 'The reader has content of this target.',
          on: {
            'stream.completed': {
              target: '#chain.succeeded',
              description: 'The part that completes the answer has come.',
            },
            'stream.failed': {
              target: '#chain.interrupted',
              description: 'The stream broke: the reader is told, nobody else finishes the sentence.',
            },
          },
        },
      },
    },
    waiting: {
      description: 'Every circuit refuses; waiting for the first one to return.',
      on: {
        'circuit.changed': {
          target: 'choosing',
          actions: 'askAgain',
          description: 'A circuit has moved: ask again.',
        },
        'wait.elapsed': {
          target: 'choosing',
          actions: 'askAgain',
          description: 'The wait is over: ask again.',
        },
      },
    },
    succeeded: { type: 'final', description: 'The caller has an answer.' },
    stopped: { type: 'final', description: 'Ended early: no other target would do better.' },
    exhausted: { type: 'final', description: 'Every target refused or failed.' },
    aborted: { type: 'final', description: 'The caller hung up.' },
    outOfTime: { type: 'final', description: 'The deadline passed first.' },
    interrupted: { type: 'final', description: 'A stream broke after its first content.' },
  },
})
