import type { Clock } from '../core/clock.ts'
import { causeInWords } from '../core/explain.ts'
import type { FailedAttempt } from '../core/switchgear-options.ts'
import type { HeldCircuit, Transition } from '../core/transition.ts'
import type { Alert, AlertReason } from './alert-event.ts'
import type { TelemetryGear } from './source.ts'

/** What one receiver wants to be told. */
export interface AlertRules {
  readonly on: ReadonlySet<AlertReason>
  readonly flapping: { readonly opens: number; readonly withinMs: number }
  readonly stuckHalfOpenMs: number
}

// a wrong key fails every request: once an hour is enough
const ONCE_MS = 3_600_000

const KINDS: Partial<Record<string, 'auth' | 'quota'>> = { auth: 'auth', quota_exhausted: 'quota' }
const WORDS = {
  auth: 'refuses the key or the account; somebody must fix it',
  quota: 'says that credit, budget or quota are used up; somebody must top it up',
}

/** Looks on for one receiver, and says what is worth an alert. */
export class AlertWatch {
  readonly #gear: TelemetryGear
  readonly #clock: Clock
  readonly #rules: AlertRules
  readonly #tell: (alert: Alert) => void
  readonly #opens = new Map<string, number[]>()
  /** One timer a circuit that is half-open. */
  readonly #trials = new Map<string, unknown>()
  readonly #told = new Map<string, number>()
  readonly #stop: (() => void)[]

  constructor(gear: TelemetryGear, clock: Clock, rules: AlertRules, tell: (alert: Alert) => void) {
    this.#gear = gear
    this.#clock = clock
    this.#rules = rules
    this.#tell = tell
    this.#stop = [
      gear.on('transition', (transition) => this.#moved(transition)),
      gear.on('hold', (held) => this.#held(held)),
      gear.on('failure', (failed) => this.#failed(failed)),
    ]
    for (const { bucket, status } of gear.stats().breakers)
      if (status.state === 'half-open') this.#watchTrial(bucket, status.since)
  }

  #alert(about: AlertReason, subject: string, at: number, summary: string, facts: Alert['facts']): void {
    if (!this.#rules.on.has(about)) return
    this.#tell({ about, subject, at, summary, facts })
  }

  #moved(transition: Transition): void {
    const { bucket, from, to, at } = transition
    if (from === 'half-open') this.#forget(bucket)
    if (to === 'half-open') this.#watchTrial(bucket, at)
    if (to === 'open') this.#opened(transition)
  }

  #opened(transition: Transition): void {
    const { bucket, model, from, at, cause, consecutiveFailures, openUntil, generation, call } = transition
    const { observed } = transition
    const held = openUntil === null
    // a hold is told as a hold to whoever wants to hear of holds
    if (!held || !this.#rules.on.has('hold')) {
      const until = openUntil === null ? null : new Date(openUntil).toISOString()
      const facts = {
        circuit: bucket,
        model,
        from,
        why: cause.why,
        failure: cause.failure,
        by: cause.by,
        reason: cause.reason,
      }
      const more = { consecutiveFailures, openUntil: until, generation, call }
      const is = observed ? 'would be open (only observed: nothing is refused)' : 'is open, calls are refused'
      const summary = `Circuit '${bucket}' ${is}: ${causeInWords(cause)}.`
      this.#alert('open', bucket, at, summary, { ...facts, ...more, ...(observed && { observed }) })
    }
    if (cause.why !== 'operator') this.#flapped(bucket, model, at)
  }

  #flapped(bucket: string, model: string | undefined, at: number): void {
    const { opens, withinMs } = this.#rules.flapping
    // how far apart they are, the wall clock cannot tell: it may have been set meanwhile
    const now = this.#clock.now()
    for (const [name, times] of this.#opens) {
      const recent = times.filter((time) => now - time < withinMs)
      // circuits come and go: what is over must not be kept
      if (recent.length === 0) this.#opens.delete(name)
      else this.#opens.set(name, recent)
    }
    const recent = [...(this.#opens.get(bucket) ?? []), now]
    if (recent.length < opens) return void this.#opens.set(bucket, recent)
    // as many again before it is told again
    this.#opens.delete(bucket)
    const summary = `Circuit '${bucket}' is flapping: it opened ${opens} times within ${withinMs / 1000} s.`
    this.#alert('flapping', bucket, at, summary, { circuit: bucket, model, opens, withinMs })
  }

  #held({ bucket, model, state, at, hold, observed }: HeldCircuit): void {
    const { by, reason } = hold
    const until = hold.until === null ? null : new Date(hold.until).toISOString()
    const words = reason === '' ? '' : ` ("${reason}")`
    const open = observed ? 'open, though only observed: nothing is refused' : 'open, calls are refused'
    const flow = state === 'open' ? open : 'closed, calls flow whatever happens'
    const end = until === null ? 'until somebody ends it' : `until ${until}`
    const summary = `Circuit '${bucket}' is held ${flow}, by ${by}${words}, ${end}.`
    const facts = { circuit: bucket, model, state, by, reason, until, ...(observed && { observed }) }
    this.#alert('hold', bucket, at, summary, facts)
  }

  #failed({ target, model, failure, call }: FailedAttempt): void {
    const about = KINDS[failure]
    if (about === undefined) return
    const now = this.#clock.now()
    const key = `${about} ${target}`
    const last = this.#told.get(key)
    if (last !== undefined && now - last < ONCE_MS) return
    this.#told.set(key, now)
    this.#alert(about, target, this.#clock.wall(), `Target '${target}' ${WORDS[about]}.`, {
      target,
      model,
      failure,
      call,
    })
  }

  #find(bucket: string) {
    return this.#gear.stats().breakers.find((breaker) => breaker.bucket === bucket)
  }

  /** `since` is of the wall clock. */
  #watchTrial(bucket: string, since: number): void {
    if (!this.#rules.on.has('stuck-half-open')) return
    this.#forget(bucket)
    const wait = Math.max(0, since + this.#rules.stuckHalfOpenMs - this.#clock.wall())
    const refused = this.#find(bucket)?.stats.refused['half-open'] ?? 0
    const timer = this.#clock.setTimeout(() => this.#stillOnTrial(bucket, refused), wait)
    this.#trials.set(bucket, timer)
  }

  #stillOnTrial(bucket: string, refusedBefore: number): void {
    this.#trials.delete(bucket)
    const breaker = this.#find(bucket)
    if (breaker === undefined || breaker.status.state !== 'half-open') return
    const { status, stats, model } = breaker
    const { inFlight, succeeded, failed } = status.probes
    const refused = stats.refused['half-open'] - refusedBefore
    const now = this.#clock.wall()
    // a trial that nobody needs is not stuck
    if (inFlight + succeeded + failed + refused === 0) return this.#watchTrial(bucket, now)
    const minutes = Math.round((now - status.since) / 60_000)
    const summary = `Circuit '${bucket}' has been half-open for ${minutes} min: ${succeeded} probes succeeded, ${failed} failed, ${inFlight} are under way, ${refused} calls were refused.`
    const probes = { probesInFlight: inFlight, probesSucceeded: succeeded, probesFailed: failed, refused }
    const since = new Date(status.since).toISOString()
    this.#alert('stuck-half-open', bucket, now, summary, { circuit: bucket, model, since, ...probes })
  }

  #forget(bucket: string): void {
    this.#clock.clearTimeout(this.#trials.get(bucket))
    this.#trials.delete(bucket)
  }

  stop(): void {
    for (const stop of this.#stop) stop()
    for (const bucket of [...this.#trials.keys()]) this.#forget(bucket)
  }
}
