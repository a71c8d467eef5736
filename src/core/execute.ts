import { classify } from '../classify/classify.ts'
import type { Verdict } from '../classify/verdict.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { Notifier } from './notifier.ts'
import type { Outcome, Permit } from './permit.ts'

export interface ExecuteOptions {
  /** The caller's signal; handed on to the work. An abort is neutral for the breaker. */
  readonly signal?: AbortSignal
}

/** What runs behind a breaker. */
export type Work<T> = (context: ExecuteOptions) => T | PromiseLike<T>

const NOTHING: ExecuteOptions = Object.freeze({})
export const SUCCESS: Outcome = Object.freeze({ outcome: 'success' })
export const NEUTRAL: Outcome = Object.freeze({ outcome: 'neutral' })

type ShouldCount = CircuitBreaker['options']['shouldCount']

/** The column "counts" of a verdict, after the user's own `shouldCount`. */
export function outcomeOf(
  shouldCount: ShouldCount,
  notifier: Notifier,
  error: unknown,
  verdict: Verdict,
): Outcome {
  if (verdict.outcome === 'success') return SUCCESS
  const asked = shouldCount !== undefined && verdict.failure !== 'aborted'
  const own = asked ? notifier.ask('shouldCount', () => shouldCount(error, verdict)) : undefined
  if (!(typeof own === 'boolean' ? own : verdict.outcome === 'failure')) return NEUTRAL
  return { outcome: 'failure', failure: verdict.failure, retryAfterMs: verdict.retryAfterMs, error }
}

/** Admission, work, settlement. */
export function execute<T>(
  breaker: CircuitBreaker,
  work: Work<T>,
  options: ExecuteOptions = NOTHING,
): Promise<T> {
  const signal = options.signal
  if (signal?.aborted === true) return Promise.reject(signal.reason)
  const generation = signal === undefined ? breaker.openGate : 0
  if (generation > 0) return executeClosed(breaker, work, generation)
  const permit = breaker.tryAcquire()
  if (!permit.admitted) return Promise.reject(breaker.refusalError(permit))
  const settled = begin(work, options).then(
    (value: T) => {
      breaker.settle(permit, SUCCESS)
      return value
    },
    (error: unknown) => {
      throw failed(breaker, permit, error, signal)
    },
  )
  return signal === undefined ? settled : orAborted(breaker, permit, settled, signal)
}

/** Starts the work. A promise of a foreign class is adopted, as its `then` may do anything. */
function begin<T>(work: Work<T>, options: ExecuteOptions): Promise<T> {
  try {
    const running = work(options)
    return isPlainPromise(running) ? running : Promise.resolve().then(() => running)
  } catch (error) {
    return Promise.reject(error)
  }
}

const { then } = Promise.prototype

/** True for a promise of the language's own class, whose `then` is nobody else's. */
export function isPlainPromise<T>(value: T | PromiseLike<T>): value is Promise<T> {
  return value instanceof Promise && value.constructor === Promise && value.then === then
}

/** The closed path: a flag, the call, and a few counters. */
function executeClosed<T>(breaker: CircuitBreaker, work: Work<T>, generation: number): Promise<T> {
  return begin(work, NOTHING).then(
    (value: T) => {
      breaker.succeeded(generation)
      return value
    },
    (error: unknown) => {
      throw failed(breaker, breaker.ticket(generation), error, undefined)
    },
  )
}

function failed(
  breaker: CircuitBreaker,
  permit: Permit,
  error: unknown,
  signal: AbortSignal | undefined,
): unknown {
  const callerAborted = signal?.aborted === true
  breaker.settle(permit, breaker.outcomeOf(error, classify(error, { callerAborted })))
  return callerAborted ? signal?.reason : error
}

/** Ends with the caller's own reason as soon as the signal aborts, whether the work listens or not. */
function orAborted<T>(
  breaker: CircuitBreaker,
  permit: Permit,
  settled: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => {
      breaker.settle(permit, NEUTRAL)
      reject(signal.reason)
    }
    // the work itself may have aborted it
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    const done = () => signal.removeEventListener('abort', abort)
    settled.then(
      (value) => {
        done()
        resolve(value)
      },
      (error) => {
        done()
        reject(error)
      },
    )
  })
}
