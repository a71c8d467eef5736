import type { Refusal } from './permit.ts'
import type { CallStats } from './stats.ts'
import type { CallReport } from './switchgear-options.ts'

/** A call as an observer sees it. */
export interface ObservedCall {
  /** Made when it is first read. */
  readonly id: string
  readonly request: unknown
  readonly options: { readonly model?: string }
}

/** One request about to be sent. */
export interface ObservedAttempt {
  readonly target: string
  readonly model: string | undefined
  /** 1 for the first of a visit. */
  readonly attempt: number
}

/** How an attempt ended. */
export interface AttemptEnd {
  readonly outcome: 'success' | 'failure' | 'neutral'
  /** Failure kind, where there was one. */
  readonly failure: string | undefined
  /** The answer, where it came in one piece. */
  readonly answer: unknown
}

/** How a call ended: one of the counters of {@link CallStats}. */
export type CallEnd = keyof CallStats

/** Hears the rest of one call. What it throws is logged and hurts nobody. */
export interface CallWatch {
  /** A circuit refused: nothing was sent. */
  refused(target: string, model: string | undefined, refusal: Refusal): void
  /** An attempt begins: sends it, in surroundings of the observer's choice. */
  attempt(attempt: ObservedAttempt, send: () => void): void
  /** A stream has shown its first content. */
  committed(): void
  attemptEnded(end: AttemptEnd): void
  ended(end: CallEnd, report: CallReport): void
}

/** Looks on while calls run: for traces. Without one, a call pays for a comparison. */
export interface CallObserver {
  begin(call: ObservedCall): CallWatch
}
