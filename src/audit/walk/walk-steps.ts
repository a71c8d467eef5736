import { longestCooldown } from '../../../machines/cooldown.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { Inside, WalkRules } from './circuit-fields.ts'
import type { Imagined } from './imagined.ts'
import type { Ending, WalkStep } from './walk-step.ts'

/** How far a walk goes. */
export interface Bounds {
  /** Outcomes that a window holds at most; rules without a window need none. */
  readonly outcomes: number
  /** Calls under way at a time. */
  readonly inside: number
  /** Failed trials in a row that are told apart. */
  readonly reopens: number
  /** Whether a window is also seen when half of it has passed; else what was counted leaves it all at once. */
  readonly halves: boolean
}

const HOLD_MS = 60_000
const MOST_INSIDE = 3
const SMALL_WINDOW = 6
const MOST_REOPENS = 6

const windowed = ({ rules }: BreakerPolicy) => rules.filter((rule) => 'windowMs' in rule)

/** Failed trials after which the cooldown grows no more. */
function reopensOf({ backoff, cooldownMs }: BreakerPolicy): number {
  if (backoff === null) return 0
  if (typeof backoff === 'function') return MOST_REOPENS
  if (backoff.multiplier === 1 || cooldownMs === 0) return 0
  const steps = Math.ceil(Math.log(backoff.maxMs / cooldownMs) / Math.log(backoff.multiplier))
  return Math.min(MOST_REOPENS, Math.max(0, steps))
}

/** Bounds within which everything that these rules can do is seen, as far as that is possible. */
export function boundsFor(rules: readonly WalkRules[]): Bounds {
  const policies = rules.map(({ policy }) => policy)
  const calls = policies.flatMap((policy) => windowed(policy).map(({ minCalls }) => Math.max(1, minCalls)))
  const concurrency = Math.max(...policies.map(({ halfOpenConcurrency }) => halfOpenConcurrency))
  return {
    outcomes: calls.length === 0 ? 0 : Math.max(...calls) + 2,
    inside: Math.min(MOST_INSIDE, concurrency + 1),
    reopens: Math.max(...policies.map(reopensOf)),
    halves: calls.length > 0 && Math.max(...calls) <= SMALL_WINDOW,
  }
}

/** The ways in which a call can end that some rule treats differently. */
function endings(policies: readonly BreakerPolicy[]): Ending[] {
  const kinds = new Set(policies.flatMap((policy) => Object.keys(policy.kinds)))
  const slow = policies.flatMap(({ rules }) =>
    rules.flatMap((rule) => (rule.kind === 'latency' ? [rule.slowMs + 1] : [])),
  )
  return [
    { outcome: 'succeed' },
    { outcome: 'fail' },
    ...[...kinds].map((failure): Ending => ({ outcome: 'fail', failure })),
    ...[...new Set(slow)].map((latencyMs): Ending => ({ outcome: 'succeed', latencyMs })),
  ]
}

/** Longer than any circuit would stay open by itself, and than any of them believes. */
const longWait = (policies: readonly BreakerPolicy[]) =>
  2 *
  Math.max(
    1000,
    ...policies.map((policy) => longestCooldown({ ...policy, backoff: withoutInfinity(policy) }, 0)),
  )

const withoutInfinity = ({ backoff, cooldownMs }: BreakerPolicy): BreakerPolicy['backoff'] =>
  backoff !== null && typeof backoff === 'object' && backoff.maxMs === Infinity
    ? { ...backoff, maxMs: cooldownMs * backoff.multiplier ** MOST_REOPENS }
    : backoff

/** Everything that can happen next to circuits that have lived through the same, but for an operator. */
export function naturalSteps(circuits: readonly Imagined[], bounds: Bounds): WalkStep[] {
  const policies = circuits.map(({ rules }) => rules.policy)
  return [...waits(circuits, bounds), ...calls(circuits, policies, bounds), ...reports(circuits, policies)]
}

