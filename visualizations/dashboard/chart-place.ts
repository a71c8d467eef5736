import type { CircuitView } from '../../src/gateway/admin/wire.ts'
import type { TimelineEntry } from './timeline-entry.ts'

/** The id of the state in which a circuit is, as the chart of the breaker has it. */
export function activeState({ state, held }: Pick<CircuitView, 'state' | 'held'>): string {
  switch (state) {
    case 'closed':
      return held ? 'breaker.closed.held' : 'breaker.closed.healthy'
    case 'degraded':
      return 'breaker.closed.degraded'
    case 'open':
      return held ? 'breaker.open.held' : 'breaker.open.cooling'
    case 'half-open':
      return 'breaker.halfOpen'
  }
}

const FROM: Readonly<Record<CircuitView['state'], readonly string[]>> = {
  closed: ['breaker.closed.healthy', 'breaker.closed.held', 'breaker.closed'],
  degraded: ['breaker.closed.degraded', 'breaker.closed'],
  open: ['breaker.open.cooling', 'breaker.open.held', 'breaker.open'],
  'half-open': ['breaker.halfOpen'],
}

/**
 * The way in the chart by which a circuit came to `active`, as `source/target`; undefined where the chart leaves it out
 * (a restart). `ways` are all ways that the chart has.
 */
export function lastWay(
  { from, to, type, by }: Pick<TimelineEntry, 'from' | 'to' | 'type' | 'by'>,
  active: string,
  ways: readonly string[],
): string | undefined {
  if (type === 'resumed') return undefined
  // an operator closes from any state
  const sources = by !== undefined && to === 'closed' ? ['breaker'] : [...FROM[from], 'breaker']
  return sources.map((source) => `${source}/${active}`).find((way) => ways.includes(way))
}
