import { breakerMachine } from '../../../machines/breaker.machine.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { breakerSentences, tripsWhen } from '../../../machines/sentences.ts'
import type { AuditedPolicy } from '../audited.ts'
import { chartModel, forPeople } from '../chart-model.ts'
import type { ChartTransition } from '../chart-model.ts'
import { breakerChart, drawChart } from '../charts.ts'
import { lasting, plural, sentence } from '../words.ts'
import { longestOpenMs, openPeriod } from '../open-periods.ts'
import { between, consequences, longestTrialMs } from './consequences.ts'
import type { Block } from './document.ts'
import { explorePolicy } from './invariants.ts'
import type { Exploration } from './invariants.ts'
import { withOwnIds } from './own-ids.ts'
import { optionTable } from './option-table.ts'
import { storiesOf } from './stories.ts'
import type { Stories } from './stories.ts'
import { whatIf } from './what-if.ts'

/** One set of rules, with its name in the report. */
export interface NamedPolicy extends AuditedPolicy {
  readonly name: string
  readonly id: string
}

/** What a report says of one set of rules, and what was explored for it. */
export interface PolicyPart {
  readonly blocks: readonly Block[]
  readonly exploration: Exploration | undefined
}

const DEGRADATION: ReadonlySet<string | null> = new Set([
  'outcomeDegrades',
  'readingRecovered',
  'evidenceIsGone',
])

/** The transitions that can matter under a policy, without what only keeps machine and runtime in step. */
function transitionsOf(policy: BreakerPolicy): readonly ChartTransition[] {
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
  'probe.released': 'a probe ends without a verdict',
  'operator.opened': 'an operator opens the circuit',
  'operator.closed': 'an operator closes the circuit',
  'hold.ended': 'the time of a hold is over',
  'after cooldown': 'the cooldown is over',
  always: 'the evidence is in',
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

function titleOf({ source, target }: ChartTransition): string {
  const [from, to] = [nameOf(source), nameOf(target ?? source)]
  return from === to ? `${sentence(from)} stays` : `${sentence(from)} → ${to}`
}

/** What a guard asks, as the rest of a sentence that begins with its event. */
function conditionOf(asked: string): string {
  if (asked === '') return ''
  if (asked === 'otherwise') return ', in every other case'
  const subject = /^(?:does|has) /.test(asked)
    ? 'it '
    : /^(?:below|not held|quiet) /.test(asked)
      ? 'it is '
      : ''
  return `, if ${subject}${asked}`
}

function transitionBlock(transition: ChartTransition, stories: Stories | undefined): Block {
  const { event, sentence: asked, description, id } = transition
  const condition = conditionOf(asked)
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
    note: `When ${EVENTS[event] ?? event}${condition}. ${description}${never}`,
    story,
  }
}

/** Everything that a report says of one set of rules. */
export async function policyPart(policy: NamedPolicy): Promise<PolicyPart> {
  const { rules, name, id, targets } = policy
  const transitions = transitionsOf(rules.policy)
  const stories = await storiesOf(rules, new Set(transitions.map((transition) => transition.id)))
  const exploration = explorePolicy(rules.policy)
  const changed = whatIf(rules.policy)
  const svg = await drawChart(breakerChart(rules.policy, `The numbers are those of ${name}.`))
  const heading = (text: string, part: string): Block => ({
    kind: 'heading',
    level: 3,
    id: `${id}-${part}`,
    text,
  })
  return {
    exploration,
    blocks: [
      { kind: 'heading', level: 2, id, text: `The rules of ${name}` },
      { kind: 'text', text: `In force for ${targets.map(({ name }) => `**${name}**`).join(', ')}.` },
      { kind: 'answers', answers: consequences(policy) },
      heading('The chart', 'chart'),
      {
        kind: 'chart',
        svg: withOwnIds(svg, id),
        caption: `The circuit breaker with the numbers of ${name}. It opens on: ${tripsWhen(rules.policy)}.`,
      },
      heading('Every option', 'options'),
      { kind: 'table', ...optionTable(rules) },
      ...(changed.length === 0
        ? []
        : ([
            heading('What if one number were another?', 'what-if'),
            {
              kind: 'text',
              text: 'Computed for calls that fail independently of each other: how much it takes to open, how often a healthy target that fails 5 % of its calls would be shut off by mistake, and how soon it opens where a third of the calls fails.',
            },
            {
              kind: 'table',
              head: ['Rule', 'Opens after', 'By mistake', 'When a third fails'],
              rows: changed.map(({ change, isConfigured, opensAfter, byMistake, whenAThirdFails }) => [
                isConfigured ? `**${change}** (as it is)` : change,
                opensAfter,
                byMistake,
                whenAThirdFails,
              ]),
            },
          ] satisfies Block[])),
      heading('How it opens', 'opens'),
      ...openings(stories),
      heading('Every transition', 'transitions'),
      {
        kind: 'text',
        text: 'Each with the shortest story that leads to it, found by walking the machine, then played on a breaker of the library. Where chance is drawn, the stories take the middle.',
      },
      ...transitions.map((transition) => transitionBlock(transition, stories)),
      heading('What was proven', 'proof'),
      ...proof(exploration, stories),
    ],
  }
}

