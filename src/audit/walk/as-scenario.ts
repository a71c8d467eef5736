import type { CircuitBreakerOptions, ResolvedBreaker } from '../../core/breaker-options.ts'
import type { Seen } from './circuit-fields.ts'
import { stepsTo } from './walk-scenario.ts'
import type { WalkedScenario } from './walk-scenario.ts'
import type { WalkNode } from './walk.ts'

/** The options of a breaker as a scenario may hold them: no code, no saved circuit, one circuit for all models. */
export function plainOptions({ source, probeLeaseMs }: ResolvedBreaker): WalkedScenario['breaker'] {
  const {
    shouldCount: _count,
    onStateChange: _hook,
    snapshot: _saved,
    stackTraces: _traces,
    isolateByModel: _isolates,
    ...rules
  } = source
  return { ...(rules as CircuitBreakerOptions), probeLeaseMs }
}

/** The way to a place as a scenario of the circuit `side`. */
export function asScenario(
  node: WalkNode,
  rules: ResolvedBreaker,
  name: string,
  side = 0,
  told: Partial<Record<keyof Seen, true>> = { canExecute: true, retryAfterMs: true },
): WalkedScenario {
  return {
    name,
    breaker: plainOptions(rules),
    roll: node.circuits[side]!.roll,
    steps: stepsTo(node, side, told),
  }
}
