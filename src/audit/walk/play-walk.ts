import { parseScenario } from '../../testing/scenario/parse.ts'
import { runScenario } from '../../testing/scenario/run-scenario.ts'
import { scenarioText } from './walk-scenario.ts'
import type { WalkedScenario } from './walk-scenario.ts'

/** Plays a scenario on a breaker of the library, as `switchgear check` would. */
export async function playedRight(scenario: WalkedScenario): Promise<boolean> {
  const { passed } = await runScenario(parseScenario(scenarioText(scenario)))
  return passed
}
