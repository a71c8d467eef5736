import type { CircuitState } from '../../../machines/circuit-state.ts'
import type { Transition } from '../../core/transition.ts'
import type { Course } from './course.ts'
import type { Fates } from './fates.ts'
import { failureRatioOf } from './incident-model.ts'
import type { Incident, Phase } from './incident-model.ts'
import type { Tokens } from './traffic.ts'

/** Calls by how the target was when they came. */
export type ByHealth = Readonly<Record<Phase['health'], number>>

/** How one incident went. */
export interface IncidentCourse {
  readonly incident: string
  /** From its start until the circuit was open, in ms; null = it never was. */
  readonly detectMs: number | null
  /** From its end until the circuit was closed, in ms; null = the next incident came first. */
  readonly recoverMs: number | null
}

/** What one policy made of one row of calls. */
export interface Tally {
  readonly calls: number
  /** Answered by the target. */
  readonly answered: number
  /** Admitted, and failed. */
  readonly failed: ByHealth
  /** Refused: nothing was sent. */
  readonly refused: ByHealth
  /** Refused, though the target would have answered. */
  readonly refusedInVain: ByHealth
  /** What the answered calls asked the target for, and what all others would ask a backup for. */
  readonly tokens: { readonly answered: Tokens; readonly others: Tokens }
  readonly probes: number
  readonly probesFailed: number
  /** Times the circuit opened from closed. */
  readonly openings: number
  /** … while there was no outage. */
  readonly falseAlarms: number
  /** Outages only: incidents in which so many calls fail that the circuit should open. */
  readonly outages: readonly IncidentCourse[]
}

/** Counts what became of the calls. */
export function tally(course: Course, fates: Fates, incidents: readonly Incident[]): Tally {
  const { traffic, phases } = fates
  const refused = { healthy: 0, impaired: 0, down: 0 }
  const refusedFailing = { healthy: 0, impaired: 0, down: 0 }
  const failed = { healthy: 0, impaired: 0, down: 0 }
  const ends = phases.map(({ toAt }) => Math.min(fates.end, traffic.firstAt(toAt)))
  phases.forEach(({ health, fromAt }, i) => {
    failed[health] += fates.failures(traffic.firstAt(fromAt), ends[i]!)
  })
  let phase = 0
  for (let i = 0; i < course.refusals; i++) {
    let [from, to] = course.refusalAt(i)
    while (from < to) {
      while (ends[phase]! <= from) phase++
      const end = Math.min(to, ends[phase]!)
      const { health } = phases[phase]!
      const failing = fates.failures(from, end)
      refused[health] += end - from
      refusedFailing[health] += failing
      failed[health] -= failing
      from = end
    }
  }
  const all = traffic.tokens(0, fates.end)
  const others = tokensOfOthers(course, fates)
  const openings = course.transitions.filter(({ from, to }) => to === 'open' && from !== 'half-open')
  return {
    calls: fates.end,
    answered: fates.end - sum(refused) - sum(failed),
    failed,
    refused,
    refusedInVain: {
      healthy: refused.healthy - refusedFailing.healthy,
      impaired: refused.impaired - refusedFailing.impaired,
      down: refused.down - refusedFailing.down,
    },
    tokens: {
      answered: { input: all.input - others.input, output: all.output - others.output },
      others,
    },
    probes: course.probes.length,
    probesFailed: course.probes.all.reduce((failed, call) => failed + fates.failures(call, call + 1), 0),
    openings: openings.length,
    falseAlarms: openings.filter(({ at }) => phaseAt(phases, at)?.health !== 'down').length,
    outages: incidents
      .filter((incident) => failureRatioOf(fates.model, incident) >= fates.model.outageRatio)
      .map((incident) => courseOf(incident, incidents, course.transitions)),
  }
}

/** All calls together, however the target was. */
export const sum = ({ healthy, impaired, down }: ByHealth): number => healthy + impaired + down

/** What was asked for by calls that failed or were refused. */
function tokensOfOthers(course: Course, fates: Fates): Tokens {
  let { input, output } = fates.failingTokens(0, fates.end)
  for (let i = 0; i < course.refusals; i++) {
    const [from, to] = course.refusalAt(i)
    const refused = fates.traffic.tokens(from, to)
    const failing = fates.failingTokens(from, to)
    input += refused.input - failing.input
    output += refused.output - failing.output
  }
  return { input, output }
}

function phaseAt(phases: readonly Phase[], at: number): Phase | undefined {
  return phases.find(({ fromAt, toAt }) => fromAt <= at && at < toAt)
}

function courseOf(
  { name, startAt, endAt }: Incident,
  incidents: readonly Incident[],
  transitions: readonly Transition[],
): IncidentCourse {
  const detectedAt = firstIn(
    transitions,
    startAt,
    endAt,
    (state) => state === 'open' || state === 'half-open',
  )
  const nextAt = Math.min(
    Infinity,
    ...incidents.filter((other) => other.startAt > endAt).map((other) => other.startAt),
  )
  const recoveredAt = firstIn(
    transitions,
    endAt,
    nextAt,
    (state) => state === 'closed' || state === 'degraded',
  )
  return {
    incident: name,
    detectMs: detectedAt === undefined ? null : detectedAt - startAt,
    recoverMs: recoveredAt === undefined ? null : recoveredAt - endAt,
  }
}

/** When the circuit is first in such a state, from `from` to before `to`. */
function firstIn(
  transitions: readonly Transition[],
  from: number,
  to: number,
  is: (state: CircuitState) => boolean,
): number | undefined {
  const first = afterWhich(transitions, from)
  if (is(first === 0 ? 'closed' : transitions[first - 1]!.to)) return from
  for (let i = first; i < transitions.length && transitions[i]!.at < to; i++) {
    if (is(transitions[i]!.to)) return transitions[i]!.at
  }
  return undefined
}

/** How many transitions happened at or before `at`. */
function afterWhich(transitions: readonly Transition[], at: number): number {
  let [low, high] = [0, transitions.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (transitions[middle]!.at <= at) low = middle + 1
    else high = middle
  }
  return low
}
