import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import type { CircuitBreaker } from '../../core/circuit-breaker.ts'
import type { Permit } from '../../core/permit.ts'
import { DueQueue } from '../due-queue.ts'
import type { Calls } from './calls.ts'
import { Course } from './course.ts'
import type { Evidence } from './evidence.ts'
import { replayBreaker } from './replay-breaker.ts'
import type { ReplayBreaker } from './replay-breaker.ts'

/** Jumping is not worth it for fewer calls. */
const FEWEST_CALLS = 64

/**
 * Plays all calls against one breaker.
 *
 * @param cross false = steps through every call; the result is the same
 */
export function play(calls: Calls, rules: ResolvedBreaker, { cross = true } = {}): Course {
  return new Play(calls, rules, cross).run()
}

class Play {
  readonly #calls: Calls
  readonly #course = new Course()
  readonly #in: ReplayBreaker
  readonly #breaker: CircuitBreaker
  readonly #evidence: Evidence | undefined
  readonly #cross: boolean
  readonly #inFlight = new DueQueue<Permit>()
  #next = 0
  /** From here on a stretch may be crossed; Infinity = the circuit is not closed. */
  #crossFrom: number
  /** What is known up to here is not counted: the counters forget it anyway. */
  #countFrom = -Infinity
  /** Until here the machine hears nothing: it is known to stay where it is. */
  #deafUntil = -Infinity

  constructor(calls: Calls, rules: ResolvedBreaker, cross: boolean) {
    this.#calls = calls
    this.#cross = cross
    this.#evidence = cross ? calls.evidenceFor?.(rules.policy) : undefined
    this.#crossFrom = this.#evidence === undefined ? Infinity : calls.fromAt
    this.#in = replayBreaker(rules, calls.fromAt, calls.seed, (transition) => {
      this.#course.transitions.push(transition)
      const closed = transition.to === 'closed' && this.#evidence !== undefined
      // the counters must have seen nothing but admitted calls for as long as they remember
      this.#crossFrom = closed ? transition.at + calls.longestMs + this.#evidence!.memoryMs : Infinity
    })
    this.#breaker = this.#in.breaker
  }

  run(): Course {
    const calls = this.#calls
    const { end, toAt: until } = calls
    while (true) {
      const arrivalAt = this.#next < end ? calls.arrivalAt(this.#next) : Infinity
      const knownAt = this.#inFlight.nextAt
      const at = Math.min(arrivalAt, knownAt)
      if (at > until || at === Infinity) break
      if (knownAt <= arrivalAt) this.#settle(knownAt)
      else if (arrivalAt < this.#crossFrom || !this.#jump(arrivalAt)) this.#admit(arrivalAt)
    }
    this.#in.clock.at = until
    // to ask about any permit lets everything happen that is due
    this.#breaker.isCurrent(this.#breaker.admitAnyway(), until)
    return this.#course
  }

  #settle(at: number): void {
    const { order: call, item: permit } = this.#inFlight.take()
    if (at <= this.#countFrom) return
    this.#in.host.deaf = at < this.#deafUntil
    this.#in.clock.at = at
    const latencyMs = at - this.#calls.arrivalAt(call)
    this.#breaker.settle(permit, this.#calls.outcomeOf(call), at, latencyMs)
    this.#in.host.deaf = false
  }

  #admit(at: number): void {
    const call = this.#next++
    this.#in.clock.at = at
    const answer = this.#breaker.tryAcquire()
    if (!answer.admitted) return this.#refused(call, at + (answer.retryAfterMs ?? Infinity))
    if (answer.probe) this.#course.probes.push(call)
    this.#inFlight.add(this.#calls.knownAt(call), call, answer)
  }

  /** A refusal stands until something becomes known or a deadline is over. */
  #refused(call: number, deadline: number): void {
    const calls = this.#calls
    const until = Math.min(deadline, this.#inFlight.nextAt)
    const next = this.#cross ? Math.max(call + 1, Math.min(calls.end, calls.firstAt(until))) : call + 1
    this.#course.refuse(call, next)
    this.#next = next
  }

  /** Crosses a stretch in which nothing can move the circuit; false = there is none. */
  #jump(now: number): boolean {
    const { end, longestMs } = this.#calls
    this.#crossFrom = now + longestMs
    if (!this.#countsNothing) return false
    const { at, countFrom } = this.#evidence!.after(now)
    // near the evidence, and for a while behind it, asking again would not pay
    this.#crossFrom = at + longestMs
    const next = Math.min(end, this.#calls.firstAt(countFrom - longestMs))
    if (next < this.#next + FEWEST_CALLS) return false
    this.#next = next
    this.#inFlight.clear()
    this.#countFrom = countFrom
    this.#deafUntil = at
    return true
  }

  get #countsNothing(): boolean {
    const { consecutiveFailures, reading, state } = this.#breaker.getStatus()
    const { rules } = this.#breaker.options.policy
    const empty = rules.every((rule, i) => 'windowMs' in rule || reading.rules[i]?.count === 0)
    return state === 'closed' && consecutiveFailures === 0 && empty
  }
}
