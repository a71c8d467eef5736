import type { AnyStateMachine } from 'xstate'
import {
  breakerMachine,
  breakerSentences,
  chainMachine,
  chainSentences,
  supervisorMachine,
  supervisorSentences,
} from '../../machines/index.ts'
import type { BreakerPolicy } from '../../machines/index.ts'
import { resolveBreaker } from '../core/breaker-options.ts'
import { chartModel, forPeople } from './chart-model.ts'
import type { ChartModel, ChartWords } from './chart-model.ts'
import { openPeriod } from './open-periods.ts'
import { toDot } from './dot.ts'
import type { DotOptions } from './dot.ts'
import { toSvg } from './svg.ts'
import { lasting } from './words.ts'

export interface Chart extends DotOptions {
  readonly machine: AnyStateMachine
  /** Whose numbers the sentences carry. */
  readonly numbers?: string
  /** Ids of states and transitions that cannot happen: the picture leaves them out. */
  readonly without?: readonly string[]
  readonly words: ChartWords
}

const NUMBERS = 'The numbers are those of the default policy, with degradation on.'
const LEGEND = 'Event in bold, its guard in blue.'

function cooldownInWords(policy: BreakerPolicy): string {
  const { leastMs, mostMs } = openPeriod(policy, 0)
  return leastMs === mostMs ? lasting(mostMs) : `${lasting(leastMs)} to ${lasting(mostMs)}`
}

/** The breaker, with the numbers of a policy. */
export const breakerChart = (policy: BreakerPolicy, numbers: string): Chart => ({
  machine: breakerMachine,
  words: { sentences: breakerSentences(policy), delays: { cooldown: cooldownInWords(policy) } },
  tones: {
    'breaker.closed': 'good',
    'breaker.closed.degraded': 'watch',
    'breaker.open': 'bad',
    'breaker.halfOpen': 'watch',
  },
  note: `${LEGEND} ${numbers}`,
  numbers,
  without: policy.degradedAt === null ? ['breaker.closed.degraded'] : [],
})

/** Every machine with the words and the colours it is drawn in. */
export const charts: readonly [Chart, ...Chart[]] = [
  // a picture of a state that is off would puzzle
  breakerChart(resolveBreaker({ degradation: {} }).policy, NUMBERS),
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

/** A chart as an SVG that stands by itself. */
export function drawChart(chart: Chart): Promise<string> {
  const model = modelOf(chart)
  const drawn = withoutIds(forPeople(model), chart.without ?? [])
  const { id } = model
  return toSvg(toDot(drawn, chart), { id, title: `Statechart of the ${id}`, description: inWords(drawn) })
}

function withoutIds(model: ChartModel, ids: readonly string[]): ChartModel {
  const isLeftOut = (id: string | null) => id !== null && ids.includes(id)
  return {
    ...model,
    states: model.states.filter(({ id }) => !isLeftOut(id)),
    transitions: model.transitions.filter(({ id, source, target }) => ![id, source, target].some(isLeftOut)),
  }
}

/** A picture for those who cannot see it. */
function inWords({ description, states }: ChartModel): string {
  const told = states.slice(1).map((state) => `${state.path.join('.')}: ${state.description}`)
  return [description, ...told].join(' ')
}
