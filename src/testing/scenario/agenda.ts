import { setImmediate } from 'node:timers/promises'
import { VirtualClock } from '../virtual-clock.ts'

/** Who comes first at one instant, after everything that is due by the clock: the provider, a caller hanging up, a step. */
const RANKS = { provider: 0, abort: 1, step: 2 } as const

interface Entry {
  readonly at: number
  readonly rank: number
  readonly run: () => void
}

/** More turns than a scenario can need: something goes round in circles. */
const MOST_TURNS = 100_000

/** Virtual time for code with promises: nothing moves on before everybody has said all there is to say now. */
export class Agenda {
  readonly clock: VirtualClock
  readonly #entries = new Set<Entry>()
  #stopped = false

  constructor(startAt = 0) {
    this.clock = new VirtualClock(startAt)
  }

  get now(): number {
    return this.clock.now()
  }

  /** Plans something; answers with the way to call it off. */
  plan(at: number, who: keyof typeof RANKS, run: () => void): () => void {
    const entry = { at, rank: RANKS[who], run }
    this.#entries.add(entry)
    return () => this.#entries.delete(entry)
  }

  /** Lets `ms` pass, Infinity for ever; rejects with the signal's reason when it fires first. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      const callOff = ms === Infinity ? () => {} : this.plan(this.now + ms, 'provider', () => resolve())
      const aborted = () => {
        callOff()
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', aborted, { once: true })
    })
  }

  /** The process ends here: nothing planned happens any more. */
  stop(): void {
    this.#stopped = true
    this.clock.dropTimers()
  }

  /** Moves on until nothing is planned and nobody waits; also ends where nothing could ever happen again. */
  async run(waiting: () => boolean): Promise<void> {
    for (let turns = 0; turns < MOST_TURNS; turns++) {
      // one turn of the event loop lets every promise that can settle do so
      await setImmediate()
      const next = this.#next()
      if (this.#stopped || (next === undefined && !waiting())) return
      const timerAt = this.clock.nextAt ?? Infinity
      if (timerAt <= (next?.at ?? Infinity) && timerAt !== Infinity) this.clock.set(timerAt)
      else if (next === undefined) return
      else {
        this.#entries.delete(next)
        this.clock.set(next.at)
        next.run()
      }
    }
  }

  #next(): Entry | undefined {
    let next: Entry | undefined
    for (const entry of this.#entries) {
      if (next === undefined || entry.at < next.at || (entry.at === next.at && entry.rank < next.rank))
        next = entry
    }
    return next
  }
}
