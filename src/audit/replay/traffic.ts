import { countBelow, countUpTo } from './sorted.ts'

/** One call of a trace. */
export interface TracedCall {
  /** ms since the first call. */
  readonly atMs: number
  /** What its answer takes, in ms. */
  readonly latencyMs: number
  readonly inputTokens: number
  readonly outputTokens: number
}

/** What a stretch of calls asked for. */
export interface Tokens {
  readonly input: number
  readonly output: number
}

/**
 * A trace that repeats without end: call `i` for any `i`, in closed form. It knows when calls arrive, and when they were
 * answered if every one of them succeeded.
 */
export class Traffic {
  readonly startAt: number
  /** Calls of one round. */
  readonly size: number
  /** Length of one round, in ms. */
  readonly periodMs: number
  /** The longest latency, in ms. */
  readonly longestMs: number
  readonly #arrivals: Float64Array
  readonly #latencies: Float64Array
  readonly #answers: Float64Array
  readonly #input: Float64Array
  readonly #output: Float64Array

  /** @param periodMs how long one round takes; no shorter than the trace */
  constructor(calls: readonly TracedCall[], periodMs: number, startAt: number) {
    this.startAt = startAt
    this.size = calls.length
    this.periodMs = periodMs
    this.#arrivals = Float64Array.from(calls, ({ atMs }) => atMs)
    this.#latencies = Float64Array.from(calls, ({ latencyMs }) => Math.max(1, latencyMs))
    this.#answers = this.#arrivals.map((at, i) => at + this.#latencies[i]!).sort()
    this.longestMs = this.#latencies.reduce((longest, ms) => Math.max(longest, ms), 0)
    this.#input = sums(calls.map(({ inputTokens }) => inputTokens))
    this.#output = sums(calls.map(({ outputTokens }) => outputTokens))
  }

  arrivalAt(call: number): number {
    const round = Math.floor(call / this.size)
    return this.startAt + round * this.periodMs + this.#arrivals[call - round * this.size]!
  }

  latencyOf(call: number): number {
    return this.#latencies[call % this.size]!
  }

  /** The first call that arrives at or after `at`. */
  firstAt(at: number): number {
    const since = at - this.startAt
    if (since <= 0) return 0
    const round = Math.floor(since / this.periodMs)
    return round * this.size + countBelow(this.#arrivals, since - round * this.periodMs)
  }

  /** How many calls are answered at or before `at`, if every one succeeds. */
  answeredBy(at: number): number {
    const since = at - this.startAt
    let answered = 0
    for (let round = Math.floor(since / this.periodMs); round >= 0; round--) {
      const inRound = countUpTo(this.#answers, since - round * this.periodMs)
      if (inRound === this.size) return answered + (round + 1) * this.size
      answered += inRound
    }
    return answered
  }

  tokensOf(call: number): Tokens {
    const place = call % this.size
    return {
      input: this.#input[place + 1]! - this.#input[place]!,
      output: this.#output[place + 1]! - this.#output[place]!,
    }
  }

  /** What the calls from `from` to before `to` ask for. */
  tokens(from: number, to: number): Tokens {
    return {
      input: this.#sum(this.#input, to) - this.#sum(this.#input, from),
      output: this.#sum(this.#output, to) - this.#sum(this.#output, from),
    }
  }

  #sum(sums: Float64Array, call: number): number {
    const round = Math.floor(call / this.size)
    return round * sums[this.size]! + sums[call - round * this.size]!
  }
}

function sums(values: readonly number[]): Float64Array {
  const all = new Float64Array(values.length + 1)
  values.forEach((value, i) => (all[i + 1] = all[i]! + value))
  return all
}
