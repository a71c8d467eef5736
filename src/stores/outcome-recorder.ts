import { resolve } from 'node:path'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { ConfigError } from '../core/errors.ts'
import { silentLogger } from '../core/notifier.ts'
import type { Logger } from '../core/notifier.ts'
import type { Transition } from '../core/transition.ts'
import { checkKeys, checkMethods, checkNumber } from '../core/validate.ts'
import type { VisitOutcome } from '../core/visit-outcome.ts'
import { LineFile } from './line-file.ts'
import type { OutcomeRow, RecordedRow } from './outcome-row.ts'
import { OutcomeSampler } from './outcome-sampler.ts'
import { policyAsJson } from './policy-json.ts'

export interface OutcomeRecorderOptions {
  /**
   * Where; one JSON object a line, for its owner alone (mode 0600). Older ones are kept beside it under names of their own.
   */
  readonly file: string
  /**
   * Share of the uneventful successes that have a row of their own, in (0, 1]. Failures, refusals and the first success
   * after them are always written. Default 1.
   */
  readonly sample?: number
  /** What is older goes, within a day; > 0, Infinity = never. Default 7. */
  readonly keepDays?: number
  /** All files together, in MiB; > 0, Infinity = without limit. Default 64. */
  readonly maxMegabytes?: number
  /** Default: the real clock. */
  readonly clock?: Clock
  /** A pino-shaped logger. Default: silent. */
  readonly logger?: Logger
}

interface Told {
  readonly outcome: VisitOutcome
  readonly transition: Transition
}

/** A switchgear, as far as it is recorded. */
export interface OutcomeSource {
  on<E extends 'outcome' | 'transition'>(event: E, listener: (told: Told[E]) => void): () => void
  stats(): { readonly breakers: readonly { readonly bucket: string; readonly policy: BreakerPolicy }[] }
}

const KEYS = ['file', 'sample', 'keepDays', 'maxMegabytes', 'clock', 'logger']
const MEBIBYTE = 1_048_576
const DAY_MS = 86_400_000
const POSITIVE = { min: 0, above: true, infinite: true }

/** Made by {@link outcomeRecorder}. */
export class OutcomeRecorder {
  readonly #file: LineFile
  readonly #sampler: OutcomeSampler
  readonly #rules = new Map<string, string>()

  constructor(options: OutcomeRecorderOptions) {
    checkKeys('record', options, KEYS)
    const { file, sample = 1, keepDays = 7, maxMegabytes = 64 } = options
    if (typeof file !== 'string' || file === '')
      throw new ConfigError('record.file is missing.', { path: 'record.file', hint: 'Name a file to write.' })
    const clock =
      checkMethods('record.clock', options.clock, ['now', 'wall', 'setTimeout', 'clearTimeout']) ??
      systemClock
    const logger = checkMethods('record.logger', options.logger, ['info', 'warn', 'error']) ?? silentLogger
    checkNumber('record.sample', sample, { min: 0, max: 1, above: true })
    this.#sampler = new OutcomeSampler(sample)
    this.#file = new LineFile({
      file: resolve(file),
      keepMs: checkNumber('record.keepDays', keepDays, POSITIVE) * DAY_MS,
      maxBytes: checkNumber('record.maxMegabytes', maxMegabytes, POSITIVE) * MEBIBYTE,
      clock,
      logger,
      header: (at) => {
        // a reader of this file alone must find the rules in it
        this.#rules.clear()
        return JSON.stringify({ outcomes: 1, at, sample })
      },
    })
  }

  /** Rows that could not be written. */
  get dropped(): number {
    return this.#file.dropped
  }

  /** Records a switchgear from now on. Returns the way to stop. */
  attach(source: OutcomeSource): () => void {
    const stopOutcomes = source.on('outcome', (told) => this.#outcome(told, source))
    const stopTransitions = source.on('transition', (told) => this.#transition(told, source))
    return () => {
      stopOutcomes()
      stopTransitions()
    }
  }

  #outcome(told: VisitOutcome, source: OutcomeSource): void {
    const { at, target, model, bucket, outcome, failure, latencyMs, retryAfterMs } = told
    if (!this.#rules.has(bucket)) this.#tellRules(bucket, at, source)
    const row: OutcomeRow = {
      at,
      target,
      ...(model !== undefined && { model }),
      ...(bucket !== target && { circuit: bucket }),
      outcome,
      ...(failure !== undefined && { kind: failure }),
      ...(latencyMs !== undefined && { ms: Math.round(latencyMs) }),
      ...(retryAfterMs !== undefined && Number.isFinite(retryAfterMs) && { retryAfterMs }),
    }
    for (const one of this.#sampler.rowsFor(row)) this.#write(one)
  }

  #transition({ bucket: circuit, at, from, to, cause }: Transition, source: OutcomeSource): void {
    // the rules may have changed since the last one
    this.#tellRules(circuit, at, source)
    this.#write({ at, circuit, from, to, why: cause.why })
  }

  #tellRules(circuit: string, at: number, source: OutcomeSource): void {
    const policy = source.stats().breakers.find(({ bucket }) => bucket === circuit)?.policy
    const rules = policy === undefined ? undefined : policyAsJson(policy)
    const text = JSON.stringify(rules) ?? ''
    if (this.#rules.get(circuit) === text) return
    this.#rules.set(circuit, text)
    if (rules !== undefined) this.#write({ at, circuit, rules })
  }

  #write(row: RecordedRow): void {
    this.#file.add(JSON.stringify(row))
  }

  /** Writes what still waits. */
  flush(): Promise<void> {
    return this.#file.flush()
  }

  /** Writes what still waits, and records nothing any more. */
  async close(): Promise<void> {
    for (const row of this.#sampler.rest()) this.#write(row)
    await this.#file.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * Writes down what every visit came to: when, where, and how; names, kinds and numbers only. It is what `switchgear replay
 * --outcomes` needs. Rows are written once a second; a process that is killed loses that much.
 *
 * @throws RangeError for a number out of range, ConfigError for an unknown option
 * @example
 * ```ts
 * await using recorder = outcomeRecorder({ file: 'outcomes.jsonl', sample: 0.1 })
 * recorder.attach(gear)
 * ```
 */
export function outcomeRecorder(options: OutcomeRecorderOptions): OutcomeRecorder {
  return new OutcomeRecorder(options)
}
