import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { lengthInWords } from '../../core/errors.ts'
import { breakerSentences, tripsWhen } from '../../../machines/sentences.ts'
import type { Reading } from '../../../machines/tripping.ts'

/** The rules of a circuit, for people. */
export interface Rules {
  /** What opens the circuit and what closes it, in words. */
  readonly sentence: string
  /** The share of bad calls in the window, 0 to 1; null where no rule looks at one, or nothing was counted. */
  failureRatio(reading: Reading): number | null
}

function cooldownInWords({ cooldownMs, backoff }: BreakerPolicy): string {
  if (typeof backoff === 'function') return 'After a cooldown that a function gives,'
  if (backoff === null) return `After ${lengthInWords(cooldownMs)}`
  const most = Number.isFinite(backoff.maxMs) ? ` up to ${lengthInWords(backoff.maxMs)}` : ''
  const jitter = backoff.jitter === 'none' ? '' : ', with jitter,'
  return `After ${lengthInWords(cooldownMs)}${jitter} × ${backoff.multiplier} for each failed trial${most},`
}

const known = new WeakMap<BreakerPolicy, Rules>()

/** What a policy means. The same policy is put into words once. */
export function rulesOf(policy: BreakerPolicy): Rules {
  const rules = known.get(policy) ?? readRules(policy)
  known.set(policy, rules)
  return rules
}

function readRules(policy: BreakerPolicy): Rules {
  const { rules, kinds } = policy
  const never =
    rules.every((rule) => 'threshold' in rule && rule.threshold === Infinity) &&
    Object.values(kinds).every(
      ({ immediateOpen, threshold }) => immediateOpen !== true && threshold === undefined,
    )
  const opens = never ? 'Never opens by itself.' : `Opens on ${tripsWhen(policy)}.`
  const trial = `a trial closes it once ${breakerSentences(policy).ratioMet}`
  const closes = `${cooldownInWords(policy)} ${trial}.`
  const rolling = rules.findIndex(({ kind }) => kind === 'rolling')
  return {
    sentence: `${opens} ${closes}`,
    failureRatio({ rules: readings }) {
      const { count = 0, calls = 0 } = readings[rolling] ?? {}
      return calls === 0 ? null : count / calls
    },
  }
}
