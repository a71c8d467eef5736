import type { HoldView } from '../../../src/gateway/admin/wire.ts'
import { When } from './times.tsx'

/** The tag on a locked breaker: who, why, until when. */
export function HoldTag({ hold }: { readonly hold: HoldView }) {
  const { by, reason, until } = hold
  return (
    <div class="tag">
      <p>
        held by <b>{by}</b>
        {until !== null && (
          <>
            {' '}
            until <When at={until} isRough />
          </>
        )}
      </p>
      {reason !== '' && <p class="tag-reason">“{reason}”</p>}
    </div>
  )
}
