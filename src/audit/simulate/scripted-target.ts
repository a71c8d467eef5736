import { httpError, transportError } from '../../testing/scenario/provider-error.ts'
import type { Arrival } from './arrivals.ts'
import type { Answer, Fault, LatencyModel, Provider } from './load.ts'
import type { StreamFate } from './scripted-stream.ts'

// the 95th percentile of a normal distribution, in standard deviations
const P95 = 1.6449
// between two parts of a stream where nothing says how long
const PART_MS = 100

/** What one request gets. */
export interface Fate {
  /** When, in ms from now; Infinity = never. Of a stream, its first part. */
  readonly ms: number
  /** undefined = an answer. */
  readonly error: Error | undefined
  readonly empty: boolean
  /** How it goes on, where it is read in parts. */
  readonly stream: StreamFate | undefined
}

/** A provider in virtual time: chance and its faults decide what a request gets. */
export class ScriptedTarget {
  readonly provider: Provider
  readonly #random: () => number
  readonly #streams: boolean
  readonly #errors = new Map<Answer, Error>()

  /** `streams` = its answers are read in parts. */
  constructor(provider: Provider, random: () => number, streams = false) {
    this.provider = provider
    this.#random = random
    this.#streams = streams
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
    const luck = this.#random()
    const one = this.#random()
    const other = this.#random()
    const fails = luck < (fault?.ratio ?? failures)
    const answer = !fails ? undefined : fault === undefined ? failure : fault.answer
    if (answer !== undefined && answer.cut === undefined && answer.stall === undefined)
      return this.#noAnswer(answer, fault === undefined ? failureMs : fault.latencyMs)
    const slow = fault?.slow ?? 1
    return {
      ms: Math.round(latencyOf(latency, one, other, this.#streams ? 0 : arrival.output) * slow),
      error: undefined,
      empty: false,
      stream: this.#streams ? this.#streamOf(answer, arrival, slow) : undefined,
    }
  }

  #noAnswer(answer: Answer, ms: number): Fate {
    const empty = answer.empty === true
    return {
      ms: answer.hang === true ? Infinity : ms,
      error: empty || answer.hang === true ? undefined : this.#errorOf(answer),
      empty,
      stream: this.#streams && empty ? { everyMs: 0, parts: 0, end: 'whole' } : undefined,
    }
  }

  #streamOf(broken: Answer | undefined, { output }: Arrival, slow: number): StreamFate {
    const { latency, stream } = this.provider
    const { parts, everyMs = latency.kind === 'tokens' ? (latency.perToken * output) / parts : PART_MS } =
      stream
    const share = broken?.cut ?? broken?.stall ?? 1
    const end = broken === undefined ? 'whole' : broken.cut === undefined ? 'stall' : 'cut'
    return { everyMs: Math.round(everyMs * slow), parts: Math.floor(parts * share), end }
  }

  #errorOf(answer: Answer): Error {
    const known = this.#errors.get(answer)
    if (known !== undefined) return known
    const error = answer.error === undefined ? httpError(answer) : transportError(answer.error)
    this.#errors.set(answer, error)
    return error
  }
}

function latencyOf(model: LatencyModel, one: number, other: number, output: number): number {
  switch (model.kind) {
    case 'fixed':
      return model.ms
    case 'tokens':
      return model.answer + model.perToken * output
    case 'spread':
      return model.median * (Math.max(model.p95, model.median) / model.median) ** (normal(one, other) / P95)
  }
}

/** A number from a normal distribution, of two even ones (Box and Muller). */
const normal = (one: number, other: number) =>
  Math.sqrt(-2 * Math.log1p(-one)) * Math.cos(2 * Math.PI * other)
