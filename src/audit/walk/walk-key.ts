import { circuitState } from '../../../machines/circuit-state.ts'
import type { TrippingRule } from '../../../machines/tripping.ts'
import type { Remembered } from './circuit-fields.ts'
import type { Imagined } from './imagined.ts'

const SLICES = 10

/** What tells two circuits in thought apart, whatever comes: no names, no dates, no generations. */
export function walkKey(circuit: Imagined, mostReopens: number): string {
  const { snapshot, now, inside, remembered } = circuit
  const { policy, trial, hold, openUntil, reopens } = { ...snapshot.context }
  const until = (at: number | null) => (at === null ? null : at - now)
  const places = new Map(inside.map(({ permit }, i) => [permit.id, i]))
  const found = trial && [
    trial.succeeded,
    trial.failed,
    trial.permits.map((id) => places.get(id)),
    until(trial.retryUntil),
    trial.failure !== null && policy.kinds[trial.failure] !== undefined ? trial.failure : null,
  ]
  const within = inside.map((each) => {
    const { probe, leaseUntil } = each.permit
    const current = circuit.isCurrent(each)
    return [current, probe, current && probe ? leaseUntil - now : 0]
  })
  const last = remembered.at(-1)?.at
  const quietMs = circuitState(snapshot) !== 'degraded' || last === undefined ? null : now - last
  return JSON.stringify([
    snapshot.value,
    Math.min(reopens, mostReopens),
    hold && until(hold.until),
    until(openUntil),
    found,
    within,
    countsOf(circuit),
    quietMs,
  ])
}

function countsOf(circuit: Imagined): unknown {
  const { snapshot, now, remembered } = circuit
  if (remembered.length === 0) return phasesOf(snapshot.context.policy.rules, now)
  const { rules, kinds } = snapshot.context.policy
  const { reading } = circuit
  const counted = rules.map((rule, i) =>
    'windowMs' in rule
      ? inWindow(rule, remembered, now)
      : Math.min(reading.rules[i]?.count ?? 0, rule.kind === 'custom' ? 1 : finite(rule.threshold)),
  )
  const byKind = Object.entries(kinds).map(([kind, { threshold = 0 }]) =>
    Math.min(reading.kinds[kind] ?? 0, finite(threshold)),
  )
  return [counted, byKind, phasesOf(rules, now)]
}

// what never trips need not be counted
const finite = (threshold: number) => (threshold === Infinity ? 0 : threshold)

/** By age in slices: how many calls, how many of them bad. */
function inWindow(rule: TrippingRule & { windowMs: number }, remembered: readonly Remembered[], now: number) {
  const sliceMs = rule.windowMs / SLICES
  const slices = new Map<number, [number, number]>()
  for (const { at, failure, latencyMs } of remembered) {
    const age = Math.floor(now / sliceMs) - Math.floor(at / sliceMs)
    if (age >= SLICES) continue
    const [calls, bad] = slices.get(age) ?? [0, 0]
    const isBad = rule.kind === 'latency' ? latencyMs > rule.slowMs : failure !== null
    slices.set(age, [calls + 1, bad + (isBad ? 1 : 0)])
  }
  return [...slices].sort(([a], [b]) => a - b)
}

/** Where in a slice of each window it is now: the slices are aligned to the clock. */
const phasesOf = (rules: readonly TrippingRule[], now: number) =>
  rules.map((rule) => ('windowMs' in rule ? now % (rule.windowMs / SLICES) : 0))
