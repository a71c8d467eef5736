import type { Contender } from './contenders.ts'
import type { Course } from './course.ts'
import { spreadOf } from './numbers.ts'
import type { Spread } from './numbers.ts'
import { play } from './play.ts'
import type { RecordedCircuit, Recording } from './read-outcomes.ts'
import { RecordedCalls } from './recorded-calls.ts'
import type { Assumption } from './recorded-calls.ts'
import { timeOpen } from './time-open.ts'

const ASSUMPTIONS: readonly Assumption[] = ['best', 'worst']

/** What one policy made of the recorded calls, or what was recorded. */
export interface OutcomeCount {
  readonly answered: number
  /** Sent, and failed. */
  readonly failed: number
  /** Sent, and nothing was learnt. */
  readonly neutral: number
  readonly refused: number
  /** Refused, though the recording says that it was answered. */
  readonly refusedInVain: number
  /** Refused, and the recording does not say what it would have met: it was refused then as well. */
  readonly refusedUnknown: number
  /** Sent, though the recording does not say what it would have met: it was refused then. */
  readonly assumed: number
  readonly probes: number
  readonly openings: number
  /** In ms, half-open included. */
  readonly openMs: number
}

/** One policy under one assumption. */
export interface AssumedResult {
  readonly assumption: Assumption
  readonly numbers: Readonly<Record<keyof OutcomeCount, Spread>>
  /** What happened under the first seed, and what the calls met. */
  readonly course: Course
  readonly calls: RecordedCalls
}

export interface OutcomePolicyResult extends Contender {
  readonly results: Readonly<Record<Assumption, AssumedResult>>
}

/** One circuit of a recording under several policies. */
export interface CircuitReport {
  readonly circuit: RecordedCircuit
  readonly fromAt: number
  readonly toAt: number
  readonly calls: number
  readonly recorded: OutcomeCount
  readonly policies: readonly OutcomePolicyResult[]
}

export interface OutcomeReport {
  readonly circuits: readonly CircuitReport[]
  readonly seeds: number
  readonly sample: number
  readonly unreadable: number
  /** Where the first of those lines stands, and what is wrong with it. */
  readonly firstUnreadable?: string
}

export interface OutcomeReplayOptions {
  readonly recording: Recording
  /** The policies for a circuit. */
  readonly contenders: (circuit: string) => readonly Contender[]
  /** Only this circuit. Default: all. */
  readonly only?: string | undefined
  /** How often everything is played, each time with other cooldowns. Default 20. */
  readonly seeds?: number
}

interface Job {
  readonly circuit: RecordedCircuit
  readonly contender: Contender
  readonly assumption: Assumption
  readonly counts: OutcomeCount[]
  first?: { readonly course: Course; readonly calls: RecordedCalls }
}

/** Recorded outcomes under other policies, in the best case and in the worst. It can be stopped after every step. */
export class OutcomeReplay {
  readonly #recording: Recording
  readonly #jobs: readonly Job[]
  readonly #seeds: number
  #done = 0

  constructor({ recording, contenders, only, seeds = 20 }: OutcomeReplayOptions) {
    this.#recording = recording
    this.#seeds = seeds
    this.#jobs = [...recording.circuits.values()]
      .filter(({ name }) => only === undefined || name === only)
      .flatMap((circuit) =>
        contenders(circuit.name).flatMap((contender) =>
          ASSUMPTIONS.map((assumption) => ({ circuit, contender, assumption, counts: [] })),
        ),
      )
  }

