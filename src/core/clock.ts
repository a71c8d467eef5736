import { performance as real } from 'node:perf_hooks'

/** Where time comes from. Nothing else in the project reads a clock or starts a timer. */
export interface Clock {
  /** Whole ms that never go back, on the scale of the wall clock. */
  now(): number
  /** The wall clock, in epoch ms; it may jump. Stored deadlines are on it. */
  wall(): number
  /** Calls `run` after `ms`, however long that is, and never keeps the process alive. */
  setTimeout(run: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
  /** Keeps the process alive until {@link release}: a call is under way. Counted. Optional. */
  hold?(): void
  release?(): void
}

/** A source of chance: 0 ≤ value < 1. */
export type Random = () => number

// Node fires a timer beyond this at once (nodejs/node#4541)
const LONGEST_TIMER = 2 ** 31 - 1

// a timer so late was held up with the whole process, and what it waits for may lie in a socket already
const HELD_UP_MS = 250

/** True where the age of the process reads like `performance.now()`: its documentation does not promise as much. */
function agrees(timing: { readonly duration: number } | undefined): boolean {
  const before = real.now()
  const age = timing?.duration
  return age !== undefined && before <= age && age <= real.now()
}

interface Timer {
  handle: NodeJS.Timeout
  cleared: boolean
}

const origin = real.timeOrigin
const { nodeTiming, now: monotonic } = real
// what keeps the process alive is no business of fake timers
const own = { setInterval, clearInterval, setImmediate, Date }
const ownTimeout = setTimeout
// the age of the process is the same clock without the check of `this`, which costs a call as much as the clock itself
const sameClock = globalThis.performance === real && agrees(nodeTiming)

/** Ms since the process began; where fake timers are installed, by their clock. */
function elapsed(): number {
  return sameClock && setTimeout === ownTimeout && real.now === monotonic
    ? nodeTiming.duration
    : fakeElapsed()
}

/** Some fake timers move `performance`, others only `Date`. */
function fakeElapsed(): number {
  const { performance = real } = globalThis
  const onlyDate = performance === real && real.now === monotonic && Date !== own.Date
  return onlyDate ? Date.now() - origin : performance.now()
}

const now = () => Math.floor(origin + elapsed())

function arm(timer: Timer, run: () => void, dueAt: number): void {
  const left = dueAt - now()
  const wait = Math.min(Math.max(left, 0), LONGEST_TIMER)
  // a timer may fire a fraction of a millisecond early
  const fire = () => {
    const late = now() - dueAt
    if (late < 0) arm(timer, run, dueAt)
    else if (late < HELD_UP_MS) run()
    else setImmediate(() => !timer.cleared && run())
  }
  timer.handle = setTimeout(fire, wait)
  timer.handle.unref()
}

let holders = 0
let anchor: NodeJS.Timeout | undefined
let checking = false

function keepAlive(): void {
  anchor = own.setInterval(() => {}, LONGEST_TIMER)
}

function checkLater(): void {
  checking = true
  own.setImmediate(letGo)
}

// a loop of calls comes and goes within one turn: whether anybody is left is looked at once a turn
function letGo(): void {
  checking = false
  if (holders > 0) return
  own.clearInterval(anchor)
  anchor = undefined
}

/** The real clock: monotonic between two reads, timers unreferenced and without an upper limit. */
export const systemClock: Clock = {
  now,
  wall: () => Date.now(),
  setTimeout(run, ms) {
    const timer = { cleared: false } as Timer
    arm(timer, run, now() + ms)
    return timer
  },
  clearTimeout(timer) {
    if (timer === undefined) return
    const armed = timer as Timer
    armed.cleared = true
    clearTimeout(armed.handle)
  },
  hold() {
    holders++
    if (anchor === undefined) keepAlive()
  },
  release() {
    holders--
    if (holders === 0 && !checking) checkLater()
  },
}

/** The real source of chance. */
export const systemRandom: Random = () => Math.random()
