import type { OutcomeRow } from './outcome-row.ts'

/**
 * Leaves out successes of which there are many: what is not a success is always written, and so is the first success after
 * it. Of the others every n-th is, and says for how many it stands: counts and runs of failures stay exact.
 */
export class OutcomeSampler {
  readonly #every: number
  readonly #circuits = new Map<string, { calm: boolean; waiting: number; last: OutcomeRow | undefined }>()

  /** @param sample share of the uneventful successes that is written, in (0, 1] */
  constructor(sample: number) {
    this.#every = Math.max(1, Math.round(1 / sample))
  }

  /** The rows to write for one outcome. */
  rowsFor(row: OutcomeRow): readonly OutcomeRow[] {
    if (this.#every === 1) return [row]
    const name = row.circuit ?? row.target
    const state = this.#circuits.get(name) ?? { calm: false, waiting: 0, last: undefined }
    this.#circuits.set(name, state)
    if (row.outcome !== 'success') {
      state.calm = false
      return [...this.#waiting(state), row]
    }
    if (!state.calm) {
      state.calm = true
      return [row]
    }
    state.waiting++
    state.last = row
    return state.waiting < this.#every ? [] : this.#waiting(state)
  }

  /** What was left out so far, before the end. */
  rest(): OutcomeRow[] {
    return [...this.#circuits.values()].flatMap((state) => this.#waiting(state))
  }

  #waiting(state: { waiting: number; last: OutcomeRow | undefined }): OutcomeRow[] {
    const { waiting: n, last } = state
    state.waiting = 0
    return n === 0 || last === undefined ? [] : [n === 1 ? last : { ...last, n }]
  }
}
