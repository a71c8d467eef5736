import type { Price } from '../replay/numbers.ts'
import { timeOpen } from '../replay/time-open.ts'
import type { Fault } from './load.ts'
import { total } from './observed.ts'
import type { Observed, TargetObserved } from './observed.ts'

/** What came of one target. */
export interface TargetReport {
  readonly name: string
  readonly sent: number
  readonly failed: number
  /** Streams that broke after their first part; undefined = nobody read one. */
  readonly interrupted: number | undefined
  readonly refused: number
  readonly refusedHealthy: number
  readonly wasted: number
  readonly answered: number
  readonly probes: number
  readonly openings: number
  /** Open and half-open together, in ms. */
  readonly openMs: number
  /** undefined = no price is given. */
  readonly cost: number | undefined
}

/** How one fault went. Times are ms since the start. */
export interface FaultReport {
  readonly target: string
  readonly fault: Fault
  /** False = the end came before it. */
  readonly reached: boolean
  /** From its start until the circuit was open; null = it never was. */
  readonly detectMs: number | null
  /** From its end until the circuit was closed; null = not by the end. */
  readonly recoverMs: number | null
}

export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** What came of a simulation. */
export interface SimulationReport {
  readonly name: string
  /** What was played, in a sentence. */
  readonly premise: string
  /** How far it came, in ms. */
  readonly playedMs: number
  readonly wantedMs: number
  readonly calls: number
  readonly unanswered: number
  /** Begun to be answered in parts, and broken off. */
  readonly interrupted: number
  readonly fallback: number
  readonly latencyMs: Percentiles
  /** Until the first part of a stream; undefined = nobody read one. */
  readonly firstPartMs: Percentiles | undefined
  readonly targets: readonly TargetReport[]
  readonly faults: readonly FaultReport[]
  readonly cost: number | undefined
  /** Of a scenario: what does not hold; '' = all does; undefined = nothing was claimed. */
  readonly verdict: string | undefined
  readonly observed: Observed
}

export interface SimulatedBy {
  readonly name: string
  readonly premise: string
  readonly playedMs: number
  readonly wantedMs: number
  readonly observed: Observed
  readonly faults: ReadonlyMap<string, readonly Fault[]>
  readonly prices: ReadonlyMap<string, Price>
  readonly verdict?: string
}

export function simulationReport({
  observed,
  faults,
  prices,
  verdict,
  ...same
}: SimulatedBy): SimulationReport {
  const interrupted = total(observed.interrupted)
  const streams = interrupted > 0 || observed.firstParts.length > 0
  const targets = observed.targets.map((target) =>
    targetReport(target, streams, same.playedMs, prices.get(target.name)),
  )
  const costs = targets.flatMap(({ cost }) => cost ?? [])
  return {
    ...same,
    calls: total(observed.calls),
    unanswered: total(observed.unanswered),
    interrupted,
    fallback: total(observed.fallback),
    latencyMs: percentiles(observed.latencies.all),
    firstPartMs: streams ? percentiles(observed.firstParts.all) : undefined,
    targets,
    faults: observed.targets.flatMap((target) =>
      (faults.get(target.name) ?? []).map((fault) => faultReport(target, fault, same.playedMs)),
    ),
    cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
    verdict,
    observed,
  }
}

function targetReport(
  target: TargetObserved,
  streams: boolean,
  playedMs: number,
  price: Price | undefined,
): TargetReport {
  const { name, refusedHealthy, wasted, answered, probes, changes, input, output } = target
  return {
    name,
    sent: total(target.sent),
    failed: total(target.failed),
    interrupted: streams ? target.interrupted : undefined,
    refused: total(target.refused),
    refusedHealthy,
    wasted,
    answered,
    probes,
    openings: changes.filter(({ from, to }) => to === 'open' && from !== 'half-open').length,
    openMs: timeOpen(changes, 0, playedMs),
    cost: price && (input * price.input + output * price.output) / 1e6,
  }
}

function percentiles(latencies: Float64Array): Percentiles {
  const sorted = latencies.slice().sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

function faultReport({ name, changes }: TargetObserved, fault: Fault, playedMs: number): FaultReport {
  const stateAt = (at: number) => changes.findLast((change) => change.at <= at)?.to ?? 'closed'
  const isOpen = (state: string) => state === 'open' || state === 'half-open'
  const opened = isOpen(stateAt(fault.fromAt))
    ? fault.fromAt
    : changes.find(({ at, to }) => isOpen(to) && at >= fault.fromAt && at < fault.toAt)?.at
  const closed = isOpen(stateAt(fault.toAt))
    ? changes.find(({ at, to }) => to === 'closed' && at >= fault.toAt && at <= playedMs)?.at
    : fault.toAt
  return {
    target: name,
    fault,
    reached: fault.fromAt < playedMs,
    detectMs: opened === undefined ? null : opened - fault.fromAt,
    recoverMs: closed === undefined ? null : closed - fault.toAt,
  }
}
