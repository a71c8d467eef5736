import type { Contender } from './contenders.ts'
import { Course } from './course.ts'
import { Fates } from './fates.ts'
import { failureRatioOf, incidentModel, phasesOf } from './incident-model.ts'
import type { Incident, IncidentModel } from './incident-model.ts'
import { misled, spreads, spreadsWithout } from './numbers.ts'
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
const MAJOR = 2
const FEW_SEEDS = 1

export interface IncidentReplayOptions {
  readonly incidents: readonly Incident[]
  readonly trace: Trace
  readonly contenders: readonly Contender[]
  /** How often the year is played, each time with other luck. Default 20. */
  readonly seeds?: number
  readonly model?: IncidentModel
  readonly price?: Price | undefined
  readonly backupPrice?: Price | undefined
  /** Shares of failing calls in a major incident for which the same is played again, with the first seed. Default none. */
  readonly otherShares?: readonly number[]
}

/** What came of it where another share of the calls fails in a major incident. */
export interface OtherShare {
  readonly share: number
  readonly seeds: number
  readonly best: string
  /** Means, policy by policy. */
  readonly policies: readonly { readonly name: string; readonly misled: number; readonly openings: number }[]
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
  readonly trace: {
    readonly calls: number
    readonly periodMs: number
    readonly rounds: number
    /** The longest time without a call, in ms. */
    readonly pauseMs: number
  }
  readonly fromAt: number
  readonly toAt: number
  /** Calls of one seed. */
  readonly calls: number
  readonly policies: readonly PolicyResult[]
  /** The same calls with no breaker before them. */
  readonly without: Readonly<Record<string, Spread>>
  readonly verdict: Verdict
  /** In how many of the seeds the best is the best. */
  readonly bestIn: number
  /** From the smallest share to the largest, the one that was assumed among them; empty where none was asked for. */
  readonly otherShares: readonly OtherShare[]
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
  readonly #without: Tally[] = []
  readonly #others: { readonly share: number; replay?: IncidentReplay }[]
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
    const isMajor = incidents.some(({ impact }) => impact === MAJOR)
    const { otherShares = [] } = options
    this.#others = otherShares
      .filter((share) => isMajor && share !== model.failureRatios[MAJOR])
      .map((share) => ({ share }))
    this.#first = this.#fates = this.#draw(1)
  }

  #draw(seed: number): Fates {
    const { incidents, model } = this.#options
    return new Fates(this.#traffic, phasesOf(incidents, model, this.#fromAt, this.#toAt), seed, model)
  }

  /** Steps done, and steps there are. */
  get progress(): { readonly done: number; readonly all: number } {
    const { seeds, contenders } = this.#options
    const [main, other] = [seeds * contenders.length, this.#fewSeeds * contenders.length]
    const done = this.#others.reduce((sum, { replay }) => sum + (replay?.progress.done ?? 0), this.#done)
    return { done, all: main + other * this.#others.length }
  }

  /** Plays one policy with one seed; false = there is nothing left. */
  step(): boolean {
    const { contenders, incidents, seeds } = this.#options
    const seed = 1 + Math.floor(this.#done / contenders.length)
    if (seed > seeds) return this.#stepOther()
    if (seed !== this.#fates.seed) this.#fates = this.#draw(seed)
    const place = this.#done % contenders.length
    if (place === 0) this.#without.push(tally(new Course(), this.#fates, incidents))
    const course = play(this.#fates, contenders[place]!.rules)
    if (seed === 1) this.#courses.push(course)
    this.#tallies[place]!.push(tally(course, this.#fates, incidents))
    this.#done++
    return this.progress.done < this.progress.all
  }

  /** One is enough to see whether the order is another, as seeds differ by far less than policies do. */
  get #fewSeeds(): number {
    return Math.min(FEW_SEEDS, this.#options.seeds)
  }

  #stepOther(): boolean {
    const { model } = this.#options
    const next = this.#others.find(({ replay }) => replay === undefined || !replay.isThrough)
    if (next === undefined) return false
    next.replay ??= new IncidentReplay({
      ...this.#options,
      seeds: this.#fewSeeds,
      model: { ...model, failureRatios: { ...model.failureRatios, [MAJOR]: next.share } },
      otherShares: [],
    })
    next.replay.step()
    return this.progress.done < this.progress.all
  }

  get isThrough(): boolean {
    const { done, all } = this.progress
    return done === all
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
    const verdict = verdictOf(policies)
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
        pauseMs: longestPause(trace),
      },
      fromAt: this.#fromAt,
      toAt: this.#toAt,
      calls: this.#first.end,
      policies,
      without: spreadsWithout(this.#without.slice(0, through), context),
      verdict,
      bestIn: seedsWonBy(verdict.best, policies),
      otherShares: this.#sharesPlayed({ policies, verdict, seeds: through }),
      fates: this.#first,
      context,
    }
  }

  #sharesPlayed(own: Pick<IncidentReport, 'policies' | 'verdict' | 'seeds'>): OtherShare[] {
    const played = this.#others.flatMap(({ share, replay }) => {
      const report = replay?.isThrough === true ? replay.report() : undefined
      return report === undefined ? [] : [shareOf(share, report)]
    })
    if (played.length === 0) return []
    const assumed = shareOf(this.#options.model.failureRatios[MAJOR] ?? 0, own)
    return [...played, assumed].toSorted((a, b) => a.share - b.share)
  }
}

function shareOf(
  share: number,
  { policies, verdict, seeds }: Pick<IncidentReport, 'policies' | 'verdict' | 'seeds'>,
): OtherShare {
  return {
    share,
    seeds,
    best: verdict.best,
    policies: policies.map(({ name, numbers }) => ({
      name,
      misled: numbers['misled']?.mean ?? 0,
      openings: numbers['openings']?.mean ?? 0,
    })),
  }
}

/** In how many seeds nobody has fewer calls that went wrong. */
function seedsWonBy(best: string, policies: readonly PolicyResult[]): number {
  const all = policies.map(({ tallies }) => tallies.map(misled))
  const own = all[policies.findIndex(({ name }) => name === best)] ?? []
  return own.filter((count, seed) => all.every((other) => count <= (other[seed] ?? Infinity))).length
}

function longestPause({ calls, periodMs }: Trace): number {
  const nexts = [...calls.slice(1).map(({ atMs }) => atMs), periodMs + calls[0]!.atMs]
  return calls.reduce((longest, { atMs }, i) => Math.max(longest, nexts[i]! - atMs), 0)
}
