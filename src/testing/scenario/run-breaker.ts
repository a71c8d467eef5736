import { BreakerStage } from './breaker-steps.ts'
import { construct, differs, firstOf } from './compare.ts'
import type { BreakerScenario, BreakerStep, ScenarioFailure } from './scenario.ts'

/** Where `retryAfterMs` is not a check of the status: the provider's word, and the refusal's figure. */
const spokenFor = ({ reject, fail }: BreakerStep) => reject !== undefined || fail !== undefined

/**
 * The first step that does not hold; undefined = all do.
 *
 * @param look sees the breaker after each step that holds
 */
export function runBreaker(
  scenario: BreakerScenario,
  look?: (stage: BreakerStage) => void,
): ScenarioFailure | undefined {
  const { made: stage, what } = construct(() => new BreakerStage(scenario), scenario.throws)
  if (what !== undefined) return { step: 0, what }
  if (stage === undefined) return undefined
  for (const [i, step] of scenario.steps.entries()) {
    const what = stage.do(step) ?? broken(stage, step)
    if (what !== undefined) return { step: i + 1, line: step.line, what }
    look?.(stage)
  }
  return undefined
}

/** What is not as the step says, as one sentence. */
function broken(stage: BreakerStage, step: BreakerStep): string | undefined {
  const { breaker } = stage
  const status = breaker.getStatus()
  const probes = step.probes ?? {}
  const is = (what: string, expected: unknown, actual: () => unknown) => () =>
    expected === undefined ? undefined : differs(what, expected, actual())
  return firstOf([
    is('the state', step.expect, () => breaker.state),
    is('transitions', step.transitions, () => stage.transitions),
    is('consecutiveFailures', step.consecutiveFailures, () => status.consecutiveFailures),
    is('the breakdown', step.breakdown, () => ({ ...breaker.getFailureBreakdown() })),
    is('probes in flight', probes.inFlight, () => status.probes.inFlight),
    is('succeeded probes', probes.succeeded, () => status.probes.succeeded),
    is('failed probes', probes.failed, () => status.probes.failed),
    is('canExecute', step.canExecute, () => breaker.canExecute()),
    is('retryAfterMs', spokenFor(step) ? undefined : step.retryAfterMs, () => status.retryAfterMs),
  ])
}
