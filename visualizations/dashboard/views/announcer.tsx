import { useSignal, useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { after } from '../page-clock.ts'
import { changeInWords } from '../timeline-entry.ts'
import type { TimelineEntry } from '../timeline-entry.ts'
import { usePanel } from './panel-context.ts'

const TOGETHER_MS = 700
const MOST_ALOUD = 3

/** Tells transitions to screen readers: those of a moment together, and many as a number. */
export function Announcer() {
  const { timeline } = usePanel()
  const waiting = useRef<TimelineEntry[]>([])
  const said = useSignal('')
  useSignalEffect(() => {
    const entry = timeline.latest.value
    if (entry === undefined) return
    waiting.current.push(entry)
    if (waiting.current.length > 1) return
    after(TOGETHER_MS, () => {
      const entries = waiting.current.splice(0)
      said.value =
        entries.length > MOST_ALOUD
          ? `${entries.length} circuits have changed. The timeline tells which.`
          : entries.map(aloud).join(' ')
    })
  })
  return (
    <p class="unseen" role="status" aria-label="Transitions">
      {said}
    </p>
  )
}

function aloud(entry: TimelineEntry): string {
  const { circuit, why, by, reason } = entry
  const who = by === undefined ? why : `by ${by}${reason === undefined ? '' : `, ${reason}`}`
  return `${circuit}: ${changeInWords(entry).replace('→', 'to')}, ${who}.`
}
