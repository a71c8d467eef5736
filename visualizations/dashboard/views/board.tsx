import { useComputed } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { arrange } from '../board-order.ts'
import { plural, summary, wouldRefuse } from '../in-words.ts'
import { TIMELINE, leftCircuit } from '../route.ts'
import { comeBack, walkWithArrows } from './arrows.ts'
import { BoardControls, choice, isCompact, showAll } from './board-controls.tsx'
import { Lamp } from './lever.tsx'
import { Module } from './module.tsx'
import { usePanel } from './panel-context.ts'
import { TimelineList } from './timeline-list.tsx'

const LATEST = 40

/** The board: one module per bucket, in rows, as in a cabinet. */
export function Board() {
  return (
    <div class="room">
      <main id="main" class="board">
        <Summary />
        <BoardControls />
        <Rails />
      </main>
      <Latest />
    </div>
  )
}

function Summary() {
  const { circuits } = usePanel()
  const { value: views } = circuits.all
  if (!circuits.areKnown.value) return <h1 tabIndex={-1}>Waiting for the gateway …</h1>
  const worst = (['open', 'half-open', 'degraded'] as const).find((state) =>
    views.some((view) => view.state === state && !wouldRefuse(view)),
  )
  const saved = views.reduce((sum, { refused }) => sum + refused, 0)
  // circuits of one target cannot tell whose calls went on
  const areTold = views.every(({ fallbacks }) => fallbacks !== null)
  const wentOn = views.reduce((sum, { fallbacks }) => sum + (fallbacks ?? 0), 0)
  return (
    <div class="summary">
      {views.length > 0 && <Lamp state={worst ?? 'closed'} />}
      <div>
        <h1 tabIndex={-1}>{summary(views)}</h1>
        {views.length > 0 && (
          <p>
            {plural(saved, 'call')} saved{areTold && `, ${plural(wentOn, 'call')} went on to another target`}.
          </p>
        )}
      </div>
    </div>
  )
}

function Rails() {
  const { circuits } = usePanel()
  const last = useRef<readonly string[]>([])
  const list = useRef<HTMLUListElement>(null)
  const names = useComputed(() => {
    const next = arrange(circuits.all.value, choice.value).map(({ circuit }) => circuit)
    // the same order is no news
    if (next.join('\n') !== last.current.join('\n')) last.current = next
    return last.current
  })
  const { value: left } = leftCircuit
  const isEmpty = names.value.length === 0
  useEffect(() => walkWithArrows(list.current), [isEmpty])
  useEffect(() => {
    if (!isEmpty) comeBack(list.current, left)
  }, [isEmpty])
  const { length: all } = circuits.all.value
  if (all === 0) return circuits.areKnown.value ? <Empty /> : null
  if (isEmpty) return <NothingFound />
  return (
    <ul class="rails" ref={list} data-compact={isCompact(all)}>
      {names.value.map((name) => {
        const circuit = circuits.get(name)
        return circuit && <Module key={name} circuit={circuit} />
      })}
    </ul>
  )
}

function Empty() {
  return (
    <div class="rails empty">
      <p class="note">
        <span>
          A breaker appears here with the first call to its target: point an OpenAI client at the{' '}
          <code>/v1</code> of this gateway.
        </span>
      </p>
    </div>
  )
}

function NothingFound() {
  return (
    <div class="rails empty">
      <div class="note">
        <p role="status">No circuit fits.</p>
        <button class="button" type="button" onClick={showAll}>
          Show all
        </button>
      </div>
    </div>
  )
}

function Latest() {
  const { timeline } = usePanel()
  return (
    <aside class="latest" aria-labelledby="latest">
      <h2 id="latest">
        <a href={TIMELINE}>Timeline</a>
      </h2>
      <TimelineList entries={timeline.entries.value.slice(0, LATEST)} />
    </aside>
  )
}
