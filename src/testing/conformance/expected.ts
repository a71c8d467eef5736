import type { CircuitState } from '../../../machines/circuit-state.ts'
import type { BreakerStage } from '../scenario/breaker-steps.ts'
import { inText } from '../scenario/compare.ts'
import { runBreaker } from '../scenario/run-breaker.ts'
import type { BreakerScenario } from '../scenario/scenario.ts'

/** What must be seen from outside after a step, whatever the breaker calls it. */
export interface Expected {
  readonly state: CircuitState
  /** Callers that would be let in now; Infinity = all. */
  readonly room: number
  /** More callers than a trial lets in. */
  readonly crowd: number
  /** Failures in a row that are still missing; undefined = no such count decides. */
  readonly failuresLeft: number | undefined
}

function read({ breaker }: BreakerStage): Expected {
  const { policy } = breaker.options
  const { held, probes, consecutiveFailures } = breaker.getStatus()
  const { state } = breaker
  const taken = probes.inFlight + probes.succeeded + probes.failed
  const slots = Math.min(policy.halfOpenConcurrency - probes.inFlight, policy.halfOpenProbes - taken)
  const [rule, ...others] = policy.rules
  const flows = state === 'closed' || state === 'degraded'
  const counts = flows && !held && others.length === 0 && rule?.kind === 'consecutive'
  return {
    state,
    room: flows ? Infinity : state === 'open' ? 0 : slots,
    crowd: policy.halfOpenConcurrency + 2,
    failuresLeft: counts ? rule.threshold - consecutiveFailures : undefined,
  }
}

/**
 * What must be seen after each step of a scenario: a breaker of the library takes it alongside.
 *
 * @throws Error when the scenario does not hold for that one
 */
export function expectations(scenario: BreakerScenario): Expected[] {
  const seen: Expected[] = []
  const failure = runBreaker(scenario, (stage) => seen.push(read(stage)))
  if (failure !== undefined) {
    throw new Error(
      `The scenario ${inText(scenario.name)} does not hold for Switchgear itself: step ${failure.step}: ${failure.what}.`,
    )
  }
  return seen
}
