import type { CircuitBreakerOptions } from './breaker-options.ts'
import { resolveBreaker } from './breaker-options.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { systemClock, systemRandom } from './clock.ts'
import type { Clock, Random } from './clock.ts'
import { rootHost } from './host.ts'
import type { Journal } from './journal.ts'
import { Notifier, silentLogger } from './notifier.ts'
import type { Logger } from './notifier.ts'
import { tellTransition } from './tell-transition.ts'
import { checkFunction, checkMethods, checkObject } from './validate.ts'

/** What is around a breaker or a switchgear rather than a rule of it. */
export interface RuntimeOptions {
  /** Default: the real clock. */
  readonly clock?: Clock
  /** Source of chance for jitter: 0 ≤ value < 1. Default: `Math.random`. */
  readonly random?: Random
  /** A pino-shaped logger. Default: silent. */
  readonly logger?: Logger
  /** Receives every event that changed a breaker. Default: none. */
  readonly journal?: Journal
}

export interface BreakerOptions extends CircuitBreakerOptions, RuntimeOptions {
  /** How the breaker is called in errors, logs and the journal. Default `breaker`. */
  readonly name?: string
}

/** Chance that never throws and never leaves its range, whatever the user's own source does. */
function careful(random: Random): Random {
  return () => {
    try {
      const value = random()
      return value >= 0 && value < 1 ? value : 0.5
    } catch {
      return 0.5
    }
  }
}

/** Splits the runtime options from the rules. */
export function takeRuntime(
  options: RuntimeOptions,
): Required<Omit<RuntimeOptions, 'journal'>> & Pick<RuntimeOptions, 'journal'> {
  const clock =
    checkMethods('clock', options.clock, ['now', 'wall', 'setTimeout', 'clearTimeout']) ?? systemClock
  const logger = checkMethods('logger', options.logger, ['info', 'warn', 'error']) ?? silentLogger
  const journal = checkMethods('journal', options.journal, ['append'])
  checkFunction('random', options.random)
  const random = options.random === undefined ? systemRandom : careful(options.random)
  return { clock, random, logger, ...(journal && { journal }) }
}

/**
 * A breaker of its own, without targets and fallback.
 *
 * @throws RangeError for a number out of its range, naming option, value and range
 * @throws ConfigError for an unknown option or word, or a conflict
 * @example
 * ```ts
 * const breaker = createBreaker({ name: 'search', threshold: 3, cooldownMs: 10_000 })
 * const hits = await breaker.execute(() => search('statecharts'))
 * ```
 */
export function createBreaker(options: BreakerOptions = {}): CircuitBreaker {
  checkObject('', options)
  const {
    name = 'breaker',
    clock: _clock,
    random: _random,
    logger: _logger,
    journal: _journal,
    ...rules
  } = options
  const resolved = resolveBreaker(rules)
  const { clock, random, logger, journal } = takeRuntime(options)
  const notifier = new Notifier(logger)
  const onTransition = tellTransition(resolved.onStateChange, notifier)
  const around = { clock, random, notifier, journal, onTransition, host: rootHost(clock, notifier) }
  return new CircuitBreaker(name, resolved, around)
}
