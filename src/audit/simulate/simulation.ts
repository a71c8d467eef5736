import { setImmediate } from 'node:timers/promises'
import type { CallReport } from '../../core/switchgear-options.ts'
import type { CallWatch } from '../../core/call-observer.ts'
import type { JournalEntry } from '../../core/journal.ts'
import { createSwitchgear } from '../../core/switchgear.ts'
import type { Switchgear } from '../../core/switchgear.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { DueQueue } from '../due-queue.ts'
import { arrivals } from './arrivals.ts'
import type { Arrival } from './arrivals.ts'
import type { Load } from './load.ts'
import { Observed } from './observed.ts'
import { ScriptedTarget } from './scripted-target.ts'

/** The wall clock at the start: a Saturday midnight. */
const START_AT = Date.UTC(2000, 0, 1)
const EMPTY = Symbol('empty')
/** Instants between two looks at whether somebody wants to stop. */
const INSTANTS = 500

/**
 * A load on a real switchgear in virtual time: its chain, retries, limits and circuits are those of the library, only the
 * providers are played. It can be stopped after every step.
 */
export class Simulation {
  readonly load: Load
  readonly observed: Observed
  readonly targets: ReadonlyMap<string, ScriptedTarget>
  readonly #clock = new VirtualClock(START_AT)
  readonly #gear: Switchgear<Arrival, unknown, unknown>
  readonly #arrivals: Generator<Arrival, void>
  readonly #due = new DueQueue<() => void>()
  #next: Arrival | undefined
  #orders = 0
  #running = 0

  constructor(load: Load) {
    this.load = load
    const names = [...load.providers.keys()]
    this.observed = new Observed(names, 0, load.durationMs)
    const seeded = (salt: number) => seededRandom(load.seed * 1009 + salt)
    this.targets = new Map(
      names.map((name, i) => [name, new ScriptedTarget(load.providers.get(name)!, seeded(i + 2))]),
    )
    this.#gear = createSwitchgear<Arrival, unknown>({
      ...load.switchgear,
      targets: load.switchgear.targets.map((target, i) => ({
        ...target,
        name: names[i]!,
        invoke: (request) => this.#answer(names[i]!, request),
        isEmpty: (answer) => answer === EMPTY,
      })),
      clock: this.#clock,
      random: seeded(0),
      journal: { append: (entry) => this.#noted(entry) },
    })
    this.#gear.on('failure', ({ target }) => this.#failed(target))
    this.#gear.observe({ begin: () => this.#watch })
    this.#arrivals = arrivals(load.traffic, load.durationMs, seeded(1))
    this.#next = this.#arrivals.next().value ?? undefined
  }

  /** ms since the start. */
  get now(): number {
    return this.#clock.now() - START_AT
  }

  get progress(): { readonly done: number; readonly all: number } {
    return { done: Math.min(this.now, this.load.durationMs), all: this.load.durationMs }
  }

  /** Goes on for a while; false = it is over, and every call has ended. */
  async step(): Promise<boolean> {
    for (let i = 0; i < INSTANTS; i++) {
      const at = Math.min(this.#next?.at ?? Infinity, this.#due.nextAt, this.#timerAt)
      const isOver = this.#next === undefined && this.#running === 0
      if (isOver) await this.#gear.close()
      // what never ends is not waited for
      if (isOver || at === Infinity) return false
      this.#clock.set(START_AT + at)
      while (this.#due.nextAt <= at) this.#due.take().item()
      while (this.#next !== undefined && this.#next.at <= at) this.#call(this.#next)
      // one turn of the event loop lets every promise that can settle do so
      await setImmediate()
    }
    return true
  }

  get #timerAt(): number {
    const { nextAt } = this.#clock
    return nextAt === undefined ? Infinity : nextAt - START_AT
  }

  #call(arrival: Arrival): void {
    this.#next = this.#arrivals.next().value ?? undefined
    this.#running++
    const report = (report: CallReport) => this.#ended(arrival, report)
    // the report says all there is to say
    this.#gear.call(arrival, { report }).catch(() => {})
  }

  #ended(arrival: Arrival, { ok, fallbackIndex, durationMs, target }: CallReport): void {
    this.#running--
    this.observed.ended(arrival.at, durationMs, ok ? fallbackIndex : -1)
    if (!ok || target === undefined) return
    const observed = this.observed.of(target)
    observed.answered++
    observed.input += arrival.input
    observed.output += arrival.output
  }

  #answer(name: string, request: Arrival): Promise<unknown> {
    const { now } = this
    this.observed.of(name).sent[this.observed.column(now)]!++
    const { ms, error, empty } = this.targets.get(name)!.fateAt(now, request)
    return new Promise((resolve, reject) => {
      if (ms === Infinity) return
      this.#due.add(now + ms, this.#orders++, () =>
        error === undefined ? resolve(empty ? EMPTY : request) : reject(error),
      )
    })
  }

  #failed(name: string): void {
    const observed = this.observed.of(name)
    observed.failed[this.observed.column(this.now)]!++
    if ((this.targets.get(name)!.faultAt(this.now)?.ratio ?? 0) >= 0.5) observed.wasted++
  }

  /** Looks on at refusals; everything else is known from elsewhere. */
  readonly #watch: CallWatch = {
    refused: (name) => {
      const observed = this.observed.of(name)
      observed.refused[this.observed.column(this.now)]!++
      if (this.targets.get(name)!.faultAt(this.now) === undefined) observed.refusedHealthy++
    },
    attempt: (_attempt, send) => send(),
    committed: () => {},
    attemptEnded: () => {},
    ended: () => {},
  }

  #noted({ bucket, event, from, to, at, saved }: JournalEntry): void {
    const targets = this.#targetsOf(bucket)
    if (event.type === 'probe.requested') for (const target of targets) target.probes++
    if (from === to) return
    for (const target of targets) target.changes.push({ at: at - START_AT, from, to, why: saved.cause.why })
  }

  /** Targets that share a circuit show the same. */
  #targetsOf(bucket: string) {
    return this.observed.targets.filter((_, i) => {
      const { bucket: own, circuitBreaker } = this.load.switchgear.targets[i]!
      const name = typeof own === 'string' ? own : this.observed.targets[i]!.name
      return circuitBreaker !== undefined && (bucket === name || bucket.startsWith(`${name}/`))
    })
  }
}
