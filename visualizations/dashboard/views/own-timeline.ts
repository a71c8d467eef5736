import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { CircuitView } from '../../../src/gateway/admin/wire.ts'
import { entryOfRow, merge } from '../timeline-entry.ts'
import type { TimelineEntry } from '../timeline-entry.ts'
import { usePanel } from './panel-context.ts'

/** What happened to one circuit, further back than the timeline of all reaches. */
export function useOwnTimeline({ circuit, generation }: CircuitView): readonly TimelineEntry[] {
  const { session, timeline } = usePanel()
  const told = useSignal<readonly TimelineEntry[]>([])
  useEffect(() => {
    const { value } = session
    if (value.state !== 'in') return
    let isOver = false
    const load = async (api: typeof value.api) => {
      try {
        const { journal } = await api.circuit(circuit)
        if (!isOver) told.value = journal.flatMap(entryOfRow)
      } catch {
        // the timeline of all circuits stands in
      }
    }
    void load(value.api)
    return () => {
      isOver = true
    }
  }, [circuit, generation])
  // while drawing: a computed signal is not computed again because a property of the view is another one
  return merge(
    told.value,
    timeline.entries.value.filter((entry) => entry.circuit === circuit),
  )
}
