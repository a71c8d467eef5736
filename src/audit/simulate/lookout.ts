import type { CircuitState } from '../../../machines/circuit-state.ts'
import type { Clock } from '../../core/clock.ts'
import type { JournalEntry } from '../../core/journal.ts'
import type { Switchgear } from '../../core/switchgear.ts'
import type { Load } from './load.ts'
import type { Observed, TargetObserved } from './observed.ts'
import type { ScriptedTarget } from './scripted-target.ts'

/** The part of a switchgear that is listened to. */
type Heard = Pick<Switchgear<unknown, unknown, unknown>, 'on'>

const callsFlow = (state: CircuitState) => state === 'closed' || state === 'degraded'

/** Listens to a switchgear, and writes down what its targets and circuits do. */
export class Lookout {
  readonly #load: Load
  readonly #observed: Observed
  readonly #targets: readonly ScriptedTarget[]
  readonly #clock: Pick<Clock, 'now'>
  readonly #startAt: number
  /** Circuits that refuse. */
  readonly #refusing = new Set<string>()
  #gear: Heard | undefined
  #stopHearing: (() => void) | undefined

  /** It begins now. */
  constructor(load: Load, observed: Observed, targets: readonly ScriptedTarget[], clock: Pick<Clock, 'now'>) {
    this.#load = load
    this.#observed = observed
    this.#targets = targets
    this.#clock = clock
    this.#startAt = clock.now()
  }

  get #now(): number {
    return this.#clock.now() - this.#startAt
  }

  listenTo(gear: Heard): void {
    this.#gear = gear
    gear.on('failure', ({ target }) => this.#failed(target))
  }

  /** The journal of the switchgear. */
  append({ bucket, event, from, to, at, saved }: JournalEntry): void {
    const targets = this.#targetsOf(bucket)
    if (event.type === 'probe.requested') for (const target of targets) target.probes++
    if (from === to) return
    for (const target of targets)
      target.changes.push({ at: at - this.#startAt, from, to, why: saved.cause.why })
    if (callsFlow(to)) this.#refusing.delete(bucket)
    else this.#refusing.add(bucket)
    this.#hearRefusals()
  }

  /** Listens while there can be any: to be told outcomes costs every call something. */
  #hearRefusals(): void {
    if (this.#refusing.size === 0) {
      this.#stopHearing?.()
      this.#stopHearing = undefined
    } else {
      this.#stopHearing ??= this.#gear?.on('outcome', ({ outcome, target }) => {
        if (outcome === 'refused') this.#refused(target)
      })
    }
  }

  #failed(name: string): void {
    const observed = this.#observed.of(name)
    observed.failed[this.#observed.column(this.#now)]!++
    if ((this.#faultOf(observed)?.ratio ?? 0) >= 0.5) observed.wasted++
  }

  #refused(name: string): void {
    const observed = this.#observed.of(name)
    observed.refused[this.#observed.column(this.#now)]!++
    if (this.#faultOf(observed) === undefined) observed.refusedHealthy++
  }

  #faultOf(target: TargetObserved) {
    return this.#targets[this.#observed.targets.indexOf(target)]!.faultAt(this.#now)
  }

  /** Targets that share a circuit show the same. */
  #targetsOf(bucket: string): readonly TargetObserved[] {
    return this.#observed.targets.filter((_, i) => {
      const { bucket: own, circuitBreaker } = this.#load.switchgear.targets[i]!
      const name = typeof own === 'string' ? own : this.#observed.targets[i]!.name
      return circuitBreaker !== undefined && (bucket === name || bucket.startsWith(`${name}/`))
    })
  }
}
