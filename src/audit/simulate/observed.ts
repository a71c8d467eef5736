import type { CircuitState } from '../../../machines/circuit-state.ts'
import { NumberList } from '../replay/sorted.ts'
import { COLUMNS } from '../timeline/timeline-svg.ts'

/** What happened to one target, column by column and in all. */
export class TargetObserved {
  readonly name: string
  readonly sent = new Float64Array(COLUMNS)
  readonly failed = new Float64Array(COLUMNS)
  readonly refused = new Float64Array(COLUMNS)
  /** Failed while at least half of its requests failed. */
  wasted = 0
  /** Calls that it had begun to answer in parts, and broke off. */
  interrupted = 0
  /** Refused while nothing was wrong with it. */
  refusedHealthy = 0
  /** Calls that it answered, and what they asked for. */
  answered = 0
  input = 0
  output = 0
  probes = 0
  readonly changes: {
    readonly at: number
    readonly to: CircuitState
    readonly from: CircuitState
    readonly why: string
  }[] = []

  constructor(name: string) {
    this.name = name
  }
}

/** What happened, column by column and in all. */
export class Observed {
  readonly fromAt: number
  readonly toAt: number
  readonly targets: readonly TargetObserved[]
  readonly calls = new Float64Array(COLUMNS)
  readonly unanswered = new Float64Array(COLUMNS)
  /** Begun to be answered in parts, and broken off. */
  readonly interrupted = new Float64Array(COLUMNS)
  /** Answered by another target than the first. */
  readonly fallback = new Float64Array(COLUMNS)
  readonly latencySum = new Float64Array(COLUMNS)
  /** Of every call, in ms. */
  readonly latencies = new NumberList()
  /** Until the first part of every answer that came in parts, in ms. */
  readonly firstParts = new NumberList()

  constructor(names: readonly string[], fromAt: number, toAt: number) {
    this.fromAt = fromAt
    this.toAt = toAt
    this.targets = names.map((name) => new TargetObserved(name))
  }

  column(at: number): number {
    const share = (at - this.fromAt) / (this.toAt - this.fromAt)
    return Math.min(COLUMNS - 1, Math.max(0, Math.floor(share * COLUMNS)))
  }

  of(name: string): TargetObserved {
    return this.targets.find((target) => target.name === name)!
  }

  /** `answeredBy` = the place of the target; −1 = nobody. */
  ended(startedAt: number, durationMs: number, answeredBy: number, interrupted = false): void {
    const column = this.column(startedAt)
    this.calls[column]!++
    if (interrupted) this.interrupted[column]!++
    else if (answeredBy < 0) this.unanswered[column]!++
    if (answeredBy > 0) this.fallback[column]!++
    this.latencySum[column]! += durationMs
    this.latencies.push(durationMs)
  }
}

export const total = (columns: Float64Array): number => columns.reduce((sum, count) => sum + count, 0)
