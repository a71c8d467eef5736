import { setTimeout as delay } from 'node:timers/promises'

import { Agent } from 'undici'

import { askAs } from './client.ts'
import type { Fate } from './client.ts'
import { draw } from './demand.ts'

const MOST_TOLD = 10
const MOST_LETTERS = 4000
/** All at once, they would be more than a socket that listens lets wait. */
const APART_MS = 4

/** What became of all requests so far. */
export class Tally {
  sent = 0
  readonly complete = { called: 0, uncalled: 0 }
  readonly error = { called: 0, uncalled: 0 }
  left = 0
  broken = 0
  /** Of the complete ones. */
  curtailed = 0
  /** The first of the broken ones, in words. */
  readonly told: string[] = []

  add({ kind, called, told, curtailed }: Fate): void {
    if (curtailed === true) this.curtailed++
    if (kind === 'left') this.left++
    else if (kind === 'broken') {
      this.broken++
      if (told !== undefined && this.told.length < MOST_TOLD) this.told.push(told.slice(0, MOST_LETTERS))
    } else this[kind][called ? 'called' : 'uncalled']++
  }
}

/** Clients that ask again as soon as they have an answer. */
export class Crowd {
  readonly tally = new Tally()
  readonly #size: number
  readonly #origin: string
  readonly #random: () => number
  readonly #agent = new Agent()
  #clients: Promise<unknown> | undefined
  #mayAsk = false

  constructor(size: number, origin: string, random: () => number) {
    this.#size = size
    this.#origin = origin
    this.#random = random
  }

  /** Everybody asks from now on. */
  ask(): void {
    this.#mayAsk = true
    this.#clients = Promise.all(Array.from({ length: this.#size }, (_, i) => this.#live(i * APART_MS)))
  }

  /** Nobody asks any more; resolves when everybody has what they asked for. */
  async rest(): Promise<void> {
    this.#mayAsk = false
    await this.#clients
  }

  async close(): Promise<void> {
    await this.rest()
    await this.#agent.destroy()
  }

  async #live(afterMs: number): Promise<void> {
    await delay(afterMs)
    while (this.#mayAsk) {
      this.tally.sent++
      this.tally.add(await askAs(draw(this.#random), this.#agent, this.#origin))
    }
  }
}
