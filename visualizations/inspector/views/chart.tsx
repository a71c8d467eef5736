import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import breaker from '../../charts/breaker.svg?raw'
import chain from '../../charts/chain.svg?raw'
import supervisor from '../../charts/supervisor.svg?raw'
import { lightUp } from '../../dashboard/chart-lights.ts'
import { readChart } from '../../dashboard/chart-svg.ts'
import { ScrollHint } from '../../dashboard/views/scroll-hint.tsx'
import type { Actor } from '../actors.ts'
import { statesOf, toneOf, wayBetween } from '../chart-states.ts'

const DEFAULT_NUMBERS =
  ' The numbers in the chart are those of the default rules (5 failures in a row, 30 s), not of this circuit.'
const CHARTS = { breaker, chain, supervisor }

/** Fetches the chart of a breaker with its own numbers. */
export type ChartOf = (breaker: string) => Promise<string>

export interface ChartProps {
  readonly actor: Actor
  /** undefined = nobody draws it: the chart has the numbers of the default rules. */
  readonly chartOf: ChartOf | undefined
}

/** The statechart of an actor's machine, its active states lit, and the way by which it came there. */
export function Chart({ actor, chartOf }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const { id, machine, name } = actor.told
  const drawn = useSignal(0)
  const isOwn = useSignal(false)
  const isBreaker = machine === 'breaker'
  const { value: snapshot } = actor.snapshot
  const { value: before } = actor.before
  const { value: event } = actor.movedBy
  // the value is another object at every event
  const place = JSON.stringify([before, snapshot.value])

  useLayoutEffect(() => {
    let isOver = false
    const show = (svg: string, own: boolean) => {
      const chart = readChart(svg)
      if (isOver || chart === undefined) return
      frame.current?.replaceChildren(chart)
      isOwn.value = own
      drawn.value++
    }
    if (!isBreaker || chartOf === undefined) show(CHARTS[machine], false)
    else
      void chartOf(name).then(
        (svg) => show(svg, true),
        () => show(CHARTS[machine], false),
      )
    return () => {
      isOver = true
    }
    // under other rules it is another actor
  }, [machine, isBreaker && id, chartOf])

  useLayoutEffect(() => {
    const box = frame.current
    if (box === null) return
    lightUp(
      box,
      statesOf(machine, snapshot.value),
      (ways) => (before === undefined ? undefined : wayBetween(machine, before, snapshot.value, ways)),
      event,
    )
  }, [drawn.value, place, event])

  return (
    <figure class="chart">
      <div
        class="chart-frame"
        ref={frame}
        tabIndex={0}
        role="region"
        aria-label={`Statechart of the ${machine}, scrollable`}
        data-state={toneOf(machine, snapshot)}
      />
      <figcaption class="hint">
        Lit: the active state, and the way that led there
        {event !== undefined && (
          <>
            {' '}
            (<b>{event}</b>)
          </>
        )}
        .{isBreaker && (isOwn.value ? ' The numbers are those of this circuit.' : DEFAULT_NUMBERS)}{' '}
        <ScrollHint />
      </figcaption>
    </figure>
  )
}
