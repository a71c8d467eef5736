import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { SUCCESS } from '../../core/execute.ts'
import type { Outcome } from '../../core/permit.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import type { Calls } from './calls.ts'
import { Evidence } from './evidence.ts'
import type { IncidentModel, Phase } from './incident-model.ts'
import { NumberList, countBelow, countUpTo } from './sorted.ts'
import type { Tokens, Traffic } from './traffic.ts'

/**
 * What every call of a traffic meets, drawn once for a seed and the same for every policy: which fail, and when that is
 * known. All others succeed.
 */
export class Fates implements Calls {
  readonly traffic: Traffic
  readonly phases: readonly Phase[]
  readonly seed: number
  readonly model: IncidentModel
  readonly end: number
  /** The calls that fail, in order. */
  readonly failing: Float64Array
  /** When each of them is known to have failed; in the same order. */
  readonly failedAt: Float64Array
  /** Successes known strictly between a failure and the one before, if all calls are admitted. */
  readonly between: Float64Array
  /** When calls that fail would have been answered, sorted. */
  readonly #missed: Float64Array
  readonly #failure: Outcome
  readonly #input: Float64Array
  readonly #output: Float64Array
  #near = 0

  constructor(traffic: Traffic, phases: readonly Phase[], seed: number, model: IncidentModel) {
    this.traffic = traffic
    this.phases = phases
    this.seed = seed
    this.model = model
    this.#failure = Object.freeze({ outcome: 'failure', failure: model.failure })
    this.end = traffic.firstAt(phases.at(-1)!.toAt)
    this.failing = drawFailing(traffic, phases, seed)
    this.failedAt = this.failing.map((call) => traffic.arrivalAt(call) + model.failureMs)
    this.#missed = this.failing.map((call) => traffic.arrivalAt(call) + traffic.latencyOf(call)).sort()
    this.#input = new Float64Array(this.failing.length + 1)
    this.#output = new Float64Array(this.failing.length + 1)
    this.failing.forEach((call, i) => {
      const { input, output } = traffic.tokensOf(call)
      this.#input[i + 1] = this.#input[i]! + input
      this.#output[i + 1] = this.#output[i]! + output
    })
    this.between = new Float64Array(this.failing.length)
    for (let i = 0; i < this.failing.length; i++) {
      const before = i === 0 ? -Infinity : this.failedAt[i - 1]!
      this.between[i] = Math.max(0, this.succeededBy(this.failedAt[i]! - 1) - this.succeededBy(before))
    }
  }

  get fromAt(): number {
    return this.phases[0]!.fromAt
  }

  get toAt(): number {
    return this.phases.at(-1)!.toAt
  }

  arrivalAt(call: number): number {
    return this.traffic.arrivalAt(call)
  }

  firstAt(at: number): number {
    return this.traffic.firstAt(at)
  }

  outcomeOf(call: number): Outcome {
    return this.fails(call) ? this.#failure : SUCCESS
  }

  evidenceFor(policy: BreakerPolicy): Evidence | undefined {
    return Evidence.of(policy, this)
  }

  fails(call: number): boolean {
    const { failing } = this
    // calls are asked about in order, but for a step back now and then
    if (this.#near > 0 && failing[this.#near - 1]! >= call) this.#near = countBelow(failing, call)
    while (this.#near < failing.length && failing[this.#near]! < call) this.#near++
    return failing[this.#near] === call
  }

  knownAt(call: number): number {
    const { traffic, model } = this
    return traffic.arrivalAt(call) + (this.fails(call) ? model.failureMs : traffic.latencyOf(call))
  }

  /** Failing calls from `from` to before `to`. */
  failures(from: number, to: number): number {
    return countBelow(this.failing, to) - countBelow(this.failing, from)
  }

  /** What the failing calls from `from` to before `to` asked for. */
  failingTokens(from: number, to: number): Tokens {
    const [first, end] = [countBelow(this.failing, from), countBelow(this.failing, to)]
    return {
      input: this.#input[end]! - this.#input[first]!,
      output: this.#output[end]! - this.#output[first]!,
    }
  }

  /** Calls known at or before `at` to have succeeded, if all are admitted. */
  succeededBy(at: number): number {
    return at === -Infinity ? 0 : this.traffic.answeredBy(at) - countUpTo(this.#missed, at)
  }

  get longestMs(): number {
    return Math.max(this.traffic.longestMs, this.model.failureMs)
  }
}

/** Draws the gaps between failing calls: what a coin for each call would give, without one for each. */
function drawFailing(traffic: Traffic, phases: readonly Phase[], seed: number): Float64Array {
  const random = seededRandom(seed)
  const failing = new NumberList()
  for (const { fromAt, toAt, failureRatio } of phases) {
    const end = traffic.firstAt(toAt)
    const scale = Math.log1p(-failureRatio)
    const gap = () => (scale === -Infinity ? 0 : Math.floor(Math.log1p(-random()) / scale))
    for (let call = traffic.firstAt(fromAt) + gap(); call < end; call += 1 + gap()) failing.push(call)
  }
  return failing.all.slice()
}
