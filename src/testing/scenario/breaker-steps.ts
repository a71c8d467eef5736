import { createBreaker } from '../../core/create-breaker.ts'
import type { BreakerOptions } from '../../core/create-breaker.ts'
import type { CircuitBreaker } from '../../core/circuit-breaker.ts'
import type { Outcome, Permit } from '../../core/permit.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { differs, errorText, scriptedRandom } from './compare.ts'
import type { BreakerScenario, BreakerStep, SettleInput, SettleVerb } from './scenario.ts'

interface Ticket {
  readonly permit: Permit
  readonly since: number
}

/** The breaker of a scenario, with its clock and its permits. */
export class BreakerStage {
  clock = new VirtualClock()
  breaker: CircuitBreaker
  /** Changes of state so far, over every restart. */
  transitions = 0
  readonly #options: BreakerOptions
  readonly #permits = new Map<string, Ticket | 'of a former process'>()

  constructor({ breaker, random }: BreakerScenario) {
    this.#options = { ...breaker, random: scriptedRandom(random), onStateChange: () => this.transitions++ }
    this.breaker = createBreaker({ ...this.#options, clock: this.clock })
  }

  /** Does what the step says; answers with what did not go as it should. */
  do(step: BreakerStep): string | undefined {
    const { clock } = this
    const until = step.at ?? clock.now() + (step.advance ?? 0)
    if (until < clock.now()) return `expected to come to ${until}, but it is ${clock.now()} already`
    clock.set(until)
    const { admit, reject, open, close, restart, calls } = step
    if (admit !== undefined) return this.#admit(admit)
    if (reject !== undefined) return this.#reject(step)
    if (open !== undefined) return this.#command(() => this.breaker.open(open))
    if (close !== undefined) return this.#command(() => this.breaker.close(close))
    if (restart !== undefined) return this.#restart(restart.downMs)
    if (calls !== undefined) return this.#calls(calls)
    for (const verb of ['succeed', 'fail', 'ignore', 'cancel'] as const) {
      const permit = step[verb]
      if (permit !== undefined) this.#settle(permit, verb, step)
    }
    return undefined
  }

  #admit(name: string): string | undefined {
    const permit = this.breaker.tryAcquire()
    if (!permit.admitted) return `expected '${name}' to be admitted, got a refusal (${permit.reason})`
    this.#permits.set(name, { permit, since: this.clock.now() })
    return undefined
  }

  #reject({ reject, reason, retryAfterMs }: BreakerStep): string | undefined {
    const refusal = this.breaker.tryAcquire()
    if (refusal.admitted) return `expected '${reject}' to be refused, got a permit`
    return (
      (reason === undefined ? undefined : differs('the reason', reason, refusal.reason)) ??
      (retryAfterMs === undefined ? undefined : differs('retryAfterMs', retryAfterMs, refusal.retryAfterMs))
    )
  }

  #settle(name: string, verb: SettleVerb, input: SettleInput): void {
    const ticket = this.#permits.get(name)
    if (ticket === undefined || ticket === 'of a former process') return
    const { permit, since } = ticket
    this.breaker.settle(permit, outcome(verb, input, this.clock.now() - since))
  }

  #calls({ outcome: verb, times, ...input }: NonNullable<BreakerStep['calls']>): string | undefined {
    for (let i = 1; i <= times; i++) {
      const permit = this.breaker.tryAcquire()
      if (!permit.admitted)
        return `expected call ${i} of ${times} to be admitted, got a refusal (${permit.reason})`
      this.breaker.settle(permit, outcome(verb, input, 0))
    }
    return undefined
  }

  #command(run: () => void): string | undefined {
    try {
      run()
      return undefined
    } catch (error) {
      return `expected the command to be taken, got ${errorText(error)}`
    }
  }

  /** Only what JSON can hold survives: no timer, no permit, no counter. */
  #restart(downMs: number): undefined {
    const snapshot = JSON.parse(JSON.stringify(this.breaker.snapshot())) as NonNullable<
      BreakerOptions['snapshot']
    >
    this.clock.dropTimers()
    this.clock = new VirtualClock(this.clock.now() + downMs)
    for (const name of this.#permits.keys()) this.#permits.set(name, 'of a former process')
    this.breaker = createBreaker({ ...this.#options, snapshot, clock: this.clock })
  }
}

function outcome(verb: SettleVerb, input: SettleInput, tookMs: number): Outcome {
  const latencyMs = input.latencyMs ?? tookMs
  if (verb === 'succeed') return { outcome: 'success', latencyMs }
  if (verb !== 'fail') return { outcome: 'neutral' }
  const { failure = 'server_error', code, retryAfterMs } = input
  const error = Object.assign(new Error(failure), code !== undefined && { code })
  return { outcome: 'failure', failure, latencyMs, error, retryAfterMs: retryAfterMs ?? undefined }
}
