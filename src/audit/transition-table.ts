import type { ChartModel, ChartTransition } from './chart-model.ts'

const COLUMNS: readonly (readonly [string, (transition: ChartTransition) => string])[] = [
  ['source', ({ source }) => source],
  ['event', ({ event }) => event],
  ['guard', ({ guard }) => guard ?? ''],
  ['sentence', ({ sentence }) => sentence],
  ['target', ({ target }) => target ?? ''],
  ['actions', ({ actions }) => actions.join(', ')],
  ['description', ({ description }) => description],
  ['plumbing', ({ plumbing }) => (plumbing ? 'yes' : 'no')],
]

/** Every written transition as CSV (RFC 4180). */
export function toCsv({ transitions }: ChartModel): string {
  const head = ['id', ...COLUMNS.map(([name]) => name)]
  const rows = transitions.map((each) => [each.id, ...COLUMNS.map(([, read]) => read(each))])
  return [head, ...rows].map((row) => `${row.map(csvField).join(',')}\r\n`).join('')
}

const csvField = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Every state and every written transition as a page of Markdown. */
export function toMarkdown(model: ChartModel, note = ''): string {
  const { id, description, states, transitions } = model
  const short = (state: string) => (state === id ? 'any state' : state.slice(id.length + 1))
  const told = transitions.filter(({ plumbing }) => !plumbing)
  const plumbing = transitions.filter((each) => each.plumbing)
  return [
    `# ${id}`,
    [description, note].filter((text) => text !== '').join(' '),
    `![Statechart of the ${id}](./${id}.svg)`,
    '## States',
    table(
      ['State', 'Meaning'],
      states.slice(1).map((state) => [`${code(short(state.id))}${markOf(state)}`, state.description]),
    ),
    '## Transitions',
    'Within one source and event the first row whose guard holds is taken; a state inside decides before the state around it.',
    transitionTable(told, short),
    ...(plumbing.length > 0
      ? [
          '## Plumbing',
          'These keep the machine in step with its runtime: what is overdue, what has aged, what was saved. The picture leaves them out.',
          transitionTable(plumbing, short),
        ]
      : []),
  ]
    .map((block) => `${block}\n`)
    .join('\n')
}

const markOf = ({ initial, final }: ChartModel['states'][number]) =>
  (initial ? ' (initial)' : '') + (final ? ' (final)' : '')

function transitionTable(transitions: readonly ChartTransition[], short: (state: string) => string): string {
  const rows = transitions.map(({ source, event, guard, sentence, target, actions, description }) => [
    source.includes('.') ? code(short(source)) : short(source),
    code(event),
    guard === null ? sentence : `${code(guard)}: ${sentence}`,
    target === null ? 'stays' : code(short(target)),
    actions.map(code).join(', '),
    description,
  ])
  return table(['Source', 'Event', 'Guard', 'Target', 'Actions', 'Description'], rows)
}

const code = (text: string) => `\`${text}\``

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(inCell).join(' | ')} |`).join('\n')
}

const inCell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s*\n/g, ' ')
