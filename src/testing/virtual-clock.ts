import type { Clock } from '../core/clock.ts'

interface Alarm {
  readonly id: number
  readonly at: number
  readonly run: () => void
}

/**
 * A clock that stands still until it is told to move. Timers fire in order of their deadline, each at its own instant.
 *
 * @example
 * ```ts
 * const clock = new VirtualClock()
 * const breaker = createBreaker({ threshold: 1, cooldownMs: 1000, clock })
 * clock.advance(1000)
 * ```
 */
export class VirtualClock implements Clock {
  #now: number
  /** The one that fires next is the last one. */
  readonly #alarms: Alarm[] = []
  readonly #byId = new Map<number, Alarm>()
  #ids = 0

  constructor(startAt = 0) {
    this.#now = startAt
  }

  now(): number {
    return this.#now
  }

  wall(): number {
    return this.#now
  }

  /** Timers that have not fired. */
  get pending(): number {
    return this.#alarms.length
  }

  /** When the next timer fires; undefined = none is armed. */
  get nextAt(): number | undefined {
    return this.#alarms.at(-1)?.at
  }

  setTimeout(run: () => void, ms: number): number {
    const alarm = { id: ++this.#ids, at: this.#now + Math.max(0, Math.ceil(ms)), run }
    this.#alarms.splice(this.#place(alarm), 0, alarm)
    this.#byId.set(alarm.id, alarm)
    return alarm.id
  }

  clearTimeout(timer: unknown): void {
    const alarm = this.#byId.get(timer as number)
    if (alarm === undefined) return
    this.#byId.delete(alarm.id)
    this.#alarms.splice(this.#place(alarm), 1)
  }

  /** Moves on by `ms`, firing what falls due. */
  advance(ms: number): void {
    this.set(this.#now + ms)
  }

  /** Moves on to `at`, firing what falls due. */
  set(at: number): void {
    while (this.#alarms.length > 0 && this.#alarms.at(-1)!.at <= at) {
      const alarm = this.#alarms.pop()!
      this.#byId.delete(alarm.id)
      this.#now = Math.max(this.#now, alarm.at)
      alarm.run()
    }
    this.#now = Math.max(this.#now, at)
  }

  /** Forgets every timer, as a process does that is suspended for good. */
  dropTimers(): void {
    this.#alarms.length = 0
    this.#byId.clear()
  }

  /** How many fire after it: at one instant the one that was armed first comes first. */
  #place({ at, id }: Alarm): number {
    let [low, high] = [0, this.#alarms.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#alarms[middle]!
      if (other.at > at || (other.at === at && other.id > id)) low = middle + 1
      else high = middle
    }
    return low
  }
}
