import { resolveBreaker } from '../../core/breaker-options.ts'
import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import { policyFromJson } from '../../stores/policy-json.ts'
import { policyOptions } from '../policy-options.ts'
import type { RecordedCircuit } from './read-outcomes.ts'

/** The rules that were in force at `at`, where the recording tells of them. Default: the last ones. */
export function recordedRules({ rules }: RecordedCircuit, at = Infinity): ResolvedBreaker | undefined {
  const row = rules.findLast((row) => row.at <= at) ?? rules[0]
  if (row === undefined) return undefined
  const { probeLeaseMs, ...policy } = row.rules
  try {
    const options = policyOptions(policyFromJson(policy)!)
    return (
      options && resolveBreaker({ ...options, ...(typeof probeLeaseMs === 'number' && { probeLeaseMs }) })
    )
  } catch {
    // rules of another version, or with functions that no file can hold
    return undefined
  }
}
