import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { tripsWhen } from '../../../machines/sentences.ts'
import type { AuditedPolicy } from '../audited.ts'
import { breakerChart, drawChart } from '../charts.ts'
import { between, lasting, sentence } from '../words.ts'
import { openPeriod } from '../open-periods.ts'
import { consequences } from './consequences.ts'
import type { Block } from './document.ts'
import { explorePolicy } from './invariants.ts'
import type { Exploration } from './invariants.ts'
import { withOwnIds } from './own-ids.ts'
import { proof } from './proof-part.ts'
import { optionTable } from './option-table.ts'
import { storiesOf } from './stories.ts'
import type { Stories } from './stories.ts'
import { refused } from './refused.ts'
import type { Traffic } from './traffic.ts'
import { transitionBlock, transitionsOf } from './transition-part.ts'
import { whatIfBlocks } from './what-if-part.ts'

/** One set of rules, with its name in the report. */
export interface NamedPolicy extends AuditedPolicy {
  readonly name: string
  readonly id: string
}

/** What a report says of one set of rules, and what was explored for it. */
export interface PolicyPart {
  /** What is to be understood before anybody signs. */
  readonly blocks: readonly Block[]
  /** What it rests on: the chart, every option, every transition with its story, what was proven. */
  readonly annex: readonly Block[]
  readonly exploration: Exploration | undefined
}

/** Everything that a report says of one set of rules. */
export async function policyPart(policy: NamedPolicy, traffic: Traffic): Promise<PolicyPart> {
  const { rules, name, id, targets } = policy
  const transitions = transitionsOf(rules.policy)
  const stories = await storiesOf(rules, new Set(transitions.map((transition) => transition.id)))
  const exploration = explorePolicy(rules.policy)
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
      { kind: 'answers', answers: consequences(policy, traffic) },
      ...whatIfBlocks(rules.policy, id, traffic),
    ],
    annex: [
      { kind: 'heading', level: 2, id: `${id}-annex`, text: `Annex, the rules of ${name} step by step` },
      heading('The chart', 'chart'),
      {
        kind: 'chart',
        svg: withOwnIds(svg, id),
        caption: `The circuit breaker with the numbers of ${name}. It opens on: ${tripsWhen(rules.policy)}.`,
      },
      heading('Every option', 'options'),
      { kind: 'table', ...optionTable(rules) },
      heading('How it opens', 'opens'),
      ...openings(stories),
      heading('Every transition', 'transitions'),
      {
        kind: 'text',
        text: 'Each with the shortest story that leads to it: found by a search, then played on the breaker that serves calls, with a clock that is set by hand. Where chance draws a time, the stories take the middle.',
      },
      ...transitions.map((transition) => transitionBlock(transition, stories)),
      heading('What was proven', 'proof'),
      ...proof(exploration, stories),
    ],
  }
}

function openings(stories: Stories | undefined): Block[] {
  if (stories === undefined)
    return [{ kind: 'text', text: 'Code of your own decides: no story can be told.' }]
  if (stories.opening.size === 0)
    return [{ kind: 'text', text: 'By itself it never does; an operator can open it.' }]
  return [...stories.opening].map(([by, story]): Block => ({
    kind: 'story',
    title: sentence(by),
    note: '',
    story,
  }))
}

/** What one set of rules comes to, in one sentence. */
export function inShort(policy: AuditedPolicy): string {
  const { policy: numbers, observe } = policy.rules
  const opens = opensByItself(numbers) ? `opens on ${tripsWhen(numbers)}` : 'never opens by itself'
  const { worstMs } = refused(policy)
  const end =
    worstMs === Infinity
      ? 'until calls flow again there is no worst case'
      : `once the provider is well, it takes ${lasting(worstMs)} at worst until calls flow again`
  return `${opens}; calls are then refused for ${between(openPeriod(numbers, 0))}, and for longer if the provider stays down; ${end}${observe ? '; it is only observed and refuses nobody' : ''}`
}

const opensByItself = ({ rules, kinds }: BreakerPolicy) =>
  rules.some((rule) => !('threshold' in rule && rule.threshold === Infinity)) ||
  Object.values(kinds).some(
    ({ immediateOpen, threshold }) => immediateOpen === true || threshold !== undefined,
  )
