import { breakerMachine } from '../../../machines/breaker.machine.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { breakerSentences } from '../../../machines/sentences.ts'
import { chartModel, forPeople } from '../chart-model.ts'
import type { ChartTransition } from '../chart-model.ts'
import { sentence } from '../words.ts'
import type { Block } from './document.ts'
import type { Stories } from './stories.ts'

const DEGRADATION: ReadonlySet<string | null> = new Set([
  'outcomeDegrades',
  'readingRecovered',
  'evidenceIsGone',
])

/** The transitions that can matter under a policy, without what only keeps machine and runtime in step. */
export function transitionsOf(policy: BreakerPolicy): readonly ChartTransition[] {
  const words = { sentences: breakerSentences(policy) }
  const { transitions } = forPeople(chartModel(breakerMachine, words))
  return transitions.filter(({ guard }) => policy.degradedAt !== null || !DEGRADATION.has(guard))
}

const EVENTS: Readonly<Record<string, string>> = {
  'call.failed': 'a call fails',
  'call.succeeded': 'a call succeeds',
  'probe.requested': 'a call asks to pass',
  'probe.succeeded': 'a probe succeeds',
  'probe.failed': 'a probe fails',
  'probe.expired': 'a probe is silent for too long',
  'probe.released': 'a probe says nothing about the target',
  'operator.opened': 'an operator opens the circuit',
  'operator.closed': 'an operator closes the circuit',
  'hold.ended': 'the time of a hold is over',
  'after cooldown': 'the open period is over',
}

/** What decides a trial is no event of its own. */
const eventInWords = ({ event, guard }: ChartTransition) => {
  if (event !== 'always') return EVENTS[event.replace(/ \(.*\)$/, '')] ?? event
  return guard === 'ratioMet' ? 'enough probes have succeeded' : 'too many probes have failed'
}

const NAMES: Readonly<Record<string, string>> = {
  breaker: 'any state',
  closed: 'closed',
  'closed.healthy': 'closed',
  'closed.degraded': 'degraded',
  'closed.held': 'closed, held',
  open: 'open',
  'open.cooling': 'open',
  'open.held': 'open, held',
  halfOpen: 'half-open',
}

const nameOf = (id: string) => NAMES[id.replace(/^breaker\./, '')] ?? id

const ASKS_HOLD = 'the operator asks for a hold'

/** From where, to where and by what: no two of them read the same. */
function titleOf(transition: ChartTransition): string {
  const { source, target, sentence: asked } = transition
  const [from, to] = [nameOf(source), nameOf(target ?? source)]
  const hold = asked === ASKS_HOLD ? ' and holds it' : ''
  const by = `${eventInWords(transition)}${hold}`
  return from === to ? `${sentence(from)}: ${by}` : `${sentence(from)} → ${to}: ${by}`
}

/** Where the state is not left, and the story shows how the trial ends right after. */
const AND_THEN = ' If that decides the trial, the circuit closes or opens at once, as the story shows.'
const DECIDES: ReadonlySet<string> = new Set(['probe.succeeded', 'probe.failed', 'probe.expired'])

/** What a guard asks, as a sentence beside a title that names the event. */
function conditionOf(asked: string): string {
  if (asked === '' || asked === ASKS_HOLD) return ''
  if (asked === 'otherwise') return 'In every other case. '
  const subject = /^(?:does|has) /.test(asked)
    ? 'it '
    : /^(?:below|not held|quiet|a probe of) /.test(asked)
      ? 'it is '
      : asked.startsWith('fewer ')
        ? 'there are '
        : ''
  return `If ${subject}${asked}. `
}

/** A transition with its story, or the reason why there is none. */
export function transitionBlock(transition: ChartTransition, stories: Stories | undefined): Block {
  const { event, sentence: asked, description, id } = transition
  // what the title says already
  const condition = event === 'always' ? '' : conditionOf(asked)
  const story = stories?.transitions.get(id)
  const never =
    stories === undefined || story !== undefined
      ? ''
      : stories.walked.complete
        ? ' Cannot happen under these rules: every way was walked, and none leads here.'
        : ` No way here was found among the ${stories.walked.places} nearest places.`
  return {
    kind: 'story',
    title: titleOf(transition),
    note: `${condition}${description}${DECIDES.has(event) ? AND_THEN : ''}${never}`,
    story,
  }
}
