import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { breakerChart, charts, drawChart } from '../../audit/charts.ts'

const NUMBERS = 'The numbers are those of this circuit.'
// hardly a gateway has more policies, and a picture takes tens of kilobytes
const MOST_KEPT = 32

/** Draws the statechart of a circuit with the numbers of its own rules; for circuits with the same rules once. */
export class CircuitCharts {
  readonly #drawn = new Map<string, Promise<string>>()

  /** As SVG; without a policy with the numbers of the default rules. */
  of(policy: BreakerPolicy | undefined): Promise<string> {
    const chart = policy === undefined ? charts[0] : breakerChart(policy, NUMBERS)
    // all that one picture of the breaker differs in from another: rules may have functions in them, words have none
    const key = JSON.stringify([chart.numbers, chart.words, chart.without])
    const drawn = this.#drawn.get(key) ?? drawChart(chart)
    this.#drawn.delete(key)
    this.#drawn.set(key, drawn)
    const [oldest = key] = this.#drawn.keys()
    if (this.#drawn.size > MOST_KEPT) this.#drawn.delete(oldest)
    drawn.catch(() => this.#drawn.delete(key))
    return drawn
  }
}
