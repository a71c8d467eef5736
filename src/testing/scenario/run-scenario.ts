import { runBreaker } from './run-breaker.ts'
import { runCalls } from './run-call.ts'
import type { Scenario, ScenarioResult } from './scenario.ts'

/**
 * Plays a scenario in virtual time; nothing sleeps.
 *
 * @example
 * ```ts
 * const { passed, failure } = await runScenario(parseScenario(text, 'open.yaml'))
 * ```
 */
export async function runScenario(scenario: Scenario): Promise<ScenarioResult> {
  const { name } = scenario
  const failure = scenario.kind === 'breaker' ? runBreaker(scenario) : await runCalls(scenario)
  return { name, passed: failure === undefined, ...(failure && { failure }) }
}
