import type { Clock } from './clock.ts'

const lastSaid = new WeakMap<Clock, number>()

// both clocks are cut to whole ms, each at another moment
const UNEVEN_MS = 1

/** From the monotonic clock to that of the wall as it is set now, in ms. Times told twice stay the same while it is not set. */
export function toWall(clock: Clock): number {
  const ms = clock.wall() - clock.now()
  const last = lastSaid.get(clock)
  if (last !== undefined && Math.abs(ms - last) <= UNEVEN_MS) return last
  lastSaid.set(clock, ms)
  return ms
}
