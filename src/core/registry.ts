import { BREAKER_KEYS, resolveBreaker } from './breaker-options.ts'
import type { CircuitBreakerOptions } from './breaker-options.ts'
import { Buckets } from './buckets.ts'
import type { RegistryLimits } from './buckets.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { takeRuntime } from './create-breaker.ts'
import type { RuntimeOptions } from './create-breaker.ts'
import { ConfigError } from './errors.ts'
import type { SupervisorRef } from './host.ts'
import { Notifier } from './notifier.ts'
import { sameRules } from './shared-rules.ts'
import { tellTransition } from './tell-transition.ts'
import { checkKeys, checkName } from './validate.ts'

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
      if (name !== '') checkName('name', name)
      const known = buckets.peek(name)?.options
      const rules =
        known === undefined || own !== undefined ? resolveBreaker({ ...defaults, ...own }, name) : known
      if (known !== undefined && !sameRules(known, rules)) {
        throw new ConfigError(`'${name}' is known with other options.`, {
          path: name,
          hint: 'Use the same options everywhere, or another name.',
        })
      }
      return buckets.obtain(name, rules)
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
