import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { activeState, lastWay } from '../chart-place.ts'
import { readChart } from '../chart-svg.ts'
import type { CircuitView } from '../contract.ts'
import type { TimelineEntry } from '../timeline-entry.ts'
import { usePanel } from './panel-context.ts'

interface ChartProps {
  readonly view: CircuitView
  /** How it came to its present state, where that is known. */
  readonly last: TimelineEntry | undefined
}

const WAY = 'way:'
// the chart is the same for all circuits
let known: string | undefined

/** The statechart of the breaker with the active state lit, and the way lit by which it was entered. */
export function Chart({ view, last }: ChartProps) {
  const { session } = usePanel()
  const frame = useRef<HTMLDivElement>(null)
  const fault = useSignal('')
  const drawn = useSignal(false)
  const active = activeState(view)

  useEffect(() => {
    const { value } = session
    if (value.state !== 'in') return
    const draw = (svg: string) => {
      known = svg
      const chart = readChart(svg)
      if (chart === undefined) throw new Error('it is no picture.')
      frame.current?.replaceChildren(chart)
      drawn.value = true
    }
    void (known === undefined ? value.api.chart() : Promise.resolve(known))
      .then(draw)
      .catch((error: unknown) => (fault.value = error instanceof Error ? error.message : String(error)))
  }, [])

  useEffect(() => {
    const box = frame.current
    if (box === null || !drawn.value) return
    for (const lit of box.querySelectorAll('.lit')) lit.classList.remove('lit')
    const light = (id: string) => box.querySelector(`[id="${CSS.escape(id)}"]`)?.classList.add('lit')
    for (const id of lineOf(active)) light(`state:${id}`)
    const ways = [...box.querySelectorAll(`[id^="${WAY}"]`)].map(({ id }) => id.slice(WAY.length))
    const way = last && lastWay(last, active, ways)
    if (way !== undefined) for (const part of ['out', 'way', 'in']) light(`${part}:${way}`)
    // a short pulse at each change
    box.classList.remove('pulse')
    void box.offsetWidth
    box.classList.add('pulse')
    bringIntoSight(box, `state:${active}`)
  }, [drawn.value, active, last?.key])

  return (
    <figure class="chart">
      {fault.value !== '' && <p class="fault">The chart cannot be shown: {fault}</p>}
      <div
        class="chart-frame"
        ref={frame}
        tabIndex={0}
        role="region"
        aria-label="Statechart, scrollable"
        data-state={view.state}
      />
      <figcaption class="hint">
        Lit: <b>{active.replace('breaker.', '').replace('.', ', ')}</b>
        {last !== undefined && ', and the way by which the circuit came there'}. Numbers are those of the
        default rules.
      </figcaption>
    </figure>
  )
}

/** The state itself and the one around it. */
function lineOf(id: string): string[] {
  const [machine, outer, inner] = id.split('.')
  return inner === undefined ? [id] : [`${machine}.${outer}`, id]
}

/** Where the chart is wider than its frame, the lit state is in the middle. */
function bringIntoSight(box: HTMLElement, id: string): void {
  const state = box.querySelector(`[id="${CSS.escape(id)}"]`)
  if (state === null) return
  const [outer, inner] = [box.getBoundingClientRect(), state.getBoundingClientRect()]
  box.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2)
  box.scrollTop += inner.top + inner.height / 2 - (outer.top + outer.height / 2)
}
