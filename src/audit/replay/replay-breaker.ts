import type { ResolvedBreaker } from '../../core/breaker-options.ts'
import { CircuitBreaker } from '../../core/circuit-breaker.ts'
import { Notifier, silentLogger } from '../../core/notifier.ts'
import type { Transition } from '../../core/transition.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { QuietHost } from './quiet-host.ts'
import { StillClock } from './still-clock.ts'

/** A breaker of the library, in virtual time. */
export interface ReplayBreaker {
  readonly breaker: CircuitBreaker
  readonly clock: StillClock
  readonly host: QuietHost
}

/** The library's own bucket, meter, actor and machine; time stands still, and chance repeats. */
export function replayBreaker(
  rules: ResolvedBreaker,
  startAt: number,
  seed: number,
  onTransition: (transition: Transition) => void,
): ReplayBreaker {
  const clock = new StillClock()
  clock.at = startAt
  const notifier = new Notifier(silentLogger)
  const host = new QuietHost(clock, notifier)
  const around = { clock, host, notifier, random: seededRandom(seed), onTransition }
  return { breaker: new CircuitBreaker('replay', rules, around), clock, host }
}
