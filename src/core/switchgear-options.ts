import type { Verdict } from '../classify/verdict.ts'
import type { SavedCircuit } from '../../machines/breaker-events.ts'
import type { WhenAllOpen } from '../../machines/chain-events.ts'
import type { OnStateChange } from './breaker-options.ts'
import type { RegistryLimits } from './buckets.ts'
import type { RuntimeOptions } from './create-breaker.ts'
import { ConfigError } from './errors.ts'
import type { TargetOptions } from './target-options.ts'
import type { Transition } from './transition.ts'
import {
  checkFunction,
  checkKeys,
  checkList,
  checkNumber,
  checkObject,
  checkWord,
  given,
} from './validate.ts'

/** Something that happened, for whoever listens. Names, kinds and numbers only. */
export type SwitchgearEvent =
  | ({ readonly type: 'circuit_state'; readonly targets: readonly string[] } & Transition)
  | FailedAttempt

/** An attempt without an answer. */
export interface FailedAttempt {
  readonly type: 'attempt_failed'
  readonly call: string
  readonly target: string
  readonly model: string | undefined
  readonly attempt: number
  readonly failure: string
  /** Somebody has to be told: waiting does not heal this. */
  readonly alert: boolean
}

/** How a call went. */
export interface CallReport {
  /** The target that answered, or the last one asked; undefined = nobody was asked. */
  readonly target: string | undefined
  readonly model: string | undefined
  /** Requests sent, over all targets. */
  readonly attempts: number
  /** The answering target's place in the chain, or behind it; 0 = the primary, −1 = nobody answered. */
  readonly fallbackIndex: number
  readonly durationMs: number
  readonly ok: boolean
}

/** The part of an AbortSignal that a call needs. */
export interface CallerSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: { handleEvent(): void }): void
  removeEventListener(type: 'abort', listener: { handleEvent(): void }): void
}

export interface CallOptions {
  /** The caller's signal: ends everything, back-offs included. */
  readonly signal?: CallerSignal
  /** The model asked for. Default: each target's own. */
  readonly model?: string
  /** The chain of this call: names of targets, in order, each once. Default: all of them, as declared. */
  readonly targets?: readonly string[]
  /** Once a target was asked, nobody else is; a refusal still passes on. Default false. */
  readonly noFallback?: boolean
  /**
   * Asks the first target even where its circuit refuses: once, and what comes of it is counted and decides nothing.
   * Default false.
   */
  readonly bypassCircuit?: boolean
  /** For the whole call, in ms. Default: the switchgear's. */
  readonly deadlineMs?: number
  /** Told once, when the call has ended. */
  readonly report?: (report: CallReport) => void
  /** Hears the transitions that this call causes, after the commit. */
  readonly onTransition?: ((transition: Transition) => void) | undefined
  /** The call's id. Default: a counter. */
  readonly id?: string
}

export interface SwitchgearOptions<Request = unknown, Result = unknown, Part = unknown>
  extends RuntimeOptions, RegistryLimits {
  /** The chain, in order. */
  readonly targets: readonly TargetOptions<Request, Result, Part>[]
  /** Overrides the table's last column. */
  readonly fallbackOn?: (error: unknown, at: { isLastTarget: boolean; verdict: Verdict }) => 'next' | 'stop'
  /** True = this answer is a failure all the same. */
  readonly detectSoftFailure?: (result: Result, at: { target: string; model: string | undefined }) => boolean
  /** When every circuit refuses. Default `fail`, with the smallest remaining wait. */
  readonly whenAllOpen?: 'fail' | 'last-resort' | { readonly waitMs: number }
  /** For each whole call, in ms. Default: none. */
  readonly deadlineMs?: number
  /** Bounds the retries of the whole chain. Default `{capacity: 10, perCall: 0.2}`. */
  readonly retryBudget?: false | { readonly capacity?: number; readonly perCall?: number }
  /** For prompts that are too long: target → targets, in order. */
  readonly contextWindowFallbacks?: Readonly<Record<string, readonly string[]>>
  /** For prompts that a filter refused: target → targets, in order. */
  readonly contentPolicyFallbacks?: Readonly<Record<string, readonly string[]>>
  readonly onStateChange?: OnStateChange
  readonly onEvent?: (event: SwitchgearEvent) => void
  /** Saved circuits to go on from, by bucket, as `snapshots()` gave them. */
  readonly snapshots?: Readonly<Record<string, SavedCircuit>>
}

