import type { CircuitView } from '../../src/gateway/admin/wire.ts'
import { wouldRefuse } from './in-words.ts'

export const SHOWN = ['all', 'open', 'half-open', 'degraded', 'closed', 'held'] as const
export type Shown = (typeof SHOWN)[number]

export const ORDERS = ['worst', 'name', 'changed', 'saved', 'slow'] as const
export type Order = (typeof ORDERS)[number]

export const ORDER_WORDS: Readonly<Record<Order, string>> = {
  worst: 'worst first',
  name: 'by name',
  changed: 'last changed first',
  saved: 'most calls saved first',
  slow: 'slowest first',
}

export interface Choice {
  readonly shown: Shown
  readonly search: string
  readonly order: Order
}

export function isShown({ state, held }: CircuitView, shown: Shown): boolean {
  return shown === 'all' || (shown === 'held' ? held : state === shown)
}

// counters stay out of it: modules that change their places every second cannot be read
function badness(view: CircuitView): number {
  const { state, held, failures } = view
  if (wouldRefuse(view)) return 3
  if (state === 'open') return held ? 5 : 7
  if (state === 'half-open') return 6
  if (state === 'degraded') return 4
  if (held) return 2
  return Object.keys(failures).length > 0 ? 1 : 0
}

const byName = (a: CircuitView, b: CircuitView) =>
  a.circuit < b.circuit ? -1 : a.circuit > b.circuit ? 1 : 0

const COMPARE: Readonly<Record<Order, (a: CircuitView, b: CircuitView) => number>> = {
  worst: (a, b) => badness(b) - badness(a),
  name: () => 0,
  changed: (a, b) => b.since - a.since,
  saved: (a, b) => b.refused - a.refused,
  slow: (a, b) => (b.p95Ms ?? -1) - (a.p95Ms ?? -1),
}

/** The circuits to be shown, in order. Every word of the search must stand somewhere in names, model or kinds. */
export function arrange(views: readonly CircuitView[], { shown, search, order }: Choice): CircuitView[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = (view: CircuitView) => {
    if (words.length === 0) return true
    const text = textOf(view)
    return words.every((word) => text.includes(word))
  }
  const compare = COMPARE[order]
  return views
    .filter((view) => isShown(view, shown) && fits(view))
    .sort((a, b) => compare(a, b) || byName(a, b))
}

const textOf = ({ circuit, targets, model = '', state, failures, hold }: CircuitView) =>
  [circuit, ...targets, model, state, ...Object.keys(failures), hold?.by ?? '', hold?.reason ?? '']
    .join('\n')
    .toLowerCase()
