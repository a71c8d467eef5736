import type { CircuitState } from '../../../machines/circuit-state.ts'
import { spansOf } from '../timeline/spans.ts'

/** How long a circuit let not every call through, in ms. */
export function timeOpen(
  changes: readonly { readonly at: number; readonly to: CircuitState }[],
  fromAt: number,
  toAt: number,
): number {
  return spansOf(changes, fromAt, toAt)
    .filter(({ state }) => state === 'open' || state === 'half-open')
    .reduce((sum, span) => sum + span.toAt - span.fromAt, 0)
}
