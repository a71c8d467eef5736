import type { Explanation } from '../../core/explain.ts'
import { causeInWords } from '../../core/explain.ts'
import type { Switchgear } from '../../core/switchgear.ts'
import type { TargetOptions } from '../../core/target-options.ts'
import { listCircuits } from '../circuits.ts'
import type { Circuit } from '../circuits.ts'
import { rulesOf } from './rules-in-words.ts'
import { trafficBy } from './traffic.ts'
import type { CircuitView, Traffic } from './wire.ts'

/** What the admin API needs of a switchgear, whatever it sends. */
export type AdminGear = Pick<
  Switchgear<unknown, unknown, unknown>,
  | 'explain'
  | 'getCircuitStates'
  | 'snapshots'
  | 'stats'
  | 'openCircuit'
  | 'closeCircuit'
  | 'on'
  | 'supervisor'
>

/** What the admin API needs to know of a target as it is configured. */
export type AdminTarget = Pick<
  TargetOptions<unknown, unknown, unknown>,
  'name' | 'model' | 'bucket' | 'circuitBreaker'
>

/** A circuit, the way to it, and how it is shown. */
export interface SeenCircuit extends Circuit {
  readonly view: CircuitView
}

/** Every circuit; `shift` moves times from the clock of the breakers to that of the wall. Reading changes nothing. */
export function seeCircuits(gear: AdminGear, targets: readonly AdminTarget[], shift: number): SeenCircuit[] {
  const circuits = listCircuits(gear, targets)
  const stats = gear.stats()
  const breakers = new Map(stats.breakers.map((breaker) => [breaker.bucket, breaker]))
  const trafficOf = trafficBy(circuits, stats.targets)
  return circuits.map((circuit) => {
    const declared = circuit.places.flatMap((place) => targets[place] ?? [])
    const counted = breakers.get(circuit.circuit)
    return { ...circuit, view: viewOf(circuit, declared, counted, trafficOf(circuit), shift) }
  })
}

type Counted = ReturnType<AdminGear['stats']>['breakers'][number]

const isObserved = ({ circuitBreaker }: AdminTarget) =>
  typeof circuitBreaker === 'object' && circuitBreaker.mode === 'observe'

function viewOf(
  { circuit, targets, selector, told }: Circuit,
  declared: readonly AdminTarget[],
  counted: Counted | undefined,
  traffic: Traffic,
  shift: number,
): CircuitView {
  const { status, hold } = told
  const [model, ...others] = new Set(declared.map((target) => selector.model ?? target.model))
  const { success = 0, failure = 0, neutral = 0, late = 0, refused } = counted?.stats ?? {}
  const rules = counted && rulesOf(counted.policy)
  const observes = declared.some((target) => isObserved(target))
  const at = (time: number | null) => (time === null ? null : time + shift)
  return {
    circuit,
    targets,
    ...(model !== undefined && model !== '' && others.length === 0 && { model }),
    state: status.state,
    held: status.held,
    ...(hold !== null && { hold: { by: hold.by, reason: hold.reason, until: at(hold.until) } }),
    since: status.since + shift,
    openUntil: at(status.openUntil),
    retryAfterMs: status.retryAfterMs,
    generation: status.generation,
    reopenCount: status.reopenCount,
    probes: {
      inFlight: status.probes.inFlight,
      succeeded: status.probes.succeeded,
      failed: status.probes.failed,
    },
    failures: told.breakdown,
    consecutiveFailures: status.consecutiveFailures,
    failureRatio: rules?.failureRatio(status.reading) ?? null,
    ...(status.lastFailureKind !== undefined && { lastFailureKind: status.lastFailureKind }),
    refused: Object.values(refused ?? {}).reduce((all, n) => all + n, 0),
    calls: { success, failure, neutral },
    late,
    ...traffic,
    rules: `${observes ? 'Only observed: refuses nobody. ' : ''}${rules?.sentence ?? ''}`,
    why: causeInWords(status.cause),
    explain: told.sentence,
  }
}

/** The data behind the sentence, its times on the wall clock. */
export function explanationView(told: Explanation, shift: number): Explanation {
  const { bucket, status, breakdown, hold, sentence } = told
  const at = (time: number | null) => (time === null ? null : time + shift)
  return {
    bucket,
    status: {
      ...status,
      since: status.since + shift,
      openedAt: at(status.openedAt),
      openUntil: at(status.openUntil),
    },
    breakdown,
    hold: hold && { ...hold, until: at(hold.until) },
    sentence,
  }
}
