import { createSwitchgear } from '../../core/switchgear.ts'
import type { Switchgear } from '../../core/switchgear.ts'
import type { CallReport } from '../../core/switchgear-options.ts'
import type { PartKind } from '../../core/target-options.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { DueQueue } from '../due-queue.ts'
import { arrivals } from './arrivals.ts'
import type { Arrival } from './arrivals.ts'
import type { Load } from './load.ts'
import { Lookout } from './lookout.ts'
import { Observed } from './observed.ts'
import { ScriptedStream } from './scripted-stream.ts'
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
  readonly #targets: readonly ScriptedTarget[]
  readonly #clock = new VirtualClock(START_AT)
  readonly #gear: Switchgear<Arrival, unknown, PartKind>
  readonly #arrivals: Generator<Arrival, void>
  readonly #due = new DueQueue<() => void>()
  #next: Arrival | undefined
  #orders = 0
  #running = 0
  /** Promises may have something to say before time goes on. */
  #unsaid = false

  constructor(load: Load) {
    this.load = load
    const names = [...load.providers.keys()]
    this.observed = new Observed(names, 0, load.durationMs)
    const seeded = (salt: number) => seededRandom(load.seed * 1009 + salt)
    const { stream } = load.traffic
    this.#targets = [...load.providers.values()].map(
      (provider, i) => new ScriptedTarget(provider, seeded(i + 2), stream),
    )
    const lookout = new Lookout(load, this.observed, this.#targets, this.#clock)
    this.#gear = createSwitchgear<Arrival, unknown, PartKind>({
      ...load.switchgear,
      targets: load.switchgear.targets.map((target, i) => ({
        ...target,
        name: names[i]!,
        invoke: (request) => this.#answer(i, request),
        isEmpty: (answer) => answer === EMPTY,
        stream: (request) => this.#open(i, request),
        classifyPart: (part) => part,
      })),
      clock: this.#clock,
      random: seeded(0),
      journal: lookout,
    })
    lookout.listenTo(this.#gear)
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
    const more = await new Promise<boolean>((resolve, reject) => this.#goOn(INSTANTS, resolve, reject))
    if (!more && this.#running === 0) await this.#gear.close()
    return more
  }

  #goOn(instants: number, resolve: (more: boolean) => void, reject: (error: unknown) => void): void {
    try {
      for (let left = instants; left > 0; left--) {
        if (!this.#instant()) return resolve(false)
        if (!this.#unsaid) continue
        // a tick asked for by a promise comes once no promise has anything left to say; a turn of the event loop does
        // the same, and takes longer than all the rest
        return queueMicrotask(() => process.nextTick(() => this.#goOn(left - 1, resolve, reject)))
      }
      resolve(true)
    } catch (error) {
      reject(error)
    }
  }

  /** Lets happen what happens next; false = nothing does. */
  #instant(): boolean {
    const { nextAt: timerAt = Infinity } = this.#clock
    const at = Math.min(this.#next?.at ?? Infinity, this.#due.nextAt, timerAt - START_AT)
    // what never ends is not waited for
    if (at === Infinity || (this.#next === undefined && this.#running === 0)) return false
    // a call that begins sends its request at once, and nobody waits for a promise; one that is read in parts does
    this.#unsaid = this.load.traffic.stream || this.#due.nextAt <= at || timerAt - START_AT <= at
    this.#clock.set(START_AT + at)
    while (this.#due.nextAt <= at) this.#due.take().item()
    while (this.#next !== undefined && this.#next.at <= at) this.#begin(this.#next)
    return true
  }

  #begin(arrival: Arrival): void {
    this.#next = this.#arrivals.next().value ?? undefined
    this.#running++
    if (this.load.traffic.stream) return void this.#read(arrival)
    const report = (report: CallReport) => this.#ended(arrival, report)
    // the report says all there is to say
    this.#gear.call(arrival, { report }).catch(() => {})
  }

  async #read(arrival: Arrival): Promise<void> {
    let parts = 0
    const report = (report: CallReport) => this.#ended(arrival, report, parts > 0 && !report.ok)
    try {
      for await (const part of this.#gear.stream(arrival, { report })) {
        if (part === 'content' && parts++ === 0) this.observed.firstParts.push(this.now - arrival.at)
      }
    } catch {
      // the report says all there is to say
    }
  }

  #ended(arrival: Arrival, report: CallReport, interrupted = false): void {
    const { ok, fallbackIndex, durationMs, target } = report
    this.#running--
    this.observed.ended(arrival.at, durationMs, ok ? fallbackIndex : -1, interrupted)
    if (interrupted) this.observed.of(target!).interrupted++
    if (!ok) return
    const observed = this.observed.targets[fallbackIndex]!
    observed.answered++
    observed.input += arrival.input
    observed.output += arrival.output
  }

  readonly #after = (ms: number, then: () => void): void => {
    if (ms < Infinity) this.#due.add(this.now + ms, this.#orders++, then)
  }

  #sent(i: number, request: Arrival) {
    const { now } = this
    this.observed.targets[i]!.sent[this.observed.column(now)]!++
    return this.#targets[i]!.fateAt(now, request)
  }

  #answer(i: number, request: Arrival): Promise<unknown> {
    const { ms, error, empty } = this.#sent(i, request)
    return new Promise((resolve, reject) => {
      this.#after(ms, () => (error === undefined ? resolve(empty ? EMPTY : request) : reject(error)))
    })
  }

  #open(i: number, request: Arrival): AsyncIterable<PartKind> | Promise<AsyncIterable<PartKind>> {
    const { ms, error, stream } = this.#sent(i, request)
    if (stream !== undefined) return new ScriptedStream(ms, stream, this.#after)
    return new Promise((_, reject) => {
      this.#after(ms, () => reject(error!))
    })
  }
}
