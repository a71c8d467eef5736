import { chainMachine } from '../../../machines/chain.machine.ts'
import { chainSentences } from '../../../machines/sentences.ts'
import { chartModel, forPeople } from '../chart-model.ts'
import { charts, drawChart } from '../charts.ts'
import { exploredLaw } from '../sign/law.ts'
import type { Block } from './document.ts'
import { withOwnIds } from './own-ids.ts'

/** How a call goes along its targets: the same for every configuration, only the names and the limits are its own. */
export async function chainPart(): Promise<Block[]> {
  const model = forPeople(chartModel(chainMachine, { sentences: chainSentences }))
  const chart = charts.find(({ machine }) => machine === chainMachine)
  const short = (id: string | null) =>
    id === null ? 'stays' : id === model.id ? 'any state' : id.replace(/^chain\./, '')
  const told = exploredLaw().explored.map(
    ({ machine, configurations, edges }) => `${machine}: ${configurations} configurations, ${edges} steps`,
  )
  return [
    { kind: 'heading', level: 2, id: 'chain', text: 'How a call goes along its targets' },
    {
      kind: 'text',
      text: 'Every call follows these rules. Retries happen at one target, while its circuit lets it; then the call goes on to the next one, and never back.',
    },
    ...(chart === undefined
      ? []
      : ([
          {
            kind: 'chart',
            svg: withOwnIds(await drawChart(chart), 'call'),
            caption: 'One call on its way: choose a target, try it, wait, go on, or stop.',
          },
        ] satisfies Block[])),
    {
      kind: 'table',
      head: ['From', 'To', 'When', 'If', 'What it means'],
      rows: model.transitions.map(({ source, target, event, sentence, description }) => [
        short(source),
        short(target),
        event === 'always' ? 'as soon as' : `\`${event}\``,
        sentence,
        description,
      ]),
    },
    {
      kind: 'text',
      text: `The machines were explored over a family of policies and plans, and what they do is part of the signature: ${told.join('; ')}.`,
    },
  ]
}
