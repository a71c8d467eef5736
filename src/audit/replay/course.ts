import type { Transition } from '../../core/transition.ts'
import { NumberList, countUpTo } from './sorted.ts'

/** What became of a row of calls under one policy. Calls that were not refused were admitted. */
export class Course {
  readonly transitions: Transition[] = []
  /** Calls admitted as probes. */
  readonly probes = new NumberList()
  readonly #from = new NumberList()
  readonly #to = new NumberList()

  /** Notes that the calls from `from` to before `to` were refused. */
  refuse(from: number, to: number): void {
    const last = this.#to.length - 1
    if (last >= 0 && this.#to.at(last) === from) this.#to.set(last, to)
    else {
      this.#from.push(from)
      this.#to.push(to)
    }
  }

  /** How many runs of refused calls there are, and each of them as first call and the one after the last. */
  get refusals(): number {
    return this.#from.length
  }

  /** How many of the calls from `from` to before `to` were refused. */
  refusedIn(from: number, to: number): number {
    let refused = 0
    for (let i = countUpTo(this.#to.all, from); i < this.#from.length; i++) {
      const [first, end] = this.refusalAt(i)
      if (first >= to) break
      refused += Math.min(end, to) - Math.max(first, from)
    }
    return refused
  }

  refusalAt(index: number): readonly [from: number, to: number] {
    return [this.#from.at(index), this.#to.at(index)]
  }
}
