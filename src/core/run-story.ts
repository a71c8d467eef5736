import type { Refusal } from '../../machines/chain-events.ts'
import type { Verdict } from '../classify/verdict.ts'
import type { CallWatch } from './call-observer.ts'
import type { ChainDriver } from './chain-driver.ts'
import type { AttemptRecord } from './errors.ts'

/**
 * What a call that is simply answered never needs, made with the first of it: fields of a run that are always there
 * would cost every call the time to fill them.
 */
export class RunStory<Request, Result, Part, Out> {
  id: string | undefined
  /** Refusals and failures so far, in order. */
  records: AttemptRecord[] | undefined
  /** Refusals that no chain was there to hear. */
  refused: Refusal[] | undefined
  driver: ChainDriver<Request, Result, Part, Out> | undefined
  /** The failure of the present visit, until it is settled. */
  failure: { readonly error: unknown; readonly verdict: Verdict } | undefined
  /** The target before this one, until the visit's outcome is counted as a hop from there. */
  from: string | undefined
  watch: CallWatch | undefined
  /** When the present visit asked for admission; kept only while somebody records. */
  visitAt: number | undefined
  /** A stream has shown its first content. */
  committed = false
}
