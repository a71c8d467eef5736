import { chainMachine } from '../../../machines/chain.machine.ts'
import { chainSentences } from '../../../machines/sentences.ts'
import type { Audited } from '../audited.ts'
import { chartModel, forPeople } from '../chart-model.ts'
import type { ChartTransition } from '../chart-model.ts'
import { charts, drawChart } from '../charts.ts'
import { longestVisitMs } from '../longest-visit.ts'
import { exploredLaw } from '../sign/law.ts'
import { grouped, lasting, listed } from '../words.ts'
import type { Block } from './document.ts'
import { withOwnIds } from './own-ids.ts'

const STATES: Readonly<Record<string, string>> = {
  chain: 'anywhere',
  choosing: 'choosing a target',
  'visiting.attempting': 'a request is under way',
  'visiting.backingOff': 'waiting for a retry',
  'visiting.committed': 'the answer streams',
  waiting: 'waiting for a circuit',
  succeeded: '**answered**',
  stopped: '**ended early**',
  exhausted: '**nobody left**',
  aborted: '**hung up**',
  outOfTime: '**out of time**',
  interrupted: '**broken off**',
}

const EVENTS: Readonly<Record<string, string>> = {
  always: 'at once',
  'caller.aborted': 'the caller hangs up',
  'deadline.passed': 'the deadline passes',
  'target.admitted': 'its circuit admits the call',
  'target.refused': 'its circuit refuses the call',
  'attempt.succeeded': 'the target answers',
  'attempt.failed': 'the attempt fails',
  'stream.committed': 'the first content reaches the reader',
  'stream.completed': 'the answer is complete',
  'stream.failed': 'the stream breaks',
  'backoff.elapsed': 'the wait is over',
  'circuit.changed': 'a circuit moves',
  'wait.elapsed': 'the wait is over',
}

/** What a configuration switches off: in words, as states, and as transitions. */
interface Off {
  readonly words: string
  readonly state?: string
  readonly isOff: (transition: ChartTransition) => boolean
}

function switchedOff({ targets, whenAllOpen, deadlineMs, ...lists }: Audited): Off[] {
  const noList = [lists.contextWindowFallbacks, lists.contentPolicyFallbacks].every(
    (list) => Object.keys(list).length === 0,
  )
  const off: (Off | false)[] = [
    whenAllOpen.kind !== 'wait' && {
      words: 'waiting until a circuit returns (`whenAllOpen: { waitMs }`)',
      state: 'chain.waiting',
      isOff: ({ guard, source }) => guard === 'worthWaiting' || source === 'chain.waiting',
    },
    whenAllOpen.kind !== 'last-resort' && {
      words: 'a last resort (`whenAllOpen: last-resort`)',
      isOff: ({ guard }) => guard === 'lastResortLeft',
    },
    deadlineMs === undefined && {
      words: 'a deadline for the whole call (`deadlineMs`; a single call may still bring its own)',
      state: 'chain.outOfTime',
      isOff: ({ event }) => event === 'deadline.passed',
    },
    noList && {
      words: 'lists for long prompts and refused content',
      isOff: ({ guard }) => guard === 'hasListOfItsOwn',
    },
    targets.every(({ maxRetries }) => maxRetries === 0) && {
      words: 'retries (`maxRetries`)',
      state: 'chain.visiting.backingOff',
      isOff: ({ guard, source }) => guard === 'mayRetry' || source === 'chain.visiting.backingOff',
    },
  ]
  return off.filter((each) => each !== false)
}

/** How a call goes along its targets, without what is switched off here. */
export async function chainPart(audited: Audited): Promise<Block[]> {
  const model = forPeople(chartModel(chainMachine, { sentences: chainSentences }))
  const chart = charts.find(({ machine }) => machine === chainMachine)
  const off = switchedOff(audited)
  const isLeftOut = (transition: ChartTransition) => off.some(({ isOff }) => isOff(transition))
  const without = [
    ...off.flatMap(({ state }) => state ?? []),
    ...model.transitions.filter(isLeftOut).map(({ id }) => id),
  ]
  const nameOf = (id: string) => STATES[id.replace(/^chain\./, '')] ?? id
  const transitions = model.transitions.filter((transition) => !isLeftOut(transition))
  return [
    { kind: 'heading', level: 2, id: 'chain', text: 'Annex, how a call goes along its targets' },
    {
      kind: 'text',
      text: 'Every call follows these rules. Retries happen at one target, while its circuit lets it; then the call goes on to the next one, and never back.',
    },
    ...(chart === undefined
      ? []
      : ([
          {
            kind: 'chart',
            svg: withOwnIds(await drawChart({ ...chart, without }), 'call'),
            caption: 'One call on its way: choose a target, try it, wait, go on, or stop.',
            isWide: true,
          },
        ] satisfies Block[])),
    ...(off.length === 0
      ? []
      : ([
          {
            kind: 'text',
            text: `Left out, because it is off in this configuration: ${listed(off.map(({ words }) => words))}.`,
          },
        ] satisfies Block[])),
    { kind: 'table', ...limits(audited) },
    {
      kind: 'table',
      head: ['While', 'When', 'If', 'Then', 'What it means'],
      rows: transitions.map(({ source, target, event, sentence, description }) => [
        nameOf(source),
        EVENTS[event] ?? event,
        sentence === 'otherwise' ? 'none of the above' : sentence,
        target === null ? 'it stays so' : nameOf(target),
        description,
      ]),
    },
    { kind: 'text', text: tried() },
  ]
}

/** The numbers of a visit. */
function limits({ targets }: Audited): { head: readonly string[]; rows: string[][] } {
  return {
    head: [
      'At one target',
      'An attempt ends after',
      'Attempts at most',
      'Wait before a retry',
      'All of it at most',
    ],
    rows: targets.map((target) => {
      const { name, timeoutMs, maxRetries, retry } = target
      const wait =
        maxRetries === 0
          ? 'no retry'
          : `by chance up to ${lasting(retry.baseMs)}, × ${retry.multiplier} for each, or what the provider asks for; ${lasting(retry.maxMs)} at most`
      return [
        name,
        lasting(timeoutMs),
        `${maxRetries + 1}; of a hang 1, where another target is left`,
        wait,
        lasting(longestVisitMs(target)),
      ]
    }),
  }
}

const MACHINES: Readonly<Record<string, string>> = {
  breaker: 'the circuit breaker',
  chain: 'the way of a call',
  supervisor:
    'the supervisor, which keeps one circuit breaker for each circuit and starts each call on its way',
}

function tried(): string {
  const told = exploredLaw().explored.map(
    ({ machine, configurations, edges }) =>
      `${MACHINES[machine] ?? machine}: ${grouped(configurations)} situations, ${grouped(edges)} steps`,
  )
  return `The program that decides has three parts. What each does was tried out, over a choice of rules and chains, and is part of the signature: ${told.join('; ')}.`
}
