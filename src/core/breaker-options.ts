import leven from 'leven'
import { failureTable } from '../classify/failure-table.ts'
import type { Verdict } from '../classify/verdict.ts'
import type { BreakerPolicy } from '../../machines/breaker-policy.ts'
import type { CooldownFunction, ExponentialBackoff, KindPolicy } from '../../machines/cooldown.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'
import type { SavedCircuit } from '../../machines/breaker-events.ts'
import { ConfigError } from './errors.ts'
import { checkSaved } from './saved-circuit.ts'
import type { Transition } from './transition.ts'
import { resolveTripping } from './tripping-options.ts'
import type { TrippingOption, TrippingPolicy } from './tripping-options.ts'
import {
  checkBoolean,
  checkFunction,
  checkName,
  checkKeys,
  checkNumber,
  checkObject,
  checkWord,
  given,
} from './validate.ts'

/** Called once per real change of state, after the commit; what it throws is logged. */
export type OnStateChange = (
  from: CircuitState,
  to: CircuitState,
  consecutiveFailures: number,
  model: string | undefined,
  detail: Transition,
) => void

/** The rules of one breaker. Read once, at construction. Every duration is in ms. */
export interface CircuitBreakerOptions {
  /** Failures in a row that open the circuit; an integer ≥ 1, or Infinity for never. Default 5. */
  readonly threshold?: number
  /** How long the circuit stays open before the trial. Finite, ≥ 0. Default 30 000. */
  readonly cooldownMs?: number
  /** Growth of the cooldown per failed trial, or a function of the reopenings. Default: none. */
  readonly cooldownBackoff?:
    | {
        readonly multiplier: number
        readonly maxMs?: number
        readonly minMs?: number
        readonly jitter?: ExponentialBackoff['jitter']
      }
    | CooldownFunction
  /** What opens the circuit; of an array any rule does. Default `{kind: 'consecutive', threshold}`. */
  readonly tripping?: TrippingOption
  /** Probes of one trial; an integer ≥ 1. Default 1. */
  readonly halfOpenProbes?: number
  /** Share of the probes that must succeed, in (0, 1]. Default 1. */
  readonly halfOpenSuccessRatio?: number
  /** Probes in flight at a time, ≤ `halfOpenProbes`. Default: all of them. */
  readonly halfOpenConcurrency?: number
  /** `all` waits for every probe, `early` decides when the verdict is certain. Default `all`. */
  readonly halfOpenVerdict?: 'all' | 'early'
  /** How long a probe may be silent before it counts as failed. > 0. Default 60 000. */
  readonly probeLeaseMs?: number
  /** Report `degraded` from this share of the threshold, in (0, 1). Default: off. */
  readonly degradation?: { readonly at?: number }
  /** Own threshold and cooldown per failure kind, on top of the tripping rules. Default `{}`. */
  readonly kinds?: Readonly<Record<string, KindPolicy>>
  /** A breaker of its own for every resolved model. Default false. */
  readonly isolateByModel?: boolean
  /** A longer Retry-After is cut to this, in ms. Default 300 000. */
  readonly maxRetryAfterMs?: number
  /** `observe` runs the machine and refuses nothing. Default `enforce`. */
  readonly mode?: 'enforce' | 'observe'
  /** Overrides the table's column "counts": false = neutral. */
  readonly shouldCount?: (error: unknown, verdict: Verdict) => boolean
  readonly onStateChange?: OnStateChange
  /** A circuit saved by `snapshot()`, to go on from. */
  readonly snapshot?: SavedCircuit
  /** Build a stack trace for every refusal that is thrown. Costs more than the refusal. Default false. */
  readonly stackTraces?: boolean
}

/** Options, checked and complete. */
export interface ResolvedBreaker {
  readonly policy: BreakerPolicy
  readonly custom: readonly (TrippingPolicy | null)[]
  readonly probeLeaseMs: number
  readonly leaseIsDefault: boolean
  readonly isolateByModel: boolean
  readonly observe: boolean
  readonly shouldCount: ((error: unknown, verdict: Verdict) => boolean) | undefined
  readonly onStateChange: OnStateChange | undefined
  readonly snapshot: SavedCircuit | undefined
  readonly stackTraces: boolean
  /** The options as given: a second use of the name must give the same. */
  readonly source: CircuitBreakerOptions
}

/** The names of all options of a breaker. */
export const BREAKER_KEYS: readonly (keyof CircuitBreakerOptions)[] = [
  'threshold',
  'cooldownMs',
  'cooldownBackoff',
  'tripping',
  'halfOpenProbes',
  'halfOpenSuccessRatio',
  'halfOpenConcurrency',
  'halfOpenVerdict',
  'probeLeaseMs',
  'degradation',
  'kinds',
  'isolateByModel',
  'maxRetryAfterMs',
  'mode',
  'shouldCount',
  'onStateChange',
  'snapshot',
  'stackTraces',
]

const COUNT = { min: 1, integer: true }
const COUNT_OR_NEVER = { min: 1, integer: true, infinite: true }
// three hundred years: the end of a longer one is no date any more
const DURATION = { min: 0, max: 1e13 }
const SHARE = { min: 0, max: 1, above: true }

