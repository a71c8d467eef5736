import type { BreakerScenario, BreakerStep } from '../scenario/scenario.ts'
import type { BreakerAdapter } from './adapter.ts'

const WORDS: Readonly<Record<string, string>> = {
  rolling: 'tripping by failure ratio',
  latency: 'tripping by latency',
  leaky: 'a leaky count',
  neutral: 'neutral outcomes',
  retryAfter: 'Retry-After',
  open: 'opening by hand',
  close: 'closing by hand',
  holdOpen: 'holding it open',
  holdClosed: 'holding it closed',
  holdFor: 'holding it for a while',
  restart: 'surviving a restart',
}

function needsOfStep(
  { ignore, cancel, fail, calls, open, close, restart, retryAfterMs }: BreakerStep,
  isHeldOpen: boolean,
) {
  const isNeutral = calls?.outcome === 'ignore' || calls?.outcome === 'cancel'
  const named = (fail !== undefined && retryAfterMs !== undefined) || calls?.retryAfterMs !== undefined
  const held = [open, close].some((command) => command?.ttlMs !== undefined)
  return [
    (ignore !== undefined || cancel !== undefined || isNeutral) && 'neutral',
    named && 'retryAfter',
    open !== undefined && (open.hold === true ? 'holdOpen' : 'open'),
    // who can hold it open can also let go
    close !== undefined && (close.hold === true ? 'holdClosed' : isHeldOpen ? 'holdOpen' : 'close'),
    held && 'holdFor',
    restart !== undefined && 'restart',
  ].filter((need) => need !== false)
}

function needsOfSteps(steps: readonly BreakerStep[]) {
  let isHeldOpen = false
  return steps.flatMap((step) => {
    const needs = needsOfStep(step, isHeldOpen)
    if (step.open?.hold === true) isHeldOpen = true
    if (step.close !== undefined) isHeldOpen = false
    return needs
  })
}

function needsOfRules(rules: Readonly<Record<string, unknown>>): string[] {
  const { tripping, ...others } = rules
  const rule = tripping as { readonly kind?: string } | undefined
  return [...Object.keys(others), ...(rule === undefined ? [] : [rule.kind ?? 'tripping'])]
}

/** What cannot be said to a breaker from outside, where a call ends by itself and once. */
function unsayable({ breaker, steps }: BreakerScenario): string | undefined {
  const settled = new Set<string>()
  for (const { succeed, fail, ignore, cancel, latencyMs, calls } of steps) {
    const permit = succeed ?? fail ?? ignore ?? cancel
    if (permit !== undefined && settled.has(permit)) return 'a call ends once'
    if (permit !== undefined) settled.add(permit)
    const told = latencyMs ?? calls?.latencyMs
    const isLatency = needsOfRules(breaker).includes('latency')
    if (isLatency && told !== undefined) return 'a latency is measured, not told'
  }
  return undefined
}

/** Why a scenario cannot be put to this breaker, in a few words; undefined = it can. */
export function cannotBeAsked(
  { offers, declines }: BreakerAdapter,
  id: string,
  scenario: BreakerScenario,
): string | undefined {
  const declined = declines?.[id]
  if (declined !== undefined) return declined
  const known: readonly string[] = offers
  // where the rules must be refused there are no steps
  const needs = [...needsOfRules(scenario.breaker), ...needsOfSteps(scenario.steps ?? [])]
  const missing = [...new Set(needs)].filter((need) => !known.includes(need))
  if (missing.length > 0) return `does not offer ${missing.map((need) => WORDS[need] ?? need).join(', ')}`
  return scenario.throws === undefined ? unsayable(scenario) : undefined
}
