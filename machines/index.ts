export { breakerMachine } from './breaker.machine.ts'
export type { BreakerContext, BreakerInput } from './breaker-context.ts'
export type { BreakerEvent, Cause, Hold, SavedCircuit } from './breaker-events.ts'
export type { BreakerGuard } from './breaker-guards.ts'
export type { BreakerPolicy } from './breaker-policy.ts'
export { chainMachine } from './chain.machine.ts'
export type { ChainContext, ChainInput } from './chain-context.ts'
export type {
  AttemptVerdict,
  ChainEvent,
  ChainPlan,
  PlannedTarget,
  Refusal,
  SpecialLists,
  WhenAllOpen,
} from './chain-events.ts'
export type { ChainGuard } from './chain-guards.ts'
export { callsFlow, circuitState, savedCircuit } from './circuit-state.ts'
export type { BreakerSnapshot, CircuitState } from './circuit-state.ts'
export { drawCooldown, longestCooldown } from './cooldown.ts'
export type { CooldownFunction, CooldownPolicy, ExponentialBackoff, KindPolicy } from './cooldown.ts'
export { retryWait } from './retry.ts'
export type { RetryPolicy } from './retry.ts'
export { breakerSentences, chainSentences, ruleInWords, supervisorSentences } from './sentences.ts'
export { supervisorMachine } from './supervisor.machine.ts'
export type {
  OperatorCommand,
  SupervisorContext,
  SupervisorEvent,
  SupervisorNotice,
  WantedBreaker,
} from './supervisor.machine.ts'
export type { Trial } from './trial.ts'
export { largestShare, shareOf } from './tripping.ts'
export type { Reading, RuleReading, TrippingRule } from './tripping.ts'
