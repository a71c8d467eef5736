import type { CircuitState } from '../../../machines/circuit-state.ts'
import type { CommandOptions } from '../../core/operator.ts'

interface Described {
  readonly name: string
  /** What went wrong without it. */
  readonly why?: string
  /** Where the symptom was reported. */
  readonly sources?: readonly string[]
  readonly file?: string
  /** What `random()` returns, in order; the last one repeats. */
  readonly random: readonly number[]
  /** The error by which construction must refuse the options. */
  readonly throws?: 'RangeError' | 'ConfigError'
}

/** How a visit ends: its settlement and what comes with it. */
export interface SettleInput {
  readonly failure?: string
  readonly code?: string | number
  readonly retryAfterMs?: number | null
  readonly latencyMs?: number
}

export type SettleVerb = 'succeed' | 'fail' | 'ignore' | 'cancel'

/** One step of a breaker: a verb at most, and what must hold after it. */
export interface BreakerStep extends SettleInput {
  readonly line: number
  /** Virtual ms since the start. */
  readonly at?: number
  readonly advance?: number
  readonly admit?: string
  readonly reject?: string
  readonly succeed?: string
  readonly fail?: string
  readonly ignore?: string
  readonly cancel?: string
  readonly open?: CommandOptions
  readonly close?: CommandOptions
  readonly restart?: { readonly downMs: number }
  readonly calls?: SettleInput & { readonly outcome: SettleVerb; readonly times: number }
  readonly reason?: 'open' | 'half-open' | 'held'
  readonly expect?: CircuitState
  readonly transitions?: number
  readonly consecutiveFailures?: number
  readonly breakdown?: Readonly<Record<string, number>>
  readonly probes?: { readonly inFlight?: number; readonly succeeded?: number; readonly failed?: number }
  readonly canExecute?: boolean
}

/** One breaker, driven through its permits. */
export interface BreakerScenario extends Described {
  readonly kind: 'breaker'
  /** CircuitBreakerOptions as written: the breaker itself checks them. */
  readonly breaker: Readonly<Record<string, unknown>>
  readonly steps: readonly BreakerStep[]
}

/** One part of a scripted stream, which is also the part that the reader gets. */
export interface Chunk {
  readonly comment?: string
  readonly preamble?: string
  readonly text?: string
  readonly wait?: number
  readonly error?: unknown
  readonly cut?: true
  readonly done?: true
}

/** What a target answers to one request. */
export interface ScriptEntry {
  readonly ok?: unknown
  readonly soft?: boolean
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | number>>
  readonly body?: unknown
  readonly error?: string
  readonly hang?: true
  readonly empty?: true
  readonly stream?: readonly Chunk[]
  readonly afterMs?: number
}

/** What must be true when a call has ended. */
export interface CallExpectation {
  readonly answer?: unknown
  readonly text?: string
  readonly error?: { readonly code?: string | number; readonly retryAfterMs?: number | null }
  readonly attempts?: readonly string[]
  readonly models?: readonly (string | null)[]
  readonly states?: Readonly<Record<string, CircuitState | null>>
  readonly ended?: 'clean' | 'error'
  readonly elapsedMs?: number
  /** Time in which none of its requests was under way. */
  readonly waitedMs?: number
  readonly cancelled?: number
  readonly breakdown?: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly retryAfterMs?: number | null | Readonly<Record<string, number | null>>
}

type TargetCommand = CommandOptions & { readonly target?: string; readonly model?: string }

/** A call, or a step of the operator. */
export interface CallStep {
  readonly line: number
  readonly at: number
  readonly model?: string
  readonly stream?: boolean
  readonly abortAt?: number
  readonly aborted?: boolean
  readonly deadlineMs?: number
  /** The reader leaves after so many text chunks. */
  readonly stopAfter?: number
  readonly open?: TargetCommand
  readonly close?: TargetCommand
  readonly restart?: { readonly downMs: number }
  readonly expect?: CallExpectation
}

/** A whole switchgear against scripted targets. */
export interface CallScenario extends Described {
  readonly kind: 'call'
  /** SwitchgearOptions as written: the switchgear itself checks them. */
  readonly switchgear: Readonly<Record<string, unknown>> & {
    readonly targets: readonly Readonly<Record<string, unknown>>[]
  }
  /** By target, in order; the last entry repeats. */
  readonly script: Readonly<Record<string, readonly ScriptEntry[]>>
  readonly calls: readonly CallStep[]
}

/** A scenario file, read and checked. */
export type Scenario = BreakerScenario | CallScenario

/** The first step that does not hold. */
export interface ScenarioFailure {
  /** From 1; 0 = before the first step. */
  readonly step: number
  readonly line?: number
  /** One sentence. */
  readonly what: string
}

export interface ScenarioResult {
  readonly name: string
  readonly passed: boolean
  readonly failure?: ScenarioFailure
}