function openings(stories: Stories | undefined): Block[] {
  if (stories === undefined)
    return [{ kind: 'text', text: 'Code of the user’s own decides: no story can be told.' }]
  if (stories.opening.size === 0)
    return [{ kind: 'text', text: 'By itself it never does; an operator can open it.' }]
  return [...stories.opening].map(([by, story]): Block => ({
    kind: 'story',
    title: sentence(by),
    note: '',
    story,
  }))
}

function proof(exploration: Exploration | undefined, stories: Stories | undefined): Block[] {
  const walked: Block[] = stories === undefined ? [] : [{ kind: 'text', text: walkedText(stories) }]
  if (exploration === undefined) {
    return [
      ...walked,
      {
        kind: 'text',
        text: 'Too many probes to explore every configuration: the rules below were not checked for these numbers.',
      },
    ]
  }
  const { configurations, edges, invariants } = exploration
  return [
    {
      kind: 'text',
      text: `Everything that can happen to this circuit was explored: **${configurations} configurations, ${edges} steps**. What must always be true was asked of every step that it concerns.`,
    },
    {
      kind: 'table',
      head: ['Always true', 'Asked of', 'Broken'],
      rows: invariants.map(({ sentence, asked, broken }) => [
        sentence,
        asked,
        broken === 0 ? 'never' : `**${broken} times**`,
      ]),
    },
    ...walked,
  ]
}

function walkedText({ walked: { places, steps, complete, bounds }, played, failed }: Stories): string {
  const limits = [
    ...(bounds.outcomes > 0 ? [`windows of ${plural(bounds.outcomes, 'call')} at most`] : []),
    `${plural(bounds.inside, 'call')} under way at a time`,
    ...(bounds.reopens > 0 ? [`${plural(bounds.reopens, 'failed trial')} in a row told apart`] : []),
  ]
  const how = complete ? 'all there are' : 'the nearest ones, until every story was found'
  return `The stories were found among ${places} places and ${steps} steps (${how}; ${limits.join(', ')}). Each was played on a breaker of the library in virtual time: **${played} played, ${failed === 0 ? 'every one came out as told' : `${failed} came out otherwise`}**.`
}

/** What one set of rules comes to, in one sentence. */
export function inShort(policy: AuditedPolicy): string {
  const { policy: numbers, observe } = policy.rules
  const opens = opensByItself(numbers) ? `opens on ${tripsWhen(numbers)}` : 'never opens by itself'
  const worst = longestOpenMs(numbers) + longestTrialMs(policy)
  const end =
    worst === Infinity
      ? 'there is no worst case'
      : `the worst case until calls flow again is ${lasting(worst)}`
  return `${opens}; calls are then refused for ${between(openPeriod(numbers, 0))}; ${end}${observe ? '; it is only observed and refuses nobody' : ''}`
}

const opensByItself = ({ rules, kinds }: BreakerPolicy) =>
  rules.some((rule) => !('threshold' in rule && rule.threshold === Infinity)) ||
  Object.values(kinds).some(
    ({ immediateOpen, threshold }) => immediateOpen === true || threshold !== undefined,
  )
