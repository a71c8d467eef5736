import { usePanel } from './panel-context.ts'
import { TimelineList } from './timeline-list.tsx'
import { useFocusOnArrival } from './focus.ts'

/** What happened to all circuits. */
export function TimelinePage() {
  const { timeline } = usePanel()
  const heading = useFocusOnArrival()
  return (
    <main id="main" class="page">
      <h1 ref={heading} tabIndex={-1}>
        Timeline
      </h1>
      <TimelineList entries={timeline.entries.value} />
    </main>
  )
}
