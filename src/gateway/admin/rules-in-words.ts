import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { breakerSentences, tripsWhen } from '../../../machines/sentences.ts'
import type { Reading } from '../../../machines/tripping.ts'

/** The rules of a circuit, for people. */
export interface Rules {
  /** What opens the circuit and what closes it, in words. */
  readonly sentence: string
  /** The share of bad calls in the window, 0 to 1; null where no rule looks at one, or nothing was counted. */
  failureRatio(reading: Reading): number | null
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
  const closes = `A trial closes it once ${breakerSentences(policy).ratioMet}.`
  const rolling = rules.findIndex(({ kind }) => kind === 'rolling')
  return {
    sentence: `${opens} ${closes}`,
    failureRatio({ rules: readings }) {
      const { count = 0, calls = 0 } = readings[rolling] ?? {}
      return calls === 0 ? null : count / calls
    },
  }
}
