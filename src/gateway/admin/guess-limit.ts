import { isIPv6 } from 'node:net'

import type { Clock } from '../../core/clock.ts'
import { Allowance } from './allowance.ts'

const MOST_ADDRESSES = 1000
const PER_ADDRESS = 10
const IN_ALL = 100
const MINUTE_MS = 60_000

/**
 * Wrong tokens: ten a minute from one address, a hundred a minute in all. A guess that comes too soon is not looked at.
 * It remembers a thousand addresses at most.
 */
export class GuessLimit {
  readonly #clock: Clock
  readonly #all: Allowance
  readonly #byAddress = new Map<string, Allowance>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#all = new Allowance(IN_ALL, MINUTE_MS / IN_ALL, clock.now())
  }

  /** How long this address must wait before its next guess, in ms; 0 = it need not. */
  waitMs(address: string): number {
    const now = this.#clock.now()
    return Math.max(this.#all.waitMs(now), this.#byAddress.get(network(address))?.waitMs(now) ?? 0)
  }

  /** A wrong token came from this address. */
  wrong(address: string): void {
    const now = this.#clock.now()
    this.#all.take(now)
    const from = network(address)
    const known = this.#byAddress.get(from) ?? new Allowance(PER_ADDRESS, MINUTE_MS / PER_ADDRESS, now)
    known.take(now)
    this.#byAddress.delete(from)
    this.#makeRoom(now)
    this.#byAddress.set(from, known)
  }

  /** How many addresses are remembered. */
  get size(): number {
    return this.#byAddress.size
  }

  #makeRoom(now: number): void {
    if (this.#byAddress.size < MOST_ADDRESSES) return
    for (const [address, allowance] of this.#byAddress)
      if (allowance.isFull(now)) this.#byAddress.delete(address)
    const [oldest] = this.#byAddress.keys()
    if (this.#byAddress.size >= MOST_ADDRESSES && oldest !== undefined) this.#byAddress.delete(oldest)
  }
}

/** The address; of IPv6 its /64, for whoever has one address of it has them all. */
export function network(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address
  const [left = '', right] = address.split('::')
  const groups = (part: string) => part.split(':').filter((group) => group !== '')
  const head = groups(left)
  const zeros = right === undefined ? 0 : Math.max(0, 8 - head.length - groups(right).length)
  const all = [...head, ...Array<string>(zeros).fill('0'), ...groups(right ?? '')]
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
