const BRAND = Symbol.for('switchgear.error')

/** The stable codes of everything that Switchgear itself throws. */
export type SwitchgearErrorCode =
  | 'ERR_CIRCUIT_OPEN'
  | 'ERR_FALLBACK_EXHAUSTED'
  | 'ERR_ATTEMPT_TIMEOUT'
  | 'ERR_DEADLINE_EXCEEDED'
  | 'ERR_STREAM_INTERRUPTED'
  | 'ERR_EMPTY_RESPONSE'
  | 'ERR_TRUNCATED_STREAM'
  | 'ERR_SOFT_FAILURE'
  | 'ERR_CONFIG'
  | 'ERR_REGISTRY_FULL'
  | 'ERR_CLOSED'

interface Details {
  readonly target?: string | undefined
  readonly model?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** The base of every error of Switchgear. Recognise it by `code` or {@link isSwitchgearError}, not by `instanceof`. */
export class SwitchgearError extends Error {
  readonly code: SwitchgearErrorCode
  /** The target it happened at, where there is one. */
  readonly target: string | undefined
  /** The model that was asked for, where there is one. */
  readonly model: string | undefined
  /** When it is worth coming back, in ms from when the error was made; undefined = nobody knows. */
  readonly retryAfterMs: number | undefined
  readonly [BRAND] = true

  constructor(code: SwitchgearErrorCode, message: string, details: Details = {}) {
    super(message, 'cause' in details && details.cause !== undefined ? { cause: details.cause } : undefined)
    this.code = code
    this.target = details.target
    this.model = details.model
    this.retryAfterMs = details.retryAfterMs
  }

  override get name(): string {
    return this.constructor.name
  }

  /** What is safe to log: no cause, no provider text. */
  toJSON(): Record<string, unknown> {
    const { name, code, message, target, model, retryAfterMs } = this
    return { name, code, message, target, model, retryAfterMs }
  }
}

/** True for every error of Switchgear, also from another copy of the package. */
export function isSwitchgearError(error: unknown): error is SwitchgearError {
  return typeof error === 'object' && error !== null && (error as Record<symbol, unknown>)[BRAND] === true
}

/** A number for the reader: "in 3 s". */
export const inWords = (ms: number): string => `in ${lengthInWords(ms)}`

/** Such as `30 s`. */
export function lengthInWords(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)} ms`
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`
}

interface OpenDetails extends Details {
  readonly state: 'open' | 'half-open'
  /** Epoch ms. */
  readonly retryAfter: number | undefined
}

/** A breaker refused; nothing was sent. `cause` = the error that tripped it, kept in memory only. */
export class CircuitOpenError extends SwitchgearError {
  readonly state: 'open' | 'half-open'
  /** When the target may next be asked, in epoch ms; undefined = only an operator knows. */
  readonly retryAfter: number | undefined

  constructor(name: string, details: OpenDetails) {
    const why = details.state === 'open' ? 'is open' : 'is half-open and every probe slot is taken'
    const ms = details.retryAfterMs
    const wait = ms === undefined ? 'it is held until somebody closes it' : `try again ${inWords(ms)}`
    super('ERR_CIRCUIT_OPEN', `Circuit of '${name}' ${why}; ${wait}.`, details)
    this.state = details.state
    this.retryAfter = details.retryAfter
  }
}

/** A {@link CircuitOpenError} without a stack trace: building one costs more than the refusal. */
export function circuitOpenError(name: string, details: OpenDetails, withStack: boolean): CircuitOpenError {
  if (withStack) return new CircuitOpenError(name, details)
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return new CircuitOpenError(name, details)
  } finally {
    Error.stackTraceLimit = limit
  }
}

/** One line of what a call went through, in order. */
export interface AttemptRecord {
  readonly target: string
  readonly model: string | undefined
  /** `refused` = the breaker said no, nothing was sent. */
  readonly outcome: 'refused' | 'failed' | 'neutral'
  /** The failure kind, `circuit_open` for a refusal. */
  readonly failure: string
  readonly retryAfterMs: number | undefined
  readonly error: unknown
}

/** Two targets or more refused or failed. `cause` = the last error. */
export class FallbackExhaustedError extends SwitchgearError {
  /** Every refusal and every attempt, in order. */
  readonly attempts: readonly AttemptRecord[]

  constructor(attempts: readonly AttemptRecord[], retryAfterMs: number | undefined) {
    const story = attempts.map(({ target, failure }) => `${target}: ${failure}`).join(', ')
    const wait = retryAfterMs === undefined ? '' : ` Try again ${inWords(retryAfterMs)}.`
    const last = attempts.at(-1)
    super('ERR_FALLBACK_EXHAUSTED', `No target could answer (${story}).${wait}`, {
      target: last?.target,
      model: last?.model,
      retryAfterMs,
      cause: last?.error,
    })
    this.attempts = attempts
  }

  override toJSON(): Record<string, unknown> {
    const attempts = this.attempts.map(({ error: _error, ...facts }) => facts)
    return { ...super.toJSON(), attempts }
  }
}

/** Which of an attempt's own limits ended it. */
export type Limit = 'timeout' | 'first_content_timeout' | 'idle_timeout'

const LIMIT_OPTION: Record<Limit, string> = {
  timeout: 'timeoutMs',
  first_content_timeout: 'firstContentTimeoutMs',
  idle_timeout: 'idleTimeoutMs',
}

/** An attempt took longer than one of its limits. */
export class AttemptTimeoutError extends SwitchgearError {
  readonly limit: Limit

  constructor(limit: Limit, ms: number, details: Details) {
    super(
      'ERR_ATTEMPT_TIMEOUT',
      `'${details.target}' took longer than ${ms} ms (${LIMIT_OPTION[limit]}).`,
      details,
    )
    this.limit = limit
  }
}

/** The call's deadline passed first. */
export class DeadlineExceededError extends SwitchgearError {
  constructor(deadlineMs: number, details: Details = {}) {
    super('ERR_DEADLINE_EXCEEDED', `The call was not answered within ${deadlineMs} ms (deadlineMs).`, details)
  }
}

/** A stream broke after its first content; nobody else finishes the sentence. */
export class StreamInterruptedError extends SwitchgearError {
  /** Parts that had reached the reader. */
  readonly delivered: number

  constructor(delivered: number, details: Details) {
    super(
      'ERR_STREAM_INTERRUPTED',
      `The stream of '${details.target}' broke after ${delivered} ${delivered === 1 ? 'part' : 'parts'}.`,
      details,
    )
    this.delivered = delivered
  }
}

/** Options that cannot work: an unknown key, a word that is none of the allowed, a conflict. */
export class ConfigError extends SwitchgearError {
  /** Where in the options. */
  readonly path: string | undefined
  /** Line in the file, where there is a file. */
  readonly line: number | undefined
  /** What would be right. */
  readonly hint: string | undefined

  constructor(message: string, at: { path?: string; line?: number; hint?: string } = {}) {
    super('ERR_CONFIG', at.hint === undefined ? message : `${message} ${at.hint}`)
    this.path = at.path
    this.line = at.line
    this.hint = at.hint
  }
}
