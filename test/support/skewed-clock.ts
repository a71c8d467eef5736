import { VirtualClock } from '../../src/testing/virtual-clock.ts'

/** A clock whose wall clock was set, or went on while the machine slept. */
export class SkewedClock extends VirtualClock {
  /** How far the wall clock is ahead of the monotonic one, in ms. */
  skew = 0

  override wall(): number {
    return this.now() + this.skew
  }
}
