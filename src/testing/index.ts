export { classifyCase } from './classify-case.ts'
export type { CaseContext, CaseInput, ErrorShape } from './classify-case.ts'
export { NotOffered, ScriptedFailure } from './conformance/adapter.ts'
export type { BreakerAdapter, BreakerUnderTest, Offer } from './conformance/adapter.ts'
export { conformance } from './conformance/conformance.ts'
export type { ConformanceOptions, ConformanceResult } from './conformance/conformance.ts'
export { conformanceTable } from './conformance/conformance-table.ts'
export type { ConformanceRun } from './conformance/conformance-table.ts'
export { describeBreaker } from './conformance/describe-breaker.ts'
export type { DescribeBreakerOptions, TestRunner } from './conformance/describe-breaker.ts'
export { faultTable, formatFaults } from './faults.ts'
export type { Fault, OutageKind } from './faults.ts'
export { ListenError } from './listen-error.ts'
export type { RequestLogEntry, RequestOutcome } from './request-log.ts'
export { parseScenario } from './scenario/parse.ts'
export { runScenario } from './scenario/run-scenario.ts'
export type {
  BreakerScenario,
  CallScenario,
  Scenario,
  ScenarioFailure,
  ScenarioResult,
} from './scenario/scenario.ts'
export { startScriptedProvider } from './scripted-provider.ts'
export type { ScriptedProvider, ScriptedProviderOptions } from './scripted-provider.ts'
export { seededRandom } from './seeded-random.ts'
export { VirtualClock } from './virtual-clock.ts'
