import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { lightUp } from '../chart-lights.ts'
import { activeState, lastWay } from '../chart-place.ts'
import { readChart } from '../chart-svg.ts'
import type { CircuitView } from '../../../src/gateway/admin/wire.ts'
import type { TimelineEntry } from '../timeline-entry.ts'
import { usePanel } from './panel-context.ts'
import { ScrollHint } from './scroll-hint.tsx'

interface ChartProps {
  readonly view: CircuitView
  /** How it came to its present state, where that is known. */
  readonly last: TimelineEntry | undefined
}

/** The statechart of the breaker with the active state lit, and the way lit by which it was entered. */
export function Chart({ view, last }: ChartProps) {
  const { session } = usePanel()
  const frame = useRef<HTMLDivElement>(null)
  const fault = useSignal('')
  /** How many times; another one has other rules. */
  const drawn = useSignal(0)
  const active = activeState(view)

  useEffect(() => {
    const { value } = session
    if (value.state !== 'in') return
    let isOver = false
    const draw = async (api: typeof value.api) => {
      try {
        const chart = readChart(await api.chart(view.circuit))
        if (isOver) return
        if (chart === undefined) throw new Error('it is no picture.')
        frame.current?.replaceChildren(chart)
        fault.value = ''
        drawn.value++
      } catch (error) {
        if (!isOver) fault.value = error instanceof Error ? error.message : String(error)
      }
    }
    void draw(value.api)
    return () => {
      isOver = true
    }
    // after a reload it may have other rules
  }, [view.circuit, view.rules])

  useEffect(() => {
    const box = frame.current
    if (box === null || drawn.value === 0) return
    lightUp(box, lineOf(active), (ways) => last && lastWay(last, active, ways), last?.type)
    // a short pulse at each change
    box.classList.remove('pulse')
    void box.offsetWidth
    box.classList.add('pulse')
  }, [drawn.value, active, last?.key, last?.type])

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
        {last !== undefined && ', and the way by which the circuit came there'}
        {last?.type !== undefined && (
          <>
            {' '}
            (<b>{last.type}</b>)
          </>
        )}
        . The numbers are those of this circuit. <ScrollHint />
      </figcaption>
    </figure>
  )
}

/** The state itself and the one around it. */
function lineOf(id: string): string[] {
  const [machine, outer, inner] = id.split('.')
  return inner === undefined ? [id] : [`${machine}.${outer}`, id]
}