/**
 * Checks every option and fills in the defaults.
 *
 * @param path how the options are called in an error's text
 * @throws RangeError for a number out of its range, naming option, value and range
 * @throws ConfigError for an unknown key or word, or a conflict
 */
export function resolveBreaker(options: CircuitBreakerOptions = {}, path = ''): ResolvedBreaker {
  checkKeys(path, options, BREAKER_KEYS)
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  const number = (
    key: keyof CircuitBreakerOptions,
    standard: number,
    range: Parameters<typeof checkNumber>[2],
  ) => checkNumber(at(key), given<unknown>(options[key], standard), range)

  const threshold = number('threshold', 5, COUNT_OR_NEVER)
  const { rules, custom } = resolveTripping(options.tripping, options.threshold, threshold, at('tripping'))
  const halfOpenProbes = number('halfOpenProbes', 1, COUNT)
  const policy: BreakerPolicy = {
    rules,
    cooldownMs: number('cooldownMs', 30_000, DURATION),
    backoff: resolveBackoff(options.cooldownBackoff, at('cooldownBackoff')),
    maxRetryAfterMs: number('maxRetryAfterMs', 300_000, DURATION),
    kinds: resolveKinds(options.kinds, at('kinds')),
    degradedAt: resolveDegradation(options.degradation, at('degradation')),
    halfOpenProbes,
    halfOpenSuccessRatio: number('halfOpenSuccessRatio', 1, SHARE),
    halfOpenConcurrency: number('halfOpenConcurrency', halfOpenProbes, { ...COUNT, max: halfOpenProbes }),
    halfOpenVerdict: checkWord(at('halfOpenVerdict'), given(options.halfOpenVerdict, 'all'), [
      'all',
      'early',
    ]),
  }
  return {
    policy,
    custom,
    probeLeaseMs: number('probeLeaseMs', 60_000, { min: 0, above: true }),
    leaseIsDefault: options.probeLeaseMs === undefined,
    isolateByModel: checkBoolean(at('isolateByModel'), options.isolateByModel) ?? false,
    observe: checkWord(at('mode'), given(options.mode, 'enforce'), ['enforce', 'observe']) === 'observe',
    shouldCount: checkFunction(at('shouldCount'), options.shouldCount),
    onStateChange: checkFunction(at('onStateChange'), options.onStateChange),
    snapshot: options.snapshot === undefined ? undefined : checkSaved(options.snapshot, at('snapshot')),
    stackTraces: checkBoolean(at('stackTraces'), options.stackTraces) ?? false,
    source: options,
  }
}

function resolveBackoff(
  option: CircuitBreakerOptions['cooldownBackoff'],
  path: string,
): BreakerPolicy['backoff'] {
  if (option === undefined) return null
  if (typeof option === 'function') return option
  checkKeys(path, option, ['multiplier', 'maxMs', 'minMs', 'jitter'])
  const maxMs = checkNumber(`${path}.maxMs`, given(option.maxMs, Infinity), { min: 0, infinite: true })
  return {
    multiplier: checkNumber(`${path}.multiplier`, option.multiplier, { min: 1 }),
    maxMs,
    minMs: checkNumber(`${path}.minMs`, given(option.minMs, 0), { min: 0, max: maxMs }),
    jitter: checkWord(`${path}.jitter`, given(option.jitter, 'full'), ['full', 'equal', 'none']),
  }
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** Any name may be a kind of the user's own classifier, but not one of ours spelt otherwise. */
function checkKind(at: string, name: string): void {
  checkName(at, name)
  if (Object.hasOwn(failureTable, name)) return
  const ours = Object.keys(failureTable).find((kind) => leven(plain(kind), plain(name.slice(0, 40))) < 2)
  if (ours !== undefined) {
    throw new ConfigError(`${at} is no kind of failure.`, { path: at, hint: `Did you mean '${ours}'?` })
  }
}

function resolveKinds(option: CircuitBreakerOptions['kinds'], path: string): Record<string, KindPolicy> {
  const kinds: Record<string, KindPolicy> = {}
  if (option === undefined) return kinds
  for (const [name, kind] of Object.entries(checkObject(path, option))) {
    const at = `${path}.${name}`
    checkKind(at, name)
    const { threshold, cooldownMs, immediateOpen } = checkKeys(at, kind, [
      'threshold',
      'cooldownMs',
      'immediateOpen',
    ])
    const immediate = checkBoolean(`${at}.immediateOpen`, immediateOpen)
    kinds[name] = {
      ...(threshold !== undefined && {
        threshold: checkNumber(`${at}.threshold`, threshold, COUNT_OR_NEVER),
      }),
      ...(cooldownMs !== undefined && { cooldownMs: checkNumber(`${at}.cooldownMs`, cooldownMs, DURATION) }),
      ...(immediate !== undefined && { immediateOpen: immediate }),
    }
  }
  return kinds
}

function resolveDegradation(option: CircuitBreakerOptions['degradation'], path: string): number | null {
  if (option === undefined) return null
  checkKeys(path, option, ['at'])
  const share = checkNumber(`${path}.at`, given(option.at, 0.6), SHARE)
  if (share < 1) return share
  throw new RangeError(`${path}.at is ${share}; it must be a number greater than 0 and below 1.`)
}
