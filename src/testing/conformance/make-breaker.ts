import type { CircuitBreakerOptions } from '../../core/breaker-options.ts'
import { errorText, scriptedRandom } from '../scenario/compare.ts'
import type { BreakerScenario } from '../scenario/scenario.ts'
import { NotOffered } from './adapter.ts'
import type { BreakerAdapter } from './adapter.ts'
import { checkMade } from './check-adapter.ts'
import { OutsideStage } from './outside-stage.ts'

/** There is no breaker to be asked, and it was not declined either. */
export class NotMade extends Error {
  override readonly name = 'NotMade'

  constructor(cause: unknown) {
    super(`create throws ${errorText(cause)}`, { cause })
  }
}

/** A new breaker of these rules, alone in the world while `use` looks at it. */
export async function withBreaker<T>(
  adapter: BreakerAdapter,
  { breaker, random }: Pick<BreakerScenario, 'breaker' | 'random'>,
  use: (stage: OutsideStage) => Promise<T>,
): Promise<T> {
  const made = checkMade(
    adapter,
    await (async () => adapter.create(breaker as CircuitBreakerOptions, scriptedRandom(random)))().catch(
      (error: unknown) => {
        throw error instanceof NotOffered ? error : new NotMade(error)
      },
    ),
  )
  try {
    return await use(new OutsideStage(made))
  } finally {
    await made.dispose?.()
  }
}

// what nobody can have anything against
const RIGHT: CircuitBreakerOptions = {
  threshold: 5,
  cooldownMs: 30_000,
  halfOpenProbes: 1,
  halfOpenSuccessRatio: 1,
  halfOpenConcurrency: 1,
}

/** What is wrong where rules must be refused; undefined = they are, by a breaker that takes other ones. */
export async function refusesRules(
  adapter: BreakerAdapter,
  scenario: BreakerScenario,
): Promise<string | undefined> {
  const isMade = async (breaker: Readonly<Record<string, unknown>>) => {
    try {
      await withBreaker(adapter, { ...scenario, breaker }, async () => {})
      return undefined
    } catch (error) {
      if (error instanceof NotMade) return error
      throw error
    }
  }
  const refused = await isMade(scenario.breaker)
  if (refused === undefined) return 'the rules should be refused, but are accepted'
  const right = Object.entries(RIGHT).filter(([key]) => Object.hasOwn(scenario.breaker, key))
  // one that throws at everything refuses nothing
  const always = await isMade(Object.fromEntries(right))
  return always === undefined ? undefined : `${always.message}, even for rules that are right`
}
