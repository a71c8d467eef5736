import type { Cause } from '../../machines/breaker-events.ts'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'
import type { BreakerStatus } from './breaker-status.ts'

/** How often a circuit went from one state to another, and why. */
export interface TransitionCount {
  readonly from: CircuitState
  readonly to: CircuitState
  readonly why: Cause['why']
  n: number
}

/** Plain numbers of one breaker, for metrics; only ever added to. */
export class BreakerStats {
  success = 0
  failure = 0
  neutral = 0
  /** Refused: nothing was sent. */
  readonly refused = { open: 0, 'half-open': 0, held: 0 }
  /** Would have been refused outside of observe mode. */
  readonly wouldRefuse = { open: 0, 'half-open': 0, held: 0 }
  /** Outcomes of another generation. */
  late = 0
  /** undefined = it has never changed its state. */
  transitions: TransitionCount[] | undefined

  moved(from: CircuitState, to: CircuitState, why: Cause['why']): void {
    const all = (this.transitions ??= [])
    const known = all.find((one) => one.from === from && one.to === to && one.why === why)
    if (known === undefined) all.push({ from, to, why, n: 1 })
    else known.n++
  }
}

/** Upper bounds of the duration buckets, in ms: doubling, as LLM latencies spread over five decades. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 81_920,
]

// clz32 finds the doubling bound without a search
const placeOf = (ms: number) => Math.min(32 - Math.clz32(Math.ceil(ms / 10) - 1), DURATION_BOUNDS_MS.length)

/** A histogram as plain numbers. */
export class DurationHistogram {
  /** One count a bound, and a last one for everything above. */
  readonly counts: number[] = Array(DURATION_BOUNDS_MS.length + 1).fill(0)
  sumMs = 0

  add(ms: number): void {
    this.sumMs += ms
    this.counts[ms <= 10 ? 0 : placeOf(ms)]!++
  }
}

/** Calls that came to a target from the one before it, by what became of them there. */
export interface HopCount {
  readonly from: string
  success: number
  failure: number
  neutral: number
  /** Its circuit refused, too: nothing was sent. */
  refused: number
}

// kinds of a classifier of the user's own: a name made of each error's text must not grow for ever
const MOST_KINDS = 100

/** Counts one more of a kind; kinds beyond the hundredth count as `other`. */
export function countKind(kinds: Map<string, number>, kind: string): void {
  const name = kinds.has(kind) || kinds.size < MOST_KINDS ? kind : 'other'
  kinds.set(name, (kinds.get(name) ?? 0) + 1)
}

/** Plain numbers of one target, for metrics; only ever added to. */
export class TargetStats {
  /** Attempts by what they came to. */
  readonly attempts = { success: 0, failure: 0, neutral: 0 }
  readonly duration = new DurationHistogram()
  readonly firstContent = new DurationHistogram()
  /** Attempts after the first one of a visit. */
  retries = 0
  /** Attempts without an answer by failure kind; kinds beyond the hundredth count as `other`. */
  readonly failures = new Map<string, number>()
  /** undefined = no call came from another target. */
  hops: HopCount[] | undefined

  failed(kind: string): void {
    countKind(this.failures, kind)
  }

  hop(from: string, result: Exclude<keyof HopCount, 'from'>): void {
    const all = (this.hops ??= [])
    let count = all.find((one) => one.from === from)
    if (count === undefined) {
      count = { from, success: 0, failure: 0, neutral: 0, refused: 0 }
      all.push(count)
    }
    count[result]++
  }
}

/** Plain numbers of all calls of a switchgear, by how they ended; only ever added to. */
export class CallStats {
  answered = 0
  /** Somebody was asked, and nobody answered. */
  failed = 0
  /** The caller's own request was at fault: no target is held to be down. */
  rejected = 0
  /** Nobody was asked: every circuit refused. */
  refused = 0
  /** A stream broke after its first content. */
  interrupted = 0
  /** The caller hung up. */
  aborted = 0
  /** The deadline passed first. */
  outOfTime = 0
}

/** Every circuit that was used or would refuse, every target, and all calls. */
export interface GearStats {
  readonly calls: CallStats
  /** Calls under way. */
  readonly running: number
  readonly breakers: readonly {
    readonly bucket: string
    /** The model it is isolated to. */
    readonly model: string | undefined
    /** The targets behind it. */
    readonly targets: readonly string[]
    readonly stats: BreakerStats
    readonly status: BreakerStatus
    /** The rules that its readings are judged by. */
    readonly policy: BreakerPolicy
  }[]
  readonly targets: readonly {
    readonly name: string
    readonly model: string | undefined
    readonly stats: TargetStats
  }[]
}
