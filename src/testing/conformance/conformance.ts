import type { CircuitBreakerOptions } from '../../core/breaker-options.ts'
import { checkKeys, checkObject } from '../../core/validate.ts'
import type { BreakerScenario, Scenario } from '../scenario/scenario.ts'
import type { BreakerAdapter } from './adapter.ts'
import { checkAdapter } from './check-adapter.ts'
import { examine } from './examine.ts'
import { knownScenarios } from './known-scenarios.ts'
import type { KnownScenario } from './known-scenarios.ts'
import { cannotBeAsked } from './needs.ts'
import { toldRules, toldSteps, verbOf } from './told-steps.ts'
import { edgePaths, walkEdges } from './walk-edges.ts'

/** What came of one question. */
export interface ConformanceResult {
  /** A scenario's file name, or the sort of step under the name of its rules. */
  readonly id: string
  /** What it is about. */
  readonly group: string
  /**
   * `survives` = all callers were let in and refused as they should; `fails` = some were not, as `reason` says;
   * `cannot be asked` = the breaker does not offer what the question needs, or the adapter declines it, which is no
   * fault, or the question lies behind a step that fails.
   */
  readonly verdict: 'survives' | 'fails' | 'cannot be asked'
  /** One line: what went another way, or why it cannot be asked. */
  readonly reason?: string
  /** Of a failure: the rules of the breaker, in one line. */
  readonly rules?: string
  /** Of a failure: the steps that led there, in one line; the last ones where they are many. */
  readonly steps?: string
  /** Of a failed scenario: what goes wrong without it. */
  readonly why?: string
  /** Of a failed scenario that comes with the package: its file. */
  readonly file?: string
}

export interface ConformanceOptions {
  /** Scenarios of one's own instead of those that come with the package, by name; of the kind `breaker`. */
  readonly scenarios?: Readonly<Record<string, Scenario>>
  /**
   * Rules whose every step is taken, by name: the edge cover of the statechart, as far as the breaker can be driven
   * along it. They open after failures in a row. Default: thresholds of 1 and of 3.
   */
  readonly rules?: Readonly<Record<string, CircuitBreakerOptions>>
}

type Answer = Omit<ConformanceResult, 'id' | 'group'>

/** A question that can be put to a breaker. */
export interface ConformanceQuestion extends Pick<ConformanceResult, 'id' | 'group'> {
  readonly ask: () => Promise<Answer>
}

const standardRules = {
  'every step, opening at 1 failure': { threshold: 1, cooldownMs: 1000 },
  'every step, opening at 3 failures': { threshold: 3, cooldownMs: 1000 },
}

async function askScenario(adapter: BreakerAdapter, { id, scenario, file }: KnownScenario): Promise<Answer> {
  const no = cannotBeAsked(adapter, id, scenario)
  if (no !== undefined) return { verdict: 'cannot be asked', reason: no }
  const divergence = await examine(adapter, scenario)
  if (divergence === undefined) return { verdict: 'survives' }
  if (divergence.isDeclined) return { verdict: 'cannot be asked', reason: divergence.what }
  const { why, breaker, steps = [] } = scenario
  const step = steps[divergence.step]
  const where = step === undefined ? '' : `step ${divergence.step + 1} (${verbOf(step)}): `
  return {
    verdict: 'fails',
    reason: `${where}${divergence.what}`,
    rules: toldRules(breaker),
    steps: toldSteps(steps.slice(0, divergence.step + 1)),
    ...(why !== undefined && { why }),
    ...(file !== undefined && { file }),
  }
}

function stepQuestions(
  adapter: BreakerAdapter,
  group: string,
  rules: CircuitBreakerOptions,
): ConformanceQuestion[] {
  const found = edgePaths(group, rules, adapter.offers)
  const nothing: BreakerScenario = {
    kind: 'breaker',
    name: group,
    random: [],
    breaker: { ...rules },
    steps: [],
  }
  const declined = cannotBeAsked(adapter, group, nothing)
  // all of them are answered in one walk
  let walked: ReturnType<typeof walkEdges> | undefined
  return found.sorts.map((sort) => ({
    id: `${group}: ${sort}`,
    group,
    ask: async () => {
      if (declined !== undefined) return { verdict: 'cannot be asked', reason: declined }
      walked ??= walkEdges(adapter, found)
      const { sort: _, ...answer } = (await walked).find((result) => result.sort === sort)!
      return answer.verdict === 'fails' ? { ...answer, rules: toldRules(rules) } : answer
    },
  }))
}

function ownScenario([id, scenario]: [string, Scenario]): KnownScenario {
  if (scenario.kind === 'breaker') return { id, group: 'scenarios', scenario }
  throw new RangeError(
    `The scenario '${id}' is of the kind ${scenario.kind}; only a breaker can be asked here.`,
  )
}

/**
 * Everything that can be put to a breaker; nothing is asked yet.
 *
 * @throws ConfigError for an adapter or options that are not as they should be
 * @throws RangeError for a scenario of another kind, and for rules that cannot be walked from outside
 */
export function conformanceQuestions(
  adapter: BreakerAdapter,
  options: ConformanceOptions = {},
): ConformanceQuestion[] {
  checkAdapter(adapter)
  checkKeys('', options, ['scenarios', 'rules'])
  const { scenarios, rules = standardRules } = options
  if (scenarios !== undefined) checkObject('scenarios', scenarios)
  checkObject('rules', rules)
  const known = scenarios === undefined ? knownScenarios() : Object.entries(scenarios).map(ownScenario)
  return [
    ...known.map((each) => ({ id: each.id, group: each.group, ask: () => askScenario(adapter, each) })),
    ...Object.entries(rules).flatMap(([name, each]) => stepQuestions(adapter, name, each)),
  ]
}

/**
 * Puts every question to a breaker, in virtual time: symptoms of real breakers as scenarios, and every step of the
 * statechart. A breaker is judged by whom it lets in, not by what it calls its states.
 *
 * @throws ConfigError for an adapter, a breaker of its, or options that are not as they should be
 * @throws Error when a scenario does not hold for a breaker of this package
 * @throws RangeError for a scenario of another kind, and for rules that cannot be walked from outside
 * @example
 * ```ts
 * const clock = new VirtualClock()
 * const results = await conformance({
 *   name: 'mine',
 *   offers: ['threshold', 'cooldownMs'],
 *   create({ threshold = 5, cooldownMs = 30_000 }) {
 *     const breaker = new MyBreaker(threshold, cooldownMs, () => clock.now())
 *     return { execute: (work) => breaker.run(work), advance: (ms) => clock.advance(ms) }
 *   },
 * })
 * for (const { id, verdict, reason } of results) if (verdict === 'fails') console.log(id, reason)
 * ```
 */
export async function conformance(
  adapter: BreakerAdapter,
  options?: ConformanceOptions,
): Promise<ConformanceResult[]> {
  const results: ConformanceResult[] = []
  for (const { id, group, ask } of conformanceQuestions(adapter, options)) {
    results.push({ id, group, ...(await ask()) })
  }
  return results
}
