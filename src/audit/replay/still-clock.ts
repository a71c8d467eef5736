import type { Clock } from '../../core/clock.ts'

/** A clock that is set by hand and fires nothing: deadlines are facts, timers only make them happen sooner. */
export class StillClock implements Clock {
  at = 0

  now(): number {
    return this.at
  }

  wall(): number {
    return this.at
  }

  readonly setTimeout = (): undefined => undefined
  readonly clearTimeout = (): void => {}
}
