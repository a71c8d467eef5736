import { computed, signal } from '@preact/signals'
import { ORDERS, ORDER_WORDS, SHOWN, isShown } from '../board-order.ts'
import type { Choice, Order, Shown } from '../board-order.ts'
import { usePanel } from './panel-context.ts'

// kept while the reader looks at one circuit and comes back
const shown = signal<Shown>('all')
const search = signal('')
const order = signal<Order>('worst')
/** undefined = as many as there are decides. */
const compact = signal<boolean | undefined>(undefined)
const MANY = 48

export const choice = computed<Choice>(() => ({
  shown: shown.value,
  search: search.value,
  order: order.value,
}))
export const isCompact = (circuits: number): boolean => compact.value ?? circuits > MANY

export function showAll(): void {
  shown.value = 'all'
  search.value = ''
}

/** What of the board is shown, and how. */
export function BoardControls() {
  const { circuits } = usePanel()
  const { value: views } = circuits.all
  if (views.length === 0) return null
  return (
    <form class="controls" role="search" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="states">
        <legend class="unseen">Show circuits that are</legend>
        {SHOWN.map((each) => (
          <label key={each} data-state={each}>
            <input
              type="radio"
              name="shown"
              value={each}
              checked={shown.value === each}
              onChange={() => (shown.value = each)}
            />
            {each} <b>{views.filter((view) => isShown(view, each)).length}</b>
          </label>
        ))}
      </fieldset>
      <label class="search">
        <span class="unseen">Search circuits</span>
        <input
          type="search"
          placeholder="Name, target, model, kind"
          value={search}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
      </label>
      <label class="order">
        <span class="unseen">Order</span>
        <select value={order} onChange={(event) => (order.value = event.currentTarget.value as Order)}>
          {ORDERS.map((each) => (
            <option key={each} value={each}>
              {ORDER_WORDS[each]}
            </option>
          ))}
        </select>
      </label>
      <label class="dense">
        <input
          type="checkbox"
          checked={isCompact(views.length)}
          onChange={(event) => (compact.value = event.currentTarget.checked)}
        />
        Compact
      </label>
    </form>
  )
}
