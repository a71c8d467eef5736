import { httpError, transportError } from '../../testing/scenario/provider-error.ts'
import type { ScriptEntry } from '../../testing/scenario/scenario.ts'
import type { Arrival } from './arrivals.ts'
import type { Fault, LatencyModel, Provider } from './load.ts'

// the 95th percentile of a normal distribution, in standard deviations
const P95 = 1.6449

/** What one request gets. */
export interface Fate {
  /** When, in ms from now; Infinity = never. */
  readonly ms: number
  /** undefined = an answer. */
  readonly error: Error | undefined
  readonly empty: boolean
}

/** A provider in virtual time: chance and its faults decide what a request gets. */
export class ScriptedTarget {
  readonly provider: Provider
  readonly #random: () => number
  readonly #errors = new Map<ScriptEntry, Error>()

  constructor(provider: Provider, random: () => number) {
    this.provider = provider
    this.#random = random
  }

  /** The worst fault at a moment; undefined = it is as usual. */
  faultAt(at: number): Fault | undefined {
    let worst: Fault | undefined
    for (const fault of this.provider.faults) {
      if (fault.fromAt <= at && at < fault.toAt && (worst === undefined || fault.ratio > worst.ratio))
        worst = fault
    }
    return worst
  }

  fateAt(at: number, arrival: Arrival): Fate {
    const fault = this.faultAt(at)
    const { failures, failure, failureMs, latency } = this.provider
    // drawn in any case: what comes later must not depend on it
    const [luck, spread] = [this.#random(), normal(this.#random(), this.#random())]
    if (luck < (fault?.ratio ?? failures)) {
      const answer = fault === undefined ? failure : fault.answer
      if (answer.hang === true) return { ms: Infinity, error: undefined, empty: false }
      const ms = fault === undefined ? failureMs : fault.latencyMs
      return {
        ms,
        error: answer.empty === true ? undefined : this.#errorOf(answer),
        empty: answer.empty === true,
      }
    }
    return {
      ms: Math.round(latencyOf(latency, spread, arrival) * (fault?.slow ?? 1)),
      error: undefined,
      empty: false,
    }
  }

  #errorOf(answer: ScriptEntry): Error {
    const known = this.#errors.get(answer)
    if (known !== undefined) return known
    const error = answer.error === undefined ? httpError(answer) : transportError(answer.error)
    this.#errors.set(answer, error)
    return error
  }
}

function latencyOf(model: LatencyModel, spread: number, { output }: Arrival): number {
  switch (model.kind) {
    case 'fixed':
      return model.ms
    case 'tokens':
      return model.answer + model.perToken * output
    case 'spread':
      return model.median * (Math.max(model.p95, model.median) / model.median) ** (spread / P95)
  }
}

/** A number from a normal distribution, of two even ones (Box and Muller). */
const normal = (one: number, other: number) =>
  Math.sqrt(-2 * Math.log1p(-one)) * Math.cos(2 * Math.PI * other)
