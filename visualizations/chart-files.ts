import type { AnyStateMachine } from 'xstate'
import {
  breakerMachine,
  breakerSentences,
  chainMachine,
  chainSentences,
  supervisorMachine,
  supervisorSentences,
} from '../machines/index.ts'
import { chartModel, forPeople } from '../src/audit/chart-model.ts'
import type { ChartModel, ChartWords } from '../src/audit/chart-model.ts'
import { toDot } from '../src/audit/dot.ts'
import type { DotOptions } from '../src/audit/dot.ts'
import { toMermaid } from '../src/audit/mermaid.ts'
import { toSvg } from '../src/audit/svg.ts'
import { toCsv, toMarkdown } from '../src/audit/transition-table.ts'
import { resolveBreaker } from '../src/core/breaker-options.ts'

export interface Chart extends DotOptions {
  readonly machine: AnyStateMachine
  /** Whose numbers the sentences carry. */
  readonly numbers?: string
  readonly words: ChartWords
}

/** The defaults, with degradation on: a picture of a state that is off would puzzle. */
const { policy } = resolveBreaker({ degradation: {} })

const NUMBERS = 'The numbers are those of the default policy, with degradation on.'
const LEGEND = 'Event in bold, its guard in blue.'

/** Every machine with the words and the colours it is drawn in. */
export const charts: readonly Chart[] = [
  {
    machine: breakerMachine,
    words: {
      sentences: breakerSentences(policy),
      delays: { cooldown: `${policy.cooldownMs / 1000} s` },
    },
    tones: {
      'breaker.closed': 'good',
      'breaker.closed.degraded': 'watch',
      'breaker.open': 'bad',
      'breaker.halfOpen': 'watch',
    },
    note: `${LEGEND} ${NUMBERS}`,
    numbers: NUMBERS,
  },
  {
    machine: chainMachine,
    words: { sentences: chainSentences },
    tones: {
      'chain.visiting.backingOff': 'watch',
      'chain.waiting': 'watch',
      'chain.succeeded': 'good',
      'chain.stopped': 'bad',
      'chain.exhausted': 'bad',
      'chain.outOfTime': 'bad',
      'chain.interrupted': 'bad',
    },
    note: `${LEGEND} Double border: the end.`,
  },
  {
    machine: supervisorMachine,
    words: { sentences: supervisorSentences },
    note: LEGEND,
  },
]

export const modelOf = ({ machine, words }: Chart): ChartModel => chartModel(machine, words)

/** Every generated file, by its name. */
export async function chartFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  for (const chart of charts) {
    const model = modelOf(chart)
    const { id } = model
    const drawn = forPeople(model)
    const words = { id, title: `Statechart of the ${id}`, description: inWords(drawn) }
    files.set(`${id}.svg`, await toSvg(toDot(drawn, chart), words))
    files.set(`${id}.mmd`, toMermaid(drawn))
    files.set(`${id}.md`, toMarkdown(model, chart.numbers))
    files.set(`${id}.csv`, toCsv(model))
    files.set(`${id}.json`, `${JSON.stringify(chart.machine.config, null, 2)}\n`)
  }
  return files
}

/** A picture for those who cannot see it. */
function inWords({ description, states }: ChartModel): string {
  const told = states.slice(1).map((state) => `${state.path.join('.')}: ${state.description}`)
  return [description, ...told].join(' ')
}
