import type { Order } from '../gateway/admin/wire.ts'
import {
  ONLY_OBSERVED,
  nextInWords,
  paintState,
  shown,
  standingInWords,
  whyInWords,
  wouldRefuse,
} from './circuit-words.ts'
import type { Hands, OperateOptions } from './operate.ts'

/** The part of an order that `--reason` fills in. */
export const reasonOf = ({ reason }: { readonly reason?: string }): Order =>
  reason === undefined ? {} : { reason }

/** Opens or closes a circuit by hand, and says what came of it. */
export async function giveOrder(
  { client, say, remark, paint }: Hands,
  circuit: string,
  verb: 'open' | 'close',
  order: Order,
  { json }: OperateOptions,
): Promise<void> {
  const view = await client.command(circuit, verb, order)
  if (json === true) return say(JSON.stringify(view, null, 2))
  const notes = [nextInWords(view, view.now), wouldRefuse(view) ? ONLY_OBSERVED : ''].filter(Boolean)
  const state = paintState(paint, view, standingInWords(view))
  const more = notes.length === 0 ? '' : ` (${notes.join('; ')})`
  say(`${shown(view.circuit)} ${state}${more}: ${whyInWords(view)}`)
  if (order.reason === undefined) {
    remark('No --reason was given: the journal will tell who did it, but not why.')
  }
}