function calls(
  circuits: readonly Imagined[],
  policies: readonly BreakerPolicy[],
  bounds: Bounds,
): WalkStep[] {
  if (!circuits.every(({ seen }) => seen.canExecute)) return []
  const [{ inside, issued, remembered }] = circuits as [Imagined]
  const states = circuits.map(({ seen }) => seen.state)
  if (states.every((state) => state === 'open')) return []
  const isFull = bounds.outcomes > 0 && circuits.some((circuit) => callsIn(circuit) >= bounds.outcomes)
  // a call that stays under way matters once its generation is over: beside one that counts more it shows nothing new
  const mayStay = states.includes('half-open')
    ? inside.length < bounds.inside
    : inside.length === 0 && remembered.length === 0
  const told: Ending = { outcome: 'fail', retryAfterMs: longWait(policies) }
  const now = isFull
    ? []
    : [...endings(policies), told].map((ending): WalkStep => ({ do: 'call', ...ending }))
  const admit: WalkStep[] = mayStay ? [{ do: 'admit', permit: nameOf(issued) }] : []
  return [...now, ...admit]
}

/** The most calls that any window holds. */
const callsIn = ({ reading, rules }: Imagined) => {
  return Math.max(
    0,
    ...rules.policy.rules.map((rule, i) => ('windowMs' in rule ? reading.rules[i]!.calls : 0)),
  )
}

/** `a` to `z`, then `a1` and so on. */
const nameOf = (n: number) => `${String.fromCharCode(97 + (n % 26))}${n < 26 ? '' : Math.floor(n / 26)}`

function reports(circuits: readonly Imagined[], policies: readonly BreakerPolicy[]): WalkStep[] {
  const [first] = circuits as [Imagined]
  // of calls in the same position one is enough
  const alike = Map.groupBy(first.inside, (each) =>
    circuits.map((circuit) => positionOf(circuit, each.name)).join('/'),
  )
  return [...alike.values()].flatMap(([each]) => {
    if (each === undefined) return []
    const isLate = circuits.every((circuit) => !isCurrent(circuit, each.name))
    const told: Ending = { outcome: 'fail', retryAfterMs: longWait(policies) }
    const all: Ending[] = isLate
      ? [{ outcome: 'succeed' }, { outcome: 'fail' }, told]
      : [...endings(policies), { outcome: 'ignore' }]
    return all.map((ending): WalkStep => ({ do: 'settle', permit: each.name, ...ending }))
  })
}

const find = ({ inside }: Imagined, name: string): Inside | undefined =>
  inside.find((each) => each.name === name)

function isCurrent(circuit: Imagined, name: string): boolean {
  const found = find(circuit, name)
  return found !== undefined && circuit.isCurrent(found)
}

function positionOf(circuit: Imagined, name: string): string {
  const found = find(circuit, name)
  return `${isCurrent(circuit, name)} ${found?.permit.probe} ${found?.permit.leaseUntil}`
}

/** Until something moves by itself, and until the windows are empty. */
function waits(circuits: readonly Imagined[], { halves }: Bounds): WalkStep[] {
  const dues = circuits.flatMap(({ dueAt, now }) => (dueAt === undefined ? [] : [dueAt - now]))
  const windows = circuits.flatMap(({ rules: { policy }, remembered }) =>
    remembered.length === 0
      ? []
      : windowed(policy).flatMap(({ windowMs }) => (halves ? [windowMs / 2, windowMs] : [windowMs])),
  )
  const all = new Set([...dues, ...windows].map(Math.ceil).filter((ms) => ms > 0))
  return [...all].sort((a, b) => a - b).map((ms): WalkStep => ({ do: 'wait', ms }))
}

/** What an operator can do. */
export function operatorSteps(circuits: readonly Imagined[]): WalkStep[] {
  const held = circuits.some(({ snapshot }) => snapshot.context.hold !== null)
  if (held) return [{ do: 'close' }]
  return [
    { do: 'open' },
    { do: 'close' },
    { do: 'open', hold: true, ttlMs: HOLD_MS },
    { do: 'close', hold: true, ttlMs: HOLD_MS },
  ]
}
