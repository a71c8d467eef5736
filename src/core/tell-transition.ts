import { causeInWords } from './explain.ts'
import type { OnStateChange } from './breaker-options.ts'
import type { Notifier } from './notifier.ts'
import type { Transition } from './transition.ts'

/** Tells a transition to the log and to the user's own hook. */
export function tellTransition(
  onStateChange: OnStateChange | undefined,
  notifier: Notifier,
): (transition: Transition) => void {
  return (transition) => {
    const { bucket, from, to, cause, at, generation, model, consecutiveFailures, observed } = transition
    const why = causeInWords(cause)
    const level = to === 'open' || to === 'degraded' ? 'warn' : 'info'
    notifier.guard('the logger', () =>
      notifier.logger[level](
        {
          bucket,
          from,
          to,
          why: cause.why,
          at,
          generation,
          ...(model !== undefined && { model }),
          ...(observed && { observed }),
        },
        `circuit '${bucket}': ${from} → ${to}${observed ? ' (observed)' : ''}: ${why}`,
      ),
    )
    if (onStateChange === undefined) return
    notifier.guard('onStateChange', () => onStateChange(from, to, consecutiveFailures, model, transition))
  }
}
