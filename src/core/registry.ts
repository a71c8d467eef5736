import { isDeepStrictEqual } from 'node:util'
import type { SavedCircuit } from '../../machines/breaker-events.ts'
import { BREAKER_KEYS, resolveBreaker } from './breaker-options.ts'
import type { CircuitBreakerOptions, ResolvedBreaker } from './breaker-options.ts'
import type { BreakerStatus } from './breaker-status.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import type { Surroundings } from './circuit-breaker.ts'
import { takeRuntime } from './create-breaker.ts'
import type { RuntimeOptions } from './create-breaker.ts'
import { ConfigError, SwitchgearError } from './errors.ts'
import { startSupervisor, supervisorHost } from './host.ts'
import type { SupervisorRef } from './host.ts'
import { Notifier } from './notifier.ts'
import { checkSaved } from './saved-circuit.ts'
import { tellTransition } from './tell-transition.ts'
import type { Transition } from './transition.ts'
import { checkKeys, checkNumber } from './validate.ts'

export interface RegistryLimits {
  /** Most breakers at a time; an integer ≥ 1. Default 500. */
  readonly maxBuckets?: number
  /** A closed breaker that was not used for so long makes room, in ms. Default 1 800 000. */
  readonly idleMs?: number
}

interface Entry {
  readonly breaker: CircuitBreaker
  /** Declared, hence never evicted. */
  pinned: boolean
  usedAt: number
}

/** A bucket of a target, or all buckets of one that isolates by model. */
export interface WantedBucket {
  readonly bucket: string
  readonly isolates: boolean
  readonly rules: ResolvedBreaker
}

const sameRules = (a: ResolvedBreaker, b: ResolvedBreaker) =>
  isDeepStrictEqual(a.source, b.source) && a.probeLeaseMs === b.probeLeaseMs

const registryFull = (maxBuckets: number) =>
  new SwitchgearError(
    'ERR_REGISTRY_FULL',
    `All ${maxBuckets} circuits are declared or held; raise maxBuckets, or end a hold.`,
  )

/** Breakers by name, bounded, spawned and kept by one supervisor. */
export class Buckets {
  readonly supervisor: SupervisorRef
  readonly #entries = new Map<string, Entry>()
  readonly #around: Omit<Surroundings, 'onTransition'>
  #onTransition: (transition: Transition, breaker: ResolvedBreaker) => void
  readonly #maxBuckets: number
  readonly #idleMs: number
  readonly #saved: Map<string, SavedCircuit>
  #closed = false

