import type { Transition } from './transition.ts'

/** The call behind a permit, as far as its breaker is concerned. */
export interface CallOfPermit {
  readonly id: string
  readonly model: string | undefined
  /** Hears the transitions that the call caused, after the commit. */
  readonly onTransition: ((transition: Transition) => void) | undefined
}

/** The yes of a breaker: the ticket of one visit. Settle it once; later settlements do nothing. */
export class Permit {
  readonly admitted = true
  /** Unique in its breaker. */
  readonly id: number
  /** The generation it was issued in; −1 = it should have been refused and decides nothing. */
  readonly generation: number
  /** A visit of the trial. */
  readonly probe: boolean
  /** When it was issued, in ms; 0 where nobody measures. */
  readonly startedAt: number
  /** Probe: when it counts as lost, unless it is renewed. */
  leaseUntil = Infinity
  settled = false
  /** The call it belongs to, where there is one. */
  call: CallOfPermit | undefined

  constructor(id: number, generation: number, probe: boolean, startedAt: number) {
    this.id = id
    this.generation = generation
    this.probe = probe
    this.startedAt = startedAt
  }
}

/** True for a ticket of ours, whatever it is that is looked at. */
export function isPermit(value: unknown): value is Permit {
  try {
    return value instanceof Permit
  } catch {
    return false
  }
}

/** The no of a breaker, as a value. Nothing was sent. */
export interface Refusal {
  readonly admitted: false
  readonly reason: 'open' | 'half-open' | 'held'
  /** How long until it may admit, in ms; null = only an operator knows. For half-open an upper bound. */
  readonly retryAfterMs: number | null
}

/** What a visit came to. */
export type Outcome =
  | { readonly outcome: 'success'; readonly latencyMs?: number | undefined }
  | {
      readonly outcome: 'failure'
      /** Failure kind. Default `unknown`. */
      readonly failure?: string | undefined
      /** The wait the provider named, in ms. */
      readonly retryAfterMs?: number | undefined
      readonly latencyMs?: number | undefined
      /** Kept in memory as the cause of the next refusals. */
      readonly error?: unknown
    }
  | { readonly outcome: 'neutral' }
