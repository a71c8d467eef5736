import { NotOffered, ScriptedFailure } from '../../../src/testing/conformance/adapter.ts'
import type { BreakerAdapter, BreakerUnderTest } from '../../../src/testing/conformance/adapter.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

/** What can be wrong with a breaker of forty lines. */
export type Bug =
  | 'a late success closes'
  | 'a late failure extends'
  | 'a late failure counts'
  | 'everybody is a probe'
  | 'a neutral probe keeps its slot'
  | 'a neutral probe closes'
  | 'neutral outcomes count'
  | 'a success forgives nothing'
  | 'one failure too many'
  | 'a millisecond too short'
  | 'open for ever'
  | 'a refused caller counts'
  | 'a failed probe is forgotten'
  | 'callers wait for the probe'
  | 'every option is taken'

interface Ticket {
  readonly generation: number
  readonly probe: boolean
}

/** A breaker without anything but a threshold and a cooldown, right or with one bug. */
class Homemade {
  readonly #threshold: number
  readonly #cooldownMs: number
  readonly #now: () => number
  readonly #bug: Bug | undefined
  #state: 'closed' | 'open' | 'half-open' = 'closed'
  #generation = 0
  #failures = 0
  #openUntil = 0
  #probing = false
  #verdict = Promise.withResolvers<void>()

  constructor(threshold: number, cooldownMs: number, now: () => number, bug: Bug | undefined) {
    const isFine = threshold >= 1 && cooldownMs >= 0
    if (!isFine && bug !== 'every option is taken') throw new RangeError('These options cannot work.')
    this.#threshold = bug === 'one failure too many' ? threshold + 1 : threshold
    this.#cooldownMs = bug === 'a millisecond too short' ? cooldownMs - 1 : cooldownMs
    this.#now = now
    this.#bug = bug
  }

  async run(work: () => Promise<unknown>): Promise<unknown> {
    let ticket = this.#admit()
    while (ticket === undefined && this.#bug === 'callers wait for the probe' && this.#probing) {
      await this.#verdict.promise
      ticket = this.#admit()
    }
    if (ticket === undefined) {
      if (this.#bug === 'a refused caller counts') this.#openUntil = this.#now() + this.#cooldownMs
      throw new Error('refused')
    }
    const [call] = await Promise.allSettled([work()])
    const error: unknown = call.status === 'rejected' ? call.reason : undefined
    const isNeutral = error instanceof ScriptedFailure && error.outcome === 'neutral'
    if (call.status === 'fulfilled') this.#succeeded(ticket)
    else if (!isNeutral || this.#bug === 'neutral outcomes count') this.#failed(ticket)
    else if (ticket.probe && this.#bug === 'a neutral probe closes') this.#enter('closed')
    else if (ticket.probe && this.#bug !== 'a neutral probe keeps its slot') this.#probing = false
    if (error !== undefined) throw error
    return undefined
  }

  #admit(): Ticket | undefined {
    const isOver = this.#now() >= this.#openUntil && this.#bug !== 'open for ever'
    if (this.#state === 'open' && isOver) this.#enter('half-open')
    if (this.#state === 'open') return undefined
    const probe = this.#state === 'half-open'
    if (probe && this.#probing && this.#bug !== 'everybody is a probe') return undefined
    this.#probing = probe
    return { generation: this.#generation, probe }
  }

  #succeeded({ generation, probe }: Ticket): void {
    if (generation !== this.#generation && this.#bug !== 'a late success closes') return
    if (this.#bug !== 'a success forgives nothing') this.#failures = 0
    if (probe || generation !== this.#generation) this.#enter('closed')
  }

  #failed({ generation, probe }: Ticket): void {
    const isLate = generation !== this.#generation
    if (isLate && this.#state === 'open' && this.#bug === 'a late failure extends')
      this.#openUntil = this.#now() + this.#cooldownMs
    if (isLate && !(this.#state === 'closed' && this.#bug === 'a late failure counts')) return
    if (probe && this.#bug === 'a failed probe is forgotten') this.#probing = false
    else if (probe || ++this.#failures >= this.#threshold) this.#enter('open')
  }

  #enter(state: 'closed' | 'open' | 'half-open'): void {
    this.#state = state
    this.#generation++
    this.#probing = false
    if (state === 'closed') this.#failures = 0
    if (state === 'open') this.#openUntil = this.#now() + this.#cooldownMs
    this.#verdict.resolve()
    this.#verdict = Promise.withResolvers()
  }
}

/** An adapter as somebody would write it for a breaker of his own. */
export function homemade(bug?: Bug): BreakerAdapter {
  return {
    name: bug === undefined ? 'homemade' : `homemade, but ${bug}`,
    offers: ['threshold', 'cooldownMs', 'neutral'],
    create({ threshold = 5, cooldownMs = 30_000 }): BreakerUnderTest {
      if (threshold === Infinity) throw new NotOffered('a threshold of infinity')
      const clock = new VirtualClock()
      const breaker = new Homemade(threshold, cooldownMs, () => clock.now(), bug)
      return { execute: (work) => breaker.run(work), advance: (ms) => clock.advance(ms) }
    },
  }
}
