import type { ClassifyContext, OwnVerdict } from '../classify/verdict.ts'
import type { CircuitBreakerOptions } from './breaker-options.ts'

/** What a target is told of an attempt. The signal is made when it is first read. */
export interface AttemptContext {
  /** Fires at the attempt's own limit, the caller's abort, and the deadline. */
  readonly signal: AbortSignal
  /** The resolved model. */
  readonly model: string | undefined
  /** From 1 in each visit. */
  readonly attempt: number
  readonly target: string
  /** The id of the call. */
  readonly call: string
}

/** What a part of a stream is. Only content commits; only a terminal part completes. */
export type PartKind = 'content' | 'preamble' | 'keepalive' | 'terminal' | 'error'

/** How long to wait between two attempts at one target. */
export interface RetryOptions {
  /** First back-off, in ms. Default 500. */
  readonly baseMs?: number
  /** Growth per attempt. Default 2. */
  readonly multiplier?: number
  /** Longest wait in place, in ms. Default 10 000. */
  readonly maxMs?: number
}

/** One place a call can go. Durations are in ms; Infinity switches a limit off. */
export interface TargetOptions<Request = unknown, Result = unknown, Part = unknown> {
  /** Default: `primary`, then `fallback[0]`, `fallback[1]` … */
  readonly name?: string
  /** The configured model. Default: none, the caller's goes through. */
  readonly model?: string
  /** Sends one request. May throw, also synchronously. */
  readonly invoke?: (request: Request, context: AttemptContext) => Result | PromiseLike<Result>
  /** Sends one request and streams the answer. */
  readonly stream?: (
    request: Request,
    context: AttemptContext,
  ) => AsyncIterable<Part> | PromiseLike<AsyncIterable<Part>>
  /**
   * Says what a part is. Default: parts of chat completions, of the responses API, of the messages API and of the AI SDK
   * are known by their shape, errors inside the stream included; tool calls, thoughts and refusals are content. A stream
   * of the first three that never says how it ends is truncated. Every other part, and every part with `surface: 'tool'`,
   * is content, and a normal end is terminal.
   */
  readonly classifyPart?: (part: Part) => PartKind
  /**
   * True = the answer is no answer. Default: undefined, null, the empty string, and a chat completion, a response or a
   * message without content: no text, no call, no refusal, nothing but thoughts, and not cut by the caller's own token
   * limit. The default, but not with `surface: 'tool'`, also takes a body `{ error: { message, … } }` for the error that
   * it is. Any other object is an answer.
   */
  readonly isEmpty?: (result: Result) => boolean
  /** `true` for the defaults; left out or false: no breaker. */
  readonly circuitBreaker?: boolean | CircuitBreakerOptions
  /** Targets with the same bucket share one breaker. Default: the target's name. */
  readonly bucket?: string
  /** Attempts after the first, in one visit. An integer ≥ 0. Default 2. */
  readonly maxRetries?: number
  readonly retry?: RetryOptions
  /** Until the promise settles or the first part comes. > 0. Default 60 000. */
  readonly timeoutMs?: number
  /** Until the first content part of a stream, the reader's own time apart. > 0. Default 30 000. */
  readonly firstContentTimeoutMs?: number
  /** Between two parts of a stream after the first content, while a read is pending. > 0. Default 30 000. */
  readonly idleTimeoutMs?: number
  /** Answers for the classifier; undefined = the table decides. */
  readonly classify?: (error: unknown, context: ClassifyContext) => OwnVerdict | undefined
  /** Statuses that are not retried, whatever the table says. */
  readonly nonRetryableStatus?: readonly number[]
  /** `tool` = a business error of the target is an answer. Default `model`. */
  readonly surface?: 'model' | 'tool'
}

export const TARGET_KEYS: readonly (keyof TargetOptions)[] = [
  'name',
  'model',
  'invoke',
  'stream',
  'classifyPart',
  'isEmpty',
  'circuitBreaker',
  'bucket',
  'maxRetries',
  'retry',
  'timeoutMs',
  'firstContentTimeoutMs',
  'idleTimeoutMs',
  'classify',
  'nonRetryableStatus',
  'surface',
]
