import { kindTrips, rulesTrip } from '../../../machines/breaker-policy.ts'
import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import { drawCooldown } from '../../../machines/cooldown.ts'
import { ruleInWords } from '../../../machines/sentences.ts'
import type { Reading, RuleReading, TrippingRule } from '../../../machines/tripping.ts'
import type { JournalRow } from '../../stores/journal-row.ts'
import { policyFromJson } from '../../stores/policy-json.ts'
import type { Contender } from './contenders.ts'

/** What another policy would have said to the evidence of one opening. */
export interface OpeningAnswer {
  readonly policy: string
  /** null = the journal does not hold what would have to be known. */
  readonly opens: boolean | null
  readonly why: string
  /** Shortest and longest first cooldown, in ms, where it opens. */
  readonly cooldownMs?: readonly [number, number]
}

/** One time that a circuit went from closed to open. */
export interface Opening {
  readonly circuit: string
  /** ms of the wall clock. */
  readonly at: number
  readonly why: string
  /** Opened by hand: no policy was asked. */
  readonly byHand: boolean
  /** Until it was closed again, in ms; null = it is still open. */
  readonly lastedMs: number | null
  readonly failedTrials: number
  readonly answers: readonly OpeningAnswer[]
}

/** Every opening of a journal, and what the policies would have said to its evidence. */
export function openingsOf(
  rows: readonly JournalRow[],
  contenders: (circuit: string) => readonly Contender[],
): Opening[] {
  const openings: Opening[] = []
  const policies = new Map<string, BreakerPolicy | undefined>()
  for (const [i, row] of rows.entries()) {
    const { circuit, event, from, to } = row
    if (circuit === null) continue
    if (event.type === 'breaker.started') policies.set(circuit, policyFromJson(event.policy))
    if (to !== 'open' || (from !== 'closed' && from !== 'degraded')) continue
    const byHand = event.type === 'operator.opened'
    openings.push({
      circuit,
      at: row.at,
      why: row.why,
      byHand,
      ...aftermath(rows, i),
      answers: byHand ? [] : contenders(circuit).map((one) => answerOf(one, row, policies.get(circuit))),
    })
  }
  return openings
}

function aftermath(rows: readonly JournalRow[], opening: number): Pick<Opening, 'lastedMs' | 'failedTrials'> {
  const { circuit, at } = rows[opening]!
  let failedTrials = 0
  for (let i = opening + 1; i < rows.length; i++) {
    const row = rows[i]!
    if (row.circuit !== circuit) continue
    if (row.from === 'half-open' && row.to === 'open') failedTrials++
    if (row.to === 'closed') return { lastedMs: row.at - at, failedTrials }
  }
  return { lastedMs: null, failedTrials }
}

function answerOf(
  { name, rules: { policy } }: Contender,
  row: JournalRow,
  then: BreakerPolicy | undefined,
): OpeningAnswer {
  const { event } = row
  if (event.type !== 'call.failed' && event.type !== 'call.succeeded')
    return { policy: name, opens: null, why: 'the journal does not tell what was counted' }
  const failure = event.type === 'call.failed' ? event.failure : undefined
  const { reading, unknown } = readingFor(policy, event.reading, then)
  if (kindTrips(policy, failure, reading) || rulesTrip(policy, reading)) {
    const cooldown = (roll: number) => drawCooldown(policy, 0, roll, failure)
    return {
      policy: name,
      opens: true,
      why: 'opens on the same evidence, perhaps sooner',
      cooldownMs: [cooldown(0), cooldown(1 - Number.EPSILON)],
    }
  }
  return unknown.length > 0
    ? { policy: name, opens: null, why: `nothing was counted for: ${unknown.join('; ')}` }
    : { policy: name, opens: false, why: 'does not open on this evidence' }
}

/** What was counted, as the rules of another policy would have read it; without it, as nothing. */
function readingFor(
  policy: BreakerPolicy,
  was: Reading,
  then: BreakerPolicy | undefined,
): { readonly reading: Reading; readonly unknown: readonly string[] } {
  const unknown: string[] = []
  const rules = policy.rules.map((rule) => {
    const known = ruleReading(rule, was, then)
    if (known === undefined) unknown.push(ruleInWords(rule))
    return known ?? { count: 0, calls: 0 }
  })
  for (const [kind, { threshold, immediateOpen }] of Object.entries(policy.kinds)) {
    const counted = Object.hasOwn(then?.kinds ?? {}, kind)
    if (immediateOpen !== true && threshold !== undefined && !counted) unknown.push(`${threshold} × ${kind}`)
  }
  return { reading: { ...was, rules }, unknown }
}

function ruleReading(
  rule: TrippingRule,
  was: Reading,
  then: BreakerPolicy | undefined,
): RuleReading | undefined {
  if (rule.kind === 'consecutive') return { count: was.consecutiveFailures, calls: was.consecutiveFailures }
  const place = then?.rules.findIndex((other) => countsTheSame(rule, other)) ?? -1
  return place < 0 ? undefined : was.rules[place]
}

/** Thresholds may differ: only what is counted matters. */
function countsTheSame(a: TrippingRule, b: TrippingRule): boolean {
  if (a.kind !== b.kind || a.kind === 'custom') return false
  if (a.kind === 'latency' && b.kind === 'latency') return a.windowMs === b.windowMs && a.slowMs === b.slowMs
  return !('windowMs' in a) || !('windowMs' in b) || a.windowMs === b.windowMs
}
