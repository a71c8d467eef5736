import type { AuditedPolicy } from '../audited.ts'
import type { LintAssumptions } from './finding.ts'

/** Calls a minute of the circuit of a policy that sees the fewest or the most; undefined = nobody has said it. */
export function rateOf(
  { targets }: Pick<AuditedPolicy, 'targets'>,
  callsPerMinute: LintAssumptions['callsPerMinute'],
  which: 'least' | 'most',
): number | undefined {
  if (typeof callsPerMinute === 'number') return callsPerMinute
  if (callsPerMinute === undefined) return undefined
  // one circuit sees the calls of all its targets
  const circuits = Map.groupBy(targets, ({ bucket }) => bucket)
  const rates = [...circuits.values()].flatMap((sharing) => {
    const known = sharing.flatMap(({ name }) => callsPerMinute[name] ?? [])
    return known.length === 0 ? [] : [known.reduce((sum, rate) => sum + rate, 0)]
  })
  if (rates.length === 0) return undefined
  return which === 'least' ? Math.min(...rates) : Math.max(...rates)
}
