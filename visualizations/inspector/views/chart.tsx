import { useLayoutEffect, useRef } from 'preact/hooks'
import breaker from '../../charts/breaker.svg?raw'
import chain from '../../charts/chain.svg?raw'
import supervisor from '../../charts/supervisor.svg?raw'
import { readChart } from '../../dashboard/chart-svg.ts'
import type { Actor } from '../actors.ts'
import { statesOf, toneOf, wayBetween } from '../chart-states.ts'

const CHARTS = { breaker, chain, supervisor }
const WAY = 'way:'

/** The statechart of an actor's machine, its active states lit, and the way by which it came there. */
export function Chart({ actor }: { readonly actor: Actor }) {
  const frame = useRef<HTMLDivElement>(null)
  const { machine } = actor.told
  const { value: snapshot } = actor.snapshot
  const { value: before } = actor.before
  // the value is another object at every event
  const place = JSON.stringify([before, snapshot.value])

  useLayoutEffect(() => {
    const chart = readChart(CHARTS[machine])
    if (chart !== undefined) frame.current?.replaceChildren(chart)
  }, [machine])

  useLayoutEffect(() => {
    const box = frame.current
    if (box === null) return
    for (const lit of box.querySelectorAll('.lit')) lit.classList.remove('lit')
    const light = (id: string) => box.querySelector(`[id="${CSS.escape(id)}"]`)?.classList.add('lit')
    for (const id of statesOf(machine, snapshot.value)) light(`state:${id}`)
    if (before === undefined) return
    const ways = [...box.querySelectorAll(`[id^="${WAY}"]`)].map(({ id }) => id.slice(WAY.length))
    const way = wayBetween(machine, before, snapshot.value, ways)
    if (way !== undefined) for (const part of ['out', 'way', 'in']) light(`${part}:${way}`)
  }, [machine, place])

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
        Lit: the active state, and the way that led there. Numbers are those of the default rules.
      </figcaption>
    </figure>
  )
}
