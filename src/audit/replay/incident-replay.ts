import type { Contender } from './contenders.ts'
import type { Course } from './course.ts'
import { Fates } from './fates.ts'
import { failureRatioOf, incidentModel, phasesOf } from './incident-model.ts'
import type { Incident, IncidentModel } from './incident-model.ts'
import { spreads } from './numbers.ts'
import type { NumbersContext, Price, Spread } from './numbers.ts'
import { play } from './play.ts'
import type { Trace } from './read-trace.ts'
import { tally } from './tally.ts'
import type { Tally } from './tally.ts'
import { Traffic } from './traffic.ts'
import { verdictOf } from './verdict.ts'
import type { Verdict } from './verdict.ts'

/** Around the incidents, in ms. */
const MARGIN_MS = 3_600_000

export interface IncidentReplayOptions {
  readonly incidents: readonly Incident[]
  readonly trace: Trace
  readonly contenders: readonly Contender[]
  /** How often the year is played, each time with other luck. Default 20. */
  readonly seeds?: number
  readonly model?: IncidentModel
  readonly price?: Price | undefined
  readonly backupPrice?: Price | undefined
}

/** What came of one policy. */
export interface PolicyResult extends Contender {
  readonly numbers: Readonly<Record<string, Spread>>
  readonly tallies: readonly Tally[]
  /** What happened under the first seed. */
  readonly course: Course
}

/** What came of a replay. */
export interface IncidentReport {
  readonly incidents: readonly Incident[]
  readonly outages: number
  readonly model: IncidentModel
  /** Seeds that every policy was played with. */
  readonly seeds: number
  readonly seedsWanted: number
  readonly trace: { readonly calls: number; readonly periodMs: number; readonly rounds: number }
  readonly fromAt: number
  readonly toAt: number
  /** Calls of one seed. */
  readonly calls: number
  readonly policies: readonly PolicyResult[]
  readonly verdict: Verdict
  /** What the calls of the first seed met. */
  readonly fates: Fates
  readonly context: NumbersContext
}

/** Real incidents over real traffic, policy by policy, seed by seed. It can be stopped after every step. */
export class IncidentReplay {
  readonly #options: Required<Pick<IncidentReplayOptions, 'seeds' | 'model'>> & IncidentReplayOptions
  readonly #traffic: Traffic
  readonly #fromAt: number
  readonly #toAt: number
  readonly #tallies: Tally[][]
  readonly #courses: Course[] = []
  #fates: Fates
  #first: Fates
  #done = 0

  constructor(options: IncidentReplayOptions) {
    const { seeds = 20, model = incidentModel, incidents, trace } = options
    this.#options = { ...options, seeds, model }
    this.#fromAt = incidents[0]!.startAt - MARGIN_MS
    this.#toAt = Math.max(...incidents.map(({ endAt }) => endAt)) + MARGIN_MS
    this.#traffic = new Traffic(trace.calls, trace.periodMs, this.#fromAt)
    this.#tallies = options.contenders.map(() => [])
    this.#first = this.#fates = this.#draw(1)
  }

  #draw(seed: number): Fates {
    const { incidents, model } = this.#options
    return new Fates(this.#traffic, phasesOf(incidents, model, this.#fromAt, this.#toAt), seed, model)
  }

  /** Steps done, and steps there are. */
  get progress(): { readonly done: number; readonly all: number } {
    return { done: this.#done, all: this.#options.seeds * this.#options.contenders.length }
  }

  /** Plays one policy with one seed; false = there is nothing left. */
  step(): boolean {
    const { contenders, incidents, seeds } = this.#options
    const seed = 1 + Math.floor(this.#done / contenders.length)
    if (seed > seeds) return false
    if (seed !== this.#fates.seed) this.#fates = this.#draw(seed)
    const place = this.#done % contenders.length
    const course = play(this.#fates, contenders[place]!.rules)
    if (seed === 1) this.#courses.push(course)
    this.#tallies[place]!.push(tally(course, this.#fates, incidents))
    this.#done++
    return this.#done < this.progress.all
  }

  /** What has come of it so far; undefined = no seed is through. */
  report(): IncidentReport | undefined {
    const { contenders, incidents, model, seeds, price, backupPrice, trace } = this.#options
    const through = Math.floor(this.#done / contenders.length)
    if (through === 0) return undefined
    const lastedMs = new Map(incidents.map(({ name, startAt, endAt }) => [name, endAt - startAt]))
    const context = { backupAvailability: model.backupAvailability, lastedMs, price, backupPrice }
    const policies = contenders.map((contender, i) => {
      const tallies = this.#tallies[i]!.slice(0, through)
      return { ...contender, tallies, numbers: spreads(tallies, context), course: this.#courses[i]! }
    })
    return {
      incidents,
      outages: incidents.filter((one) => failureRatioOf(model, one) >= model.outageRatio).length,
      model,
      seeds: through,
      seedsWanted: seeds,
      trace: {
        calls: trace.calls.length,
        periodMs: trace.periodMs,
        rounds: Math.ceil((this.#toAt - this.#fromAt) / trace.periodMs),
      },
      fromAt: this.#fromAt,
      toAt: this.#toAt,
      calls: this.#first.end,
      policies,
      verdict: verdictOf(policies),
      fates: this.#first,
      context,
    }
  }
}
