import { transition } from 'xstate'
import { breakerMachine } from '../../../machines/breaker.machine.ts'
import type { BreakerEvent, Cause } from '../../../machines/breaker-events.ts'
import { kindTrips, readingDegrades, rulesTrip } from '../../../machines/breaker-policy.ts'
import { callsFlow, circuitState } from '../../../machines/circuit-state.ts'
import type { BreakerSnapshot } from '../../../machines/circuit-state.ts'
import { nextDue } from '../../core/dues.ts'
import { Meter } from '../../core/meter.ts'
import { Permit } from '../../core/permit.ts'
import type { CircuitFields, Inside, Remembered, WalkRules } from './circuit-fields.ts'
import { takenBy } from './taken.ts'
import type { Ending, WalkStep } from './walk-step.ts'

/** An outcome that by the policy's own words moves a healthy circuit nowhere need not be sent to the machine. */
function changesNothing({ value, context: { policy } }: BreakerSnapshot, event: BreakerEvent): boolean {
  if (event.type !== 'call.failed' && event.type !== 'call.succeeded') return false
  if (typeof value !== 'object' || !('closed' in value) || value.closed !== 'healthy') return false
  const failure = event.type === 'call.failed' ? event.failure : undefined
  const { reading } = event
  return (
    !rulesTrip(policy, reading) && !kindTrips(policy, failure, reading) && !readingDegrades(policy, reading)
  )
}

export const permitsOf = (inside: readonly Inside[]) => inside.map(({ permit }) => permit)

export const isCurrent = ({ context }: BreakerSnapshot, { id, generation, probe }: Permit) =>
  generation === context.generation && (!probe || context.trial?.permits.includes(id) === true)

const empty = new WeakMap<WalkRules, Meter>()

/** A meter that has counted what is remembered. */
export function meterOf({ rules, remembered }: Pick<CircuitFields, 'rules' | 'remembered'>): Meter {
  const { policy } = rules
  const known = remembered.length === 0 ? empty.get(rules) : undefined
  if (known !== undefined) return known
  const meter = new Meter(
    policy,
    policy.rules.map(() => null),
    '',
    () => {},
  )
  for (const { at, failure, latencyMs } of remembered) {
    if (failure === null) meter.success(latencyMs, at)
    else meter.failure(failure, latencyMs, at)
  }
  if (remembered.length === 0) empty.set(rules, meter)
  return meter
}

/** A circuit while a step changes it. */
export class Draft implements CircuitFields {
  readonly rules: WalkRules
  readonly roll: number
  now: number
  snapshot: BreakerSnapshot
  remembered: readonly Remembered[]
  inside: readonly Inside[]
  issued: number
  taken: string[] = []
  opened: Cause | undefined

  constructor({ rules, roll, now, snapshot, remembered, inside, issued }: CircuitFields) {
    this.rules = rules
    this.roll = roll
    this.now = now
    this.snapshot = snapshot
    this.remembered = remembered
    this.inside = inside
    this.issued = issued
  }

  get due() {
    const degraded = circuitState(this.snapshot) === 'degraded'
    // only of a degraded circuit it matters what was counted last
    const meter = degraded ? meterOf(this) : meterOf({ rules: this.rules, remembered: [] })
    return nextDue(this.snapshot.context, permitsOf(this.inside), degraded, meter)
  }

  wait(ms: number): void {
    this.now += ms
    for (let due = this.due; due !== undefined && due.at <= this.now; due = this.due) {
      const before = this.snapshot
      this.#send(due.event(this.roll, meterOf(this)))
      if (this.snapshot === before) break
    }
  }

  command({ do: verb, hold, ttlMs }: Extract<WalkStep, { do: 'open' | 'close' }>): void {
    const { now: at, roll } = this
    const until = ttlMs === undefined ? undefined : at + ttlMs
    const type = verb === 'open' ? 'operator.opened' : 'operator.closed'
    this.#send({ type, at, by: 'operator', reason: '', hold: hold === true, until, roll })
  }

  admit(name: string): Permit | undefined {
    const { now, rules } = this
    const { generation } = this.snapshot.context
    const id = ++this.issued
    let permit = new Permit(id, generation, false, now)
    if (!callsFlow(this.snapshot)) {
      const before = this.snapshot
      this.#send({ type: 'probe.requested', at: now, permit: id })
      if (this.snapshot === before && !rules.observe) return undefined
      const probe = this.snapshot !== before
      permit = new Permit(id, probe ? generation : -1, probe, now)
      if (probe) permit.leaseUntil = now + Math.ceil(rules.probeLeaseMs)
    }
    this.inside = [...this.inside, { name, permit }]
    return permit
  }

  settle(name: string, ending: Ending): void {
    const found = this.inside.find((each) => each.name === name)
    if (found === undefined) return
    this.inside = this.inside.filter((each) => each !== found)
    const { permit } = found
    if (permit.generation === -1) return
    if (!isCurrent(this.snapshot, permit)) this.#late(permit, ending)
    else if (permit.probe) this.#report(permit, ending)
    else if (ending.outcome !== 'ignore') this.#count(ending)
  }

  #late({ generation }: Permit, { outcome, failure = 'server_error', retryAfterMs }: Ending): void {
    if (outcome !== 'fail' || retryAfterMs === undefined) return
    const { now: at, roll } = this
    const reading = meterOf(this).reading(at)
    this.#send({ type: 'call.failed', at, generation, reading, failure, retryAfterMs, roll })
  }

  #report({ generation, id: permit }: Permit, ending: Ending): void {
    const { now: at, roll } = this
    const { outcome, failure = 'server_error', retryAfterMs } = ending
    if (outcome === 'ignore') this.#send({ type: 'probe.released', at, generation, permit })
    else if (outcome === 'succeed') this.#send({ type: 'probe.succeeded', at, generation, permit, roll })
    else this.#send({ type: 'probe.failed', at, generation, permit, failure, retryAfterMs, roll })
  }

  #count({ outcome, failure = 'server_error', retryAfterMs, latencyMs = 0 }: Ending): void {
    const { now: at, roll } = this
    const { generation } = this.snapshot.context
    const degraded = circuitState(this.snapshot) === 'degraded'
    const failed = outcome === 'fail'
    this.#remember({ at, failure: failed ? failure : null, latencyMs })
    const meter = meterOf(this)
    const reading = meter.reading(at)
    if (failed) this.#send({ type: 'call.failed', at, generation, reading, failure, retryAfterMs, roll })
    else if (meter.timed || degraded) this.#send({ type: 'call.succeeded', at, generation, reading, roll })
  }

  #remember(outcome: Remembered): void {
    const all = [...this.remembered, outcome]
    const { rules } = this.rules.policy
    const lastSuccess = all.findLastIndex(({ failure }) => failure === null)
    const windowMs = Math.max(0, ...rules.map((rule) => ('windowMs' in rule ? rule.windowMs : 0)))
    // what has left every window, and lies before a success, no rule but a leaky one can remember
    const forgets = rules.every(({ kind }) => kind !== 'leaky')
    this.remembered = all.filter(
      ({ at }, i) => !forgets || i >= lastSuccess || at >= outcome.at - 1.2 * windowMs,
    )
  }

  #send(event: BreakerEvent): void {
    const before = this.snapshot
    if (changesNothing(before, event)) return
    const [after] = transition(breakerMachine, before, event)
    if (after === before) return
    this.snapshot = after
    this.taken.push(...takenBy(before, event, after))
    if (circuitState(after) === 'open' && circuitState(before) !== 'open') this.opened = after.context.cause
    if (after.context.generation !== before.context.generation) this.remembered = []
  }
}
