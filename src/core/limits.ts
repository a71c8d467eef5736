import type { Clock } from './clock.ts'

/** Something that ends by itself when its time is over. An intrusive list: no allocation, removal in O(1). */
export interface Limited {
  /** When its time began, in ms; set before it is added. */
  startedAt: number
  previous: Limited | undefined
  next: Limited | undefined
  queue: LimitQueue | undefined
  expire(): void
}

/** A limit on its own. */
export class TimeLimit implements Limited {
  startedAt = 0
  previous: Limited | undefined
  next: Limited | undefined
  queue: LimitQueue | undefined
  readonly #then: () => void

  constructor(then: () => void) {
    this.#then = then
  }

  expire(): void {
    this.#then()
  }

  /** It is over in time. */
  end(): void {
    this.queue?.remove(this)
  }
}

/**
 * Everything that shares one duration, in the order it began: a first-in first-out list with one exact timer for its
 * head, instead of a timer a call. The list is a ring, held by its last entry: a reference from something old to
 * something young costs more than the rest of it, and this way an addition writes one.
 */
export class LimitQueue {
  readonly ms: number
  readonly #clock: Clock
  #last: Limited | undefined
  #timer: unknown
  #armed = false

  constructor(ms: number, clock: Clock) {
    this.ms = ms
    this.#clock = clock
  }

  get #first(): Limited | undefined {
    return this.#last?.next
  }

  /** Adds what begins now. */
  begin(entry: Limited, now: number): void {
    entry.startedAt = now
    this.add(entry)
  }

  /** Adds what has begun at its `startedAt`. */
  add(entry: Limited): void {
    const last = this.#last
    entry.queue = this
    if (last === undefined) {
      entry.previous = entry
      entry.next = entry
    } else {
      const first = last.next!
      entry.previous = last
      entry.next = first
      last.next = entry
      first.previous = entry
    }
    this.#last = entry
    if (!this.#armed) this.#arm(entry.startedAt)
  }

  remove(entry: Limited): void {
    if (entry.queue !== this) return
    const { next, previous } = entry
    if (next === entry) this.#last = undefined
    else {
      previous!.next = next
      next!.previous = previous
      if (this.#last === entry) this.#last = previous
    }
    entry.queue = undefined
    entry.previous = undefined
    entry.next = undefined
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#armed = false
  }

  #arm(now: number): void {
    const first = this.#first
    if (first === undefined) return
    this.#armed = true
    this.#timer = this.#clock.setTimeout(() => this.#fire(), first.startedAt + this.ms - now)
  }

  #fire(): void {
    this.#armed = false
    const now = this.#clock.now()
    for (
      let entry = this.#first;
      entry !== undefined && entry.startedAt + this.ms <= now;
      entry = this.#first
    ) {
      this.remove(entry)
      entry.expire()
    }
    if (!this.#armed) this.#arm(now)
  }
}

// callers may bring a different deadline every time
const MOST_QUEUES = 256

/** One queue a duration. */
export class Limits {
  readonly #clock: Clock
  readonly #queues = new Map<number, LimitQueue>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The queue for this duration; undefined for Infinity, which is no limit. */
  of(ms: number): LimitQueue | undefined {
    if (ms === Infinity) return undefined
    let queue = this.#queues.get(ms)
    if (queue === undefined) this.#queues.set(ms, (queue = new LimitQueue(ms, this.#clock)))
    return queue
  }

  /** The queue for a duration that a call brought along; undefined once there are too many different ones. */
  ofCall(ms: number): LimitQueue | undefined {
    return this.#queues.has(ms) || this.#queues.size < MOST_QUEUES ? this.of(ms) : undefined
  }

  close(): void {
    for (const queue of this.#queues.values()) queue.close()
  }
}