/** What cannot change while a switchgear runs. */
const FIXED = ['clock', 'random', 'logger', 'journal', 'snapshots', 'maxBuckets', 'idleMs'] as const

/** What {@link Switchgear.reconfigure} takes: everything that is a rule. */
export type SwitchgearRules<Request = unknown, Result = unknown, Part = unknown> = Omit<
  SwitchgearOptions<Request, Result, Part>,
  (typeof FIXED)[number]
>

/** @throws ConfigError for an option that is given once and for all */
export function checkFixed(options: { readonly [Key in keyof SwitchgearOptions]?: unknown }): void {
  const key = FIXED.find((name) => options[name] !== undefined)
  if (key === undefined) return
  throw new ConfigError(`${key} cannot be changed while the switchgear runs.`, {
    path: key,
    hint: 'Leave it out, or create a new switchgear.',
  })
}

const KEYS: readonly (keyof SwitchgearOptions)[] = [
  'targets',
  'fallbackOn',
  'detectSoftFailure',
  'whenAllOpen',
  'deadlineMs',
  'retryBudget',
  'contextWindowFallbacks',
  'contentPolicyFallbacks',
  'onStateChange',
  'onEvent',
  'snapshots',
  'maxBuckets',
  'idleMs',
  'clock',
  'random',
  'logger',
  'journal',
]

/** Checks what does not concern a single target. */
export function checkSwitchgear(options: { readonly [Key in keyof SwitchgearOptions]?: unknown }): void {
  checkKeys('', options, KEYS)
  for (const key of ['fallbackOn', 'detectSoftFailure', 'onStateChange', 'onEvent'] as const) {
    checkFunction(key, options[key])
  }
  if (options.snapshots !== undefined) checkObject('snapshots', options.snapshots)
  if (checkList('targets', options.targets).length === 0) {
    throw new ConfigError('targets is empty.', { path: 'targets', hint: 'Give one target at least.' })
  }
  if (options.deadlineMs !== undefined) checkNumber('deadlineMs', options.deadlineMs, { min: 0, above: true })
}

export function resolveWhenAllOpen(option: SwitchgearOptions['whenAllOpen'] = 'fail'): WhenAllOpen {
  if (typeof option !== 'object') return { kind: checkWord('whenAllOpen', option, ['fail', 'last-resort']) }
  checkKeys('whenAllOpen', option, ['waitMs'])
  return { kind: 'wait', waitMs: checkNumber('whenAllOpen.waitMs', option.waitMs, { min: 0 }) }
}

/** Capacity and deposit of the retry budget; null = without limit. */
export function resolveBudget(option: SwitchgearOptions['retryBudget'] = {}): [number, number] | null {
  if (option === false) return null
  checkKeys('retryBudget', option, ['capacity', 'perCall'])
  return [
    checkNumber('retryBudget.capacity', given(option.capacity, 10), { min: 0, infinite: true }),
    checkNumber('retryBudget.perCall', given(option.perCall, 0.2), { min: 0 }),
  ]
}

/** Checks a list of special fallbacks against the names of the targets; a copy, as the list is its owner's. */
export function checkLists(
  path: string,
  lists: Readonly<Record<string, readonly string[]>> = {},
  names: ReadonlySet<string>,
): Readonly<Record<string, readonly string[]>> {
  const checked = Object.keys(checkObject(path, lists)).map((from) => {
    const list = [...checkList(`${path}.${from}`, lists[from])] as string[]
    for (const name of [from, ...list]) {
      if (typeof name === 'string' && names.has(name)) continue
      const hint = `Known targets: ${[...names].join(', ')}.`
      throw new ConfigError(`${path} names '${name}', which is no target.`, { path: `${path}.${from}`, hint })
    }
    return [from, list] as const
  })
  return Object.fromEntries(checked)
}