  constructor(
    around: Omit<Surroundings, 'onTransition' | 'host'>,
    limits: RegistryLimits,
    onTransition: (transition: Transition, breaker: ResolvedBreaker) => void,
    saved: Readonly<Record<string, SavedCircuit>> = {},
  ) {
    this.#saved = new Map(
      Object.entries(saved).map(([name, circuit]) => [name, checkSaved(circuit, `snapshots.${name}`)]),
    )
    this.#maxBuckets = checkNumber('maxBuckets', limits.maxBuckets ?? 500, { min: 1, integer: true })
    this.#idleMs = checkNumber('idleMs', limits.idleMs ?? 1_800_000, { min: 1, infinite: true })
    this.supervisor = startSupervisor(around.clock, around.notifier)
    this.#around = { ...around, host: supervisorHost(this.supervisor) }
    this.#onTransition = onTransition
  }

  get size(): number {
    return this.#closed ? 0 : this.#entries.size
  }

  /** True where a saved circuit waits for its first use. */
  hasSaved(name: string): boolean {
    return !this.#closed && this.#saved.has(name)
  }

  /** The breaker, without making one. */
  peek(name: string): CircuitBreaker | undefined {
    return this.#entries.get(name)?.breaker
  }

  names(): string[] {
    return this.#closed ? [] : [...this.#entries.keys()]
  }

  /** The breaker of this name; made on first use. */
  obtain(name: string, options: ResolvedBreaker, model?: string, pinned = false): CircuitBreaker {
    if (this.#closed) throw new SwitchgearError('ERR_CLOSED', 'The registry is closed.')
    const now = this.#around.clock.now()
    const known = this.#entries.get(name)
    if (known !== undefined) {
      known.usedAt = now
      return known.breaker
    }
    this.#makeRoom(now)
    const onTransition = (transition: Transition) => this.#onTransition(transition, options)
    const snapshot = this.#saved.get(name)
    const rules = snapshot === undefined ? options : { ...options, snapshot }
    const breaker = new CircuitBreaker(name, rules, { ...this.#around, onTransition }, model)
    this.#saved.delete(name)
    this.#entries.set(name, { breaker, pinned, usedAt: now })
    return breaker
  }

  /** Every breaker that exists. */
  all(): CircuitBreaker[] {
    return this.#closed ? [] : [...this.#entries.values()].map(({ breaker }) => breaker)
  }

  /**
   * Other targets are in force: breakers with the same rules go on, those with other rules are made anew on their next
   * use and go on from where they are, those that nobody wants any more are let go.
   *
   * @throws SwitchgearError when the declared ones alone are more than `maxBuckets`
   */
  redeclare(
    wanted: readonly WantedBucket[],
    onTransition: (transition: Transition, breaker: ResolvedBreaker) => void,
  ): void {
    const declared = new Set(wanted.filter(({ isolates }) => !isolates).map(({ bucket }) => bucket))
    if (declared.size > this.#maxBuckets) throw registryFull(this.#maxBuckets)
    const rulesOf = (name: string) =>
      wanted.find(({ bucket, isolates }) => (isolates ? name.startsWith(`${bucket}/`) : name === bucket))
        ?.rules
    for (const name of this.#saved.keys()) if (rulesOf(name) === undefined) this.#saved.delete(name)
    for (const [name, entry] of this.#entries) {
      const rules = rulesOf(name)
      if (rules !== undefined && sameRules(rules, entry.breaker.options)) continue
      if (rules === undefined) {
        this.#evict(name, entry)
        continue
      }
      // not evicted: the journal must not forget it before it is used again
      this.#saved.set(name, entry.breaker.snapshot())
      this.#entries.delete(name)
      entry.breaker.dispose()
    }
    for (const [name, entry] of this.#entries) entry.pinned = declared.has(name)
    this.#onTransition = onTransition
  }

  /** Idle closed ones go first; then, where the room is needed, the one used longest ago. A held one never goes. */
  #makeRoom(now: number): void {
    const loose = [...this.#entries].filter(([, { pinned }]) => !pinned)
    const asleep = ({ breaker, usedAt }: Entry) => now - usedAt >= this.#idleMs && breaker.isIdle
    for (const [name, entry] of loose) if (asleep(entry)) this.#evict(name, entry)
    if (this.#entries.size < this.#maxBuckets) return
    const oldest = loose
      .filter(([name]) => this.#entries.has(name))
      .sort(([, a], [, b]) => a.usedAt - b.usedAt)
    const flows = ({ held, state }: BreakerStatus) => !held && (state === 'closed' || state === 'degraded')
    const victim =
      oldest.find(([, { breaker }]) => breaker.isIdle) ??
      oldest.find(([, { breaker }]) => flows(breaker.getStatus())) ??
      oldest.find(([, { breaker }]) => !breaker.getStatus().held)
    if (victim !== undefined) return this.#evict(...victim)
    throw registryFull(this.#maxBuckets)
  }

  #evict(name: string, { breaker }: Entry): void {
    this.#entries.delete(name)
    breaker.evict()
  }

  /** Every circuit as it would survive a restart, those not yet used again included. */
  snapshots(): Record<string, SavedCircuit> {
    const live = [...this.#entries].map(([name, { breaker }]) => [name, breaker.snapshot()] as const)
    return Object.fromEntries([...this.#saved, ...live])
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    // they can still be read, and saved
    for (const { breaker } of this.#entries.values()) breaker.dispose()
    this.supervisor.stop()
  }
}

const REGISTRY_KEYS = ['maxBuckets', 'idleMs', 'clock', 'random', 'logger', 'journal', ...BREAKER_KEYS]

/** Options of a registry: its bounds, and defaults for every breaker in it. */
export interface RegistryOptions extends RegistryLimits, RuntimeOptions, CircuitBreakerOptions {}

/** Breakers by name. */
export interface BreakerRegistry {
  /**
   * The breaker of this name. Get it anew for each use: an idle one may have been evicted.
   *
   * @throws ConfigError when the name is known with other options
   */
  get(name: string, options?: CircuitBreakerOptions): CircuitBreaker
  names(): string[]
  readonly size: number
  /** The XState root actor, for inspection. */
  readonly supervisor: SupervisorRef
  close(): void
  [Symbol.dispose](): void
}

/**
 * A bounded registry: the same name gives the same breaker.
 *
 * @example
 * ```ts
 * const registry = createBreakerRegistry({ maxBuckets: 200, threshold: 3 })
 * await registry.get('crm.search').execute(() => searchCrm('acme'))
 * ```
 */
export function createBreakerRegistry(options: RegistryOptions = {}): BreakerRegistry {
  checkKeys('', options, REGISTRY_KEYS)
  const { maxBuckets, idleMs, clock: _c, random: _r, logger: _l, journal: _j, ...defaults } = options
  resolveBreaker(defaults)
  const { clock, random, logger, journal } = takeRuntime(options)
  const notifier = new Notifier(logger)
  const limits = { ...(maxBuckets !== undefined && { maxBuckets }), ...(idleMs !== undefined && { idleMs }) }
  const buckets = new Buckets({ clock, random, notifier, journal }, limits, (transition, { onStateChange }) =>
    tellTransition(onStateChange, notifier)(transition),
  )
  const close = () => buckets.close()
  return {
    get(name, own) {
      if (typeof name !== 'string' || name === '__proto__') {
        throw new ConfigError(`'${String(name)}' cannot name a breaker.`, { hint: 'Give another name.' })
      }
      const known = buckets.peek(name)
      const wanted = { ...defaults, ...own }
      if (known !== undefined && own !== undefined && !isDeepStrictEqual(known.options.source, wanted)) {
        throw new ConfigError(`'${name}' is known with other options.`, {
          path: name,
          hint: 'Use the same options everywhere, or another name.',
        })
      }
      return buckets.obtain(name, known?.options ?? resolveBreaker(wanted, name))
    },
    names: () => buckets.names(),
    get size() {
      return buckets.size
    },
    supervisor: buckets.supervisor,
    close,
    [Symbol.dispose]: close,
  }
}
