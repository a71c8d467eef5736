import type { SavedCircuit } from '../../machines/breaker-events.ts'
import type { CircuitState } from '../../machines/circuit-state.ts'
import { inWords } from '../core/errors.ts'
import { causeInWords } from '../core/explain.ts'
import type { RowEvent } from './journal-row.ts'

type Telling = { readonly [T in RowEvent['type']]?: (event: Extract<RowEvent, { type: T }>) => string }

const plural = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`

/** Events that leave the state as it is. */
const TELLING: Telling = {
  'breaker.started': () => 'the breaker begins',
  'breaker.evicted': () => 'the breaker is forgotten; its name starts closed the next time',
  'circuit.saved': () => 'written down as it stands',
  'call.failed': () => 'a late answer asks for a longer wait',
  'probe.requested': () => 'a call passes as a probe',
  'probe.succeeded': () => 'a probe succeeded',
  'probe.failed': ({ failure }) => `a probe failed: ${failure}`,
  'probe.released': () => 'a probe said nothing about the target',
  'probe.expired': () => 'a probe never reported',
  'config.recorded': ({ hash }) => `configuration ${hash.slice(0, 12)} is in force`,
  'journal.pruned': ({ upTo }) => `retention dropped the rows up to ${upTo}`,
  'journal.interrupted': ({ reason, lost }) =>
    `what follows could not be written in time: ${reason}${lost === 0 ? '' : `; ${plural(lost, 'row')} lost`}`,
}

/** Why a row is there, in words. */
export function rowInWords(...row: Parameters<typeof inSentence>): string {
  try {
    return inSentence(...row)
  } catch {
    return 'this row is damaged'
  }
}

function inSentence(
  event: RowEvent,
  from: CircuitState | null,
  to: CircuitState | null,
  saved: SavedCircuit | null,
  at: number,
): string {
  const tell = TELLING[event.type] as ((event: RowEvent) => string) | undefined
  const byHand = event.type === 'operator.opened' || event.type === 'operator.closed'
  const said = tell !== undefined && (from === to || saved === null) ? tell(event) : undefined
  if (saved === null) return said ?? event.type
  const why = said ?? (event.type === 'resumed' ? 'restored after a restart' : causeInWords(saved.cause))
  const { hold, openUntil } = saved
  // a hold is news only to those who have not read of it
  if (hold !== null && (byHand || event.type === 'resumed')) {
    const end = hold.until === null ? 'somebody ends it' : new Date(hold.until).toISOString()
    return `${why}, held until ${end}`
  }
  const { refused = 0 } = event as { refused?: number }
  if (from === 'open' && to === 'half-open' && refused > 0)
    return `${why}; ${plural(refused, 'call')} ${refused === 1 ? 'was' : 'were'} refused before`
  const tells = from !== to || byHand || event.type === 'call.failed'
  const next = to === 'open' && openUntil !== null && tells
  return next ? `${why}; next try ${inWords(Math.max(0, openUntil - at))}` : why
}
