import { classify } from '../../classify/classify.ts'
import { verdictOf } from '../../classify/failure-table.ts'
import { readVerdict } from '../../classify/read-verdict.ts'
import type { Verdict } from '../../classify/verdict.ts'
import type { Limit } from '../../core/errors.ts'
import type { Place } from './bucket.ts'
import type { Around } from './options.ts'

// fetch refuses these itself: nothing was sent, or what came is not what the caller demanded
const OWN_FAULTS = new Set(['unknown scheme', 'bad port', 'integrity mismatch'])

function isOwnFault(error: unknown): boolean {
  const cause = error instanceof TypeError ? error.cause : undefined
  return cause instanceof Error && OWN_FAULTS.has(cause.message)
}

/** What an error means: the user's own `classify` first, then the table. Never throws. */
export function judge(around: Around, place: Place, error: unknown, ownLimit: Limit | undefined): Verdict {
  const { classify: own, clock, notifier, rules } = around
  const context = { now: clock.wall(), ...(ownLimit && { ownLimit }) }
  const asked = own !== undefined && ownLimit === undefined
  const verdict = asked ? readVerdict(notifier.ask('classify', () => own(error, context))) : undefined
  if (verdict !== undefined) return verdict
  if (isOwnFault(error)) return verdictOf('defect')
  const standard = classify(error, context)
  // the caller chose the model and the path: one wrong name must not open a circuit that others share
  const shared = !rules.isolateByModel || place.model === undefined
  return standard.failure === 'not_found' && shared ? { ...standard, outcome: 'neutral' } : standard
}
