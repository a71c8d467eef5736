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

/** Every circuit. Reading changes nothing. */
export function seeCircuits(gear: AdminGear, targets: readonly AdminTarget[]): SeenCircuit[] {
  const circuits = listCircuits(gear, targets)
  const stats = gear.stats()
  const breakers = new Map(stats.breakers.map((breaker) => [breaker.bucket, breaker]))
  const trafficOf = trafficBy(circuits, stats.targets)
  return circuits.map((circuit) => {
    const declared = circuit.places.flatMap((place) => targets[place] ?? [])
    const counted = breakers.get(circuit.circuit)
    return { ...circuit, view: viewOf(circuit, declared, counted, trafficOf(circuit)) }
  })
}

type Counted = ReturnType<AdminGear['stats']>['breakers'][number]

function viewOf(
  { circuit, targets, selector, told }: Circuit,
  declared: readonly AdminTarget[],
  counted: Counted | undefined,
  traffic: Traffic,
): CircuitView {
  const { status, hold } = told
  const [model, ...others] = new Set(declared.map((target) => selector.model ?? target.model))
  const { success = 0, failure = 0, neutral = 0, late = 0, refused } = counted?.stats ?? {}
  const rules = counted && rulesOf(counted.policy)
  return {
    circuit,
    targets,
    ...(model !== undefined && model !== '' && others.length === 0 && { model }),
    state: status.state,
    ...(status.observed && { observed: status.observed }),
    held: status.held,
    ...(hold !== null && { hold: { by: hold.by, reason: hold.reason, until: hold.until } }),
    since: status.since,
    openUntil: status.openUntil,
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
    rules: `${status.observed ? 'Only observed: refuses nobody. ' : ''}${rules?.sentence ?? ''}`,
    why: causeInWords(status.cause),
    explain: told.sentence,
  }
}
