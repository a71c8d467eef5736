export { classifyCase } from './classify-case.ts'
export type { CaseContext, CaseInput, ErrorShape } from './classify-case.ts'
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
