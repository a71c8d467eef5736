export { classify } from './classify/classify.ts'
export { failureTable } from './classify/failure-table.ts'
export type {
  ClassifyContext,
  FailureKind,
  FallbackRoute,
  OutcomeKind,
  OwnVerdict,
  Verdict,
} from './classify/verdict.ts'
export type { CircuitBreakerOptions, OnStateChange } from './core/breaker-options.ts'
export type { BreakerStatus } from './core/breaker-status.ts'
export type { CircuitBreaker } from './core/circuit-breaker.ts'
export type { Clock, Random } from './core/clock.ts'
export { createBreaker } from './core/create-breaker.ts'
export type { BreakerOptions, RuntimeOptions } from './core/create-breaker.ts'
export { withCircuitBreaker, withFallback, withRetry } from './core/decorators.ts'
export type {
  CallHooks,
  CircuitChangedReport,
  Decoratable,
  Provider,
  WithCircuitBreakerOptions,
  WithRetryOptions,
} from './core/decorators.ts'
export {
  AttemptTimeoutError,
  CircuitOpenError,
  ConfigError,
  DeadlineExceededError,
  FallbackExhaustedError,
  StreamInterruptedError,
  SwitchgearError,
  isSwitchgearError,
} from './core/errors.ts'
export type { AttemptRecord, SwitchgearErrorCode } from './core/errors.ts'
export type { ExecuteOptions, Work } from './core/execute.ts'
export type { Explanation } from './core/explain.ts'
export type { Journal, JournalEntry, JournalEvent } from './core/journal.ts'
export type { Logger } from './core/notifier.ts'
export type { CommandOptions } from './core/operator.ts'
export type { Outcome, Permit, Refusal } from './core/permit.ts'
export { llmDefaults, toolDefaults } from './core/presets.ts'
export { createBreakerRegistry } from './core/registry.ts'
export type { BreakerRegistry, RegistryOptions } from './core/registry.ts'
export { createSwitchgear } from './core/switchgear.ts'
export type { Switchgear, TargetSelector, TargetState } from './core/switchgear.ts'
export type {
  CallOptions,
  CallReport,
  SwitchgearEvent,
  SwitchgearOptions,
} from './core/switchgear-options.ts'
export type { AttemptContext, PartKind, RetryOptions, TargetOptions } from './core/target-options.ts'
export type { Transition } from './core/transition.ts'
export type { TrippingOption, TrippingPolicy, TrippingRuleOption } from './core/tripping-options.ts'
export type { VisitOutcome } from './core/visit-outcome.ts'
export type { CircuitState } from '../machines/circuit-state.ts'
export type { SavedCircuit } from '../machines/breaker-events.ts'
