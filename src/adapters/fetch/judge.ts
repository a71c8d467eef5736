import { classify } from '../../classify/classify.ts'
import { isVerdict } from '../../classify/failure-table.ts'
import type { Verdict } from '../../classify/verdict.ts'
import type { Limit } from '../../core/errors.ts'
import type { Place } from './bucket.ts'
import type { Around } from './options.ts'

/** What an error means: the user's own `classify` first, then the table. Never throws. */
export function judge(around: Around, place: Place, error: unknown, ownLimit: Limit | undefined): Verdict {
  const { classify: own, clock, notifier, rules } = around
  const context = { now: clock.wall(), ...(ownLimit && { ownLimit }) }
  const asked = own !== undefined && ownLimit === undefined
  const verdict = asked ? notifier.ask('classify', () => own(error, context)) : undefined
  if (isVerdict(verdict)) return verdict
  const standard = classify(error, context)
  // the caller chose the model and the path: one wrong name must not open a circuit that others share
  const shared = !rules.isolateByModel || place.model === undefined
  return standard.failure === 'not_found' && shared ? { ...standard, outcome: 'neutral' } : standard
}
