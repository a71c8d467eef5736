import type { CircuitState } from '../../../machines/circuit-state.ts'

/** A circuit in one state. */
export interface StateSpan {
  readonly state: CircuitState
  readonly fromAt: number
  readonly toAt: number
}

interface Change {
  readonly at: number
  readonly to: CircuitState
}

/** The states from `fromAt` to before `toAt`, of a circuit that is closed before its first change. */
export function spansOf(changes: readonly Change[], fromAt: number, toAt: number): StateSpan[] {
  const spans: StateSpan[] = []
  let [state, since]: [CircuitState, number] = ['closed', fromAt]
  for (const { at, to } of changes) {
    if (at >= toAt) break
    if (at > since) spans.push({ state, fromAt: since, toAt: at })
    state = to
    since = Math.max(fromAt, at)
  }
  spans.push({ state, fromAt: since, toAt })
  return spans
}

/** Which share of each of `columns` columns a state fills. */
export function sharesOf(
  spans: readonly StateSpan[],
  wanted: CircuitState,
  fromAt: number,
  toAt: number,
  columns: number,
): number[] {
  const shares = Array<number>(columns).fill(0)
  const width = (toAt - fromAt) / columns
  for (const span of spans) {
    if (span.state !== wanted) continue
    const [from, to] = [(span.fromAt - fromAt) / width, (span.toAt - fromAt) / width]
    for (let column = Math.max(0, Math.floor(from)); column < Math.min(columns, to); column++)
      shares[column]! += Math.min(to, column + 1) - Math.max(from, column)
  }
  return shares
}
