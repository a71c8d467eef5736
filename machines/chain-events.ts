import type { RetryPolicy } from './retry.ts'

/** A target as the chain sees it. */
export interface PlannedTarget {
  readonly name: string
  readonly maxRetries: number
  readonly retry: RetryPolicy
}

/** Lists for failures that have a fallback of their own: target → targets, in order. */
export interface SpecialLists {
  readonly 'context-window': Readonly<Record<string, readonly string[]>>
  readonly 'content-policy': Readonly<Record<string, readonly string[]>>
}

/** What happens when every target refuses and nobody was asked. */
export type WhenAllOpen =
  | { readonly kind: 'fail' }
  | { readonly kind: 'wait'; readonly waitMs: number }
  | { readonly kind: 'last-resort' }

/** Everything that is known of a call before it starts. Injected, never persisted. */
export interface ChainPlan {
  /** The ordered chain, each name once. */
  readonly targets: readonly string[]
  /** Every target that the chain or a list can name. */
  readonly known: Readonly<Record<string, PlannedTarget>>
  readonly lists: SpecialLists
  /** Once a target is asked, nobody else is; a refusal still passes on. Default false. */
  readonly noFallback?: boolean
  readonly whenAllOpen: WhenAllOpen
  readonly startedAt: number
  /** Nothing is begun that would end later; null = no deadline. */
  readonly deadlineAt: number | null
}

/** One target that refused. */
export interface Refusal {
  readonly target: string
  readonly reason: 'open' | 'half-open' | 'held'
  /** When it may admit again; null = nobody knows. For half-open an upper bound. */
  readonly retryAt: number | null
}

/** The columns of a verdict that the chain reads. */
export interface AttemptVerdict {
  readonly failure: string
  readonly retry: 'yes' | 'no' | 'after'
  readonly fallback: 'next' | 'stop' | 'context-window' | 'content-policy'
  readonly retryAfterMs?: number
}

interface At {
  /** When it happened, in whole ms. */
  readonly at: number
}

/** Everything that can move a chain. The runtime acts, the chain decides. */
export type ChainEvent =
  | ({
      readonly type: 'target.admitted'
      readonly target: string
      /** The circuit refuses, and the caller bypasses it. Default false. */
      readonly bypassed?: boolean
    } & At)
  | ({ readonly type: 'target.refused' } & Refusal & At)
  | ({ readonly type: 'attempt.succeeded' } & At)
  | ({
      readonly type: 'attempt.failed'
      readonly verdict: AttemptVerdict
      /** The random share for the back-off: 0 ≤ roll < 1. */
      readonly roll: number
      /** The retry budget has a token left. */
      readonly budget: boolean
      /** The user's own `fallbackOn`, where it has spoken. */
      readonly route?: 'next' | 'stop' | undefined
    } & At)
  | ({ readonly type: 'backoff.elapsed'; readonly permitIsCurrent: boolean } & At)
  | ({ readonly type: 'stream.committed' } & At)
  | ({ readonly type: 'stream.completed' } & At)
  | ({ readonly type: 'stream.failed' } & At)
  | ({ readonly type: 'circuit.changed' } & At)
  | ({ readonly type: 'wait.elapsed' } & At)
  | ({ readonly type: 'caller.aborted' } & At)
  | ({ readonly type: 'deadline.passed' } & At)
