import type { ScriptEntry } from '../../testing/scenario/scenario.ts'
import type { Price } from '../replay/numbers.ts'
import type { TracedCall } from '../replay/traffic.ts'

/** How long answers take, in ms: always the same, spread around a median, or by their tokens. */
export type LatencyModel =
  | { readonly kind: 'fixed'; readonly ms: number }
  | { readonly kind: 'spread'; readonly median: number; readonly p95: number }
  | { readonly kind: 'tokens'; readonly answer: number; readonly perToken: number }

/** How an answer streams: so many parts, one every so many ms. */
export interface StreamModel {
  readonly parts: number
  /** undefined = as its tokens take; without a latency by tokens 100 ms. */
  readonly everyMs: number | undefined
}

/** What a failing request gets; of a stream also the share of its parts after which it is cut off, or stands still. */
export type Answer = ScriptEntry & { readonly cut?: number; readonly stall?: number }

/** A time in which a provider is worse than usual. Times are ms since the start. */
export interface Fault {
  readonly fromAt: number
  readonly toAt: number
  /** Share of the requests that fail. */
  readonly ratio: number
  readonly answer: Answer
  /** How long that takes, in ms. */
  readonly latencyMs: number
  /** Answers take so many times as long. */
  readonly slow: number
}

/** What a target does. */
export interface Provider {
  /** Until the answer; of a stream, until its first part. */
  readonly latency: LatencyModel
  readonly stream: StreamModel
  /** Share of the requests that fail outside of faults. */
  readonly failures: number
  /** What those get. */
  readonly failure: Answer
  readonly failureMs: number
  readonly faults: readonly Fault[]
  readonly price: Price | undefined
}

/** When calls come. */
export interface TrafficModel {
  /** A second. */
  readonly rate: number
  readonly arrivals: 'poisson' | 'even'
  /** At the quietest hour the rate is multiplied by `low`. */
  readonly daily: { readonly low: number; readonly peakAt: number } | undefined
  readonly bursts: readonly { readonly fromAt: number; readonly toAt: number; readonly rate: number }[]
  /** Calls as they were recorded, instead of a rate; they repeat. */
  readonly trace: { readonly calls: readonly TracedCall[]; readonly periodMs: number } | undefined
  /** Callers read their answers in parts. */
  readonly stream: boolean
  /** Of a call that no trace tells of. */
  readonly tokens: { readonly input: number; readonly output: number }
}

/** A load on a chain of targets, complete. */
export interface Load {
  readonly name: string
  readonly durationMs: number
  readonly seed: number
  readonly traffic: TrafficModel
  /** Options of a switchgear, without what its targets do. */
  readonly switchgear: Readonly<Record<string, unknown>> & {
    readonly targets: readonly Readonly<Record<string, unknown>>[]
  }
  /** By target, in their order. */
  readonly providers: ReadonlyMap<string, Provider>
}
