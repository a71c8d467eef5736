import { classify } from '../classify/classify.ts'
import type { Clock } from '../core/clock.ts'
import { AttemptTimeoutError } from '../core/errors.ts'
import { CallRequest } from './call-request.ts'
import type { GatewayGear, Rules } from './desk.ts'
import { endpoints } from './endpoints.ts'
import { selectorOf } from './gear-options.ts'
import type { ResolvedTarget } from './config/resolve-target.ts'

/** What a health check found. */
export interface HealthResult {
  /** As an ISO date. */
  readonly at: string
  readonly ok: boolean
  /** The failure kind. */
  readonly failure?: string
}

const HOUR_MS = 3_600_000
const LONGEST_MS = 10_000
const ANTHROPIC_VERSION = ['anthropic-version', '2023-06-01']

/**
 * Asks targets whose circuit is open, now and then, with one cheap request. A check only reports: what it found stands
 * in the status for people, and the circuit goes its own way. Otherwise the checks of many replicas, which no cooldown
 * spaces out, would decide when real calls are let in.
 */
export class HealthChecks {
  readonly #gear: GatewayGear
  readonly #clock: Clock
  readonly #rules: () => Rules
  readonly #results = new Map<string, HealthResult>()
  readonly #asked = new Map<string, number[]>()
  readonly #running = new Map<string, AbortController>()
  #timer: unknown
  #closed = false

  constructor(gear: GatewayGear, clock: Clock, rules: () => Rules) {
    this.#gear = gear
    this.#clock = clock
    this.#rules = rules
    this.#arm()
  }

  resultOf(target: string): HealthResult | undefined {
    return this.#results.get(target)
  }

  close(): void {
    this.#closed = true
    this.#clock.clearTimeout(this.#timer)
    for (const running of this.#running.values()) running.abort()
  }

  /** The rules have changed. */
  restart(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#arm()
  }

  #arm(): void {
    const { healthChecks } = this.#rules().config
    if (healthChecks === undefined || this.#closed) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#round(healthChecks.maxPerHour)
      this.#arm()
    }, healthChecks.intervalMs)
  }

  #round(maxPerHour: number): void {
    for (const target of this.#rules().config.targets) {
      const model = modelOf(target)
      if (model === undefined || this.#running.has(target.name) || !this.#isOpen(target, model)) continue
      if (this.#mayAsk(target.name, maxPerHour)) void this.#check(target, model)
    }
  }

  #isOpen(target: ResolvedTarget, model: string): boolean {
    return this.#gear.getCircuitState(selectorOf(this.#rules().config, target, model)) === 'open'
  }

  #mayAsk(name: string, maxPerHour: number): boolean {
    const now = this.#clock.now()
    const asked = (this.#asked.get(name) ?? []).filter((at) => now - at < HOUR_MS)
    this.#asked.set(name, asked)
    return asked.length < maxPerHour && asked.push(now) > 0
  }

  async #check(target: ResolvedTarget, model: string): Promise<void> {
    const { name } = target
    const controller = new AbortController()
    this.#running.set(name, controller)
    const limit = Promise.withResolvers<never>()
    const timer = this.#clock.setTimeout(() => {
      const error = new AttemptTimeoutError('timeout', LONGEST_MS, { target: name })
      controller.abort(error)
      limit.reject(error)
    }, LONGEST_MS)
    const context = { signal: controller.signal, model, attempt: 1, target: name, call: 'health-check' }
    let failure: string | undefined
    try {
      const upstream = this.#rules().upstreams.get(name)
      await Promise.race([upstream?.invoke(requestFor(target, model), context), limit.promise])
    } catch (error) {
      // a request that the provider finds fault with was read by it
      const verdict = classify(error)
      if (verdict.outcome === 'failure') failure = verdict.failure
    }
    this.#clock.clearTimeout(timer)
    this.#running.delete(name)
    const at = new Date(this.#clock.wall()).toISOString()
    if (!this.#closed) this.#results.set(name, { at, ok: failure === undefined, ...(failure && { failure }) })
  }
}

const modelOf = ({ healthCheck, model }: ResolvedTarget) =>
  healthCheck === false ? undefined : (healthCheck.model ?? model)

function requestFor(target: ResolvedTarget, model: string): CallRequest {
  const name = target.api === 'anthropic' ? 'messages' : 'chat'
  const endpoint = endpoints.find((one) => one.name === name)!
  const tokens = target.healthCheck === false ? 1 : target.healthCheck.maxTokens
  const body = { model, max_tokens: tokens, messages: [{ role: 'user', content: 'ping' }] }
  const headers = name === 'messages' ? ANTHROPIC_VERSION : []
  return new CallRequest('health-check', endpoint, Buffer.from(JSON.stringify(body)), headers)
}
