import type { Clock } from '../core/clock.ts'

interface Alarm {
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
  #alarms = new Map<number, Alarm>()
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
    return this.#alarms.size
  }

  /** When the next timer fires; undefined = none is armed. */
  get nextAt(): number | undefined {
    return this.#next()?.[1].at
  }

  setTimeout(run: () => void, ms: number): number {
    const id = ++this.#ids
    this.#alarms.set(id, { at: this.#now + Math.max(0, Math.ceil(ms)), run })
    return id
  }

  clearTimeout(timer: unknown): void {
    this.#alarms.delete(timer as number)
  }

  /** Moves on by `ms`, firing what falls due. */
  advance(ms: number): void {
    this.set(this.#now + ms)
  }

  /** Moves on to `at`, firing what falls due. */
  set(at: number): void {
    for (let next = this.#next(); next !== undefined && next[1].at <= at; next = this.#next()) {
      const [id, alarm] = next
      this.#alarms.delete(id)
      this.#now = Math.max(this.#now, alarm.at)
      alarm.run()
    }
    this.#now = Math.max(this.#now, at)
  }

  /** Forgets every timer, as a process does that is suspended for good. */
  dropTimers(): void {
    this.#alarms.clear()
  }

  #next(): [number, Alarm] | undefined {
    let next: [number, Alarm] | undefined
    for (const entry of this.#alarms) if (next === undefined || entry[1].at < next[1].at) next = entry
    return next
  }
}