  get progress(): { readonly done: number; readonly all: number } {
    return { done: this.#done, all: this.#seeds * this.#jobs.length }
  }

  /** Plays one policy under one assumption with one seed; false = there is nothing left. */
  step(): boolean {
    const job = this.#jobs[this.#done % this.#jobs.length]
    const seed = 1 + Math.floor(this.#done / this.#jobs.length)
    if (job === undefined || seed > this.#seeds) return false
    job.counts.push(this.#count(job, seed))
    this.#done++
    return this.#done < this.progress.all
  }

  #count(job: Job, seed: number): OutcomeCount {
    const [before] = job.counts
    if (before !== undefined && !drawsCooldowns(job.contender)) return before
    const calls = job.first?.calls ?? new RecordedCalls(job.circuit.rows, job.assumption)
    calls.seed = seed
    const course = play(calls, job.contender.rules)
    job.first ??= { course, calls }
    return countOf(course, calls)
  }

  /** What has come of it so far; undefined = no seed is through. */
  report(): OutcomeReport | undefined {
    const through = this.#jobs.length === 0 ? 0 : Math.floor(this.#done / this.#jobs.length)
    if (through === 0) return undefined
    const circuits = Map.groupBy(this.#jobs, ({ circuit }) => circuit)
    const { sample, unreadable, firstUnreadable } = this.#recording
    return {
      circuits: [...circuits].map(([circuit, jobs]) => reportOf(circuit, jobs, through)),
      seeds: through,
      sample,
      unreadable,
      ...(firstUnreadable !== undefined && { firstUnreadable }),
    }
  }
}

/** Without chance every seed gives the same. */
function drawsCooldowns({ rules: { policy } }: Contender): boolean {
  return policy.backoff !== null && typeof policy.backoff !== 'function' && policy.backoff.jitter !== 'none'
}

function reportOf(circuit: RecordedCircuit, jobs: readonly Job[], through: number): CircuitReport {
  const { calls } = jobs[0]!.first!
  const policies = Map.groupBy(jobs, ({ contender }) => contender)
  const resultOf = ({ assumption, counts, first }: Job): AssumedResult => ({
    assumption,
    ...first!,
    numbers: spreadsOf(counts.slice(0, through)),
  })
  return {
    circuit,
    fromAt: calls.fromAt,
    toAt: calls.toAt,
    calls: calls.end,
    recorded: recordedCount(circuit, calls),
    policies: [...policies].map(([contender, [best, worst]]) => ({
      ...contender,
      results: { best: resultOf(best!), worst: resultOf(worst!) },
    })),
  }
}

function spreadsOf(counts: readonly OutcomeCount[]): AssumedResult['numbers'] {
  const keys = Object.keys(counts[0]!) as (keyof OutcomeCount)[]
  const entries = keys.map((key) => [key, spreadOf(counts.map((count) => count[key]))] as const)
  return Object.fromEntries(entries) as AssumedResult['numbers']
}

function countOf(course: Course, calls: RecordedCalls): OutcomeCount {
  const count = {
    answered: 0,
    failed: 0,
    neutral: 0,
    refused: 0,
    refusedInVain: 0,
    refusedUnknown: 0,
    assumed: 0,
  }
  let run = 0
  for (let call = 0; call < calls.end; call++) {
    while (run < course.refusals && course.refusalAt(run)[1] <= call) run++
    const isRefused = run < course.refusals && course.refusalAt(run)[0] <= call
    const known = calls.known(call)
    if (isRefused) {
      count.refused++
      if (known === 'success') count.refusedInVain++
      if (known === 'refused') count.refusedUnknown++
      continue
    }
    if (known === 'refused') count.assumed++
    const { outcome } = calls.outcomeOf(call)
    count[outcome === 'success' ? 'answered' : outcome === 'failure' ? 'failed' : 'neutral']++
  }
  const { transitions, probes } = course
  return {
    ...count,
    probes: probes.length,
    openings: transitions.filter(({ from, to }) => to === 'open' && from !== 'half-open').length,
    openMs: timeOpen(transitions, calls.fromAt, calls.toAt),
  }
}

function recordedCount({ transitions }: RecordedCircuit, calls: RecordedCalls): OutcomeCount {
  const count = { success: 0, failure: 0, neutral: 0, refused: 0 }
  for (let call = 0; call < calls.end; call++) count[calls.known(call)]++
  return {
    answered: count.success,
    failed: count.failure,
    neutral: count.neutral,
    refused: count.refused,
    refusedInVain: 0,
    refusedUnknown: 0,
    assumed: 0,
    probes: 0,
    openings: transitions.filter(({ from, to }) => to === 'open' && from !== 'half-open').length,
    openMs: timeOpen(transitions, calls.fromAt, calls.toAt),
  }
}
