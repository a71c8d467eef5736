import type { TimelineEntry } from '../timeline-entry.ts'
import { changeInWords } from '../timeline-entry.ts'
import { circuitHref } from '../route.ts'
import { Lamp } from './lever.tsx'
import { usePanel } from './panel-context.ts'
import { Telling, When } from './times.tsx'

interface TimelineListProps {
  readonly entries: readonly TimelineEntry[]
  /** All entries are of one circuit, which the reader knows. */
  readonly ofOne?: boolean
}

/** Transitions and holds with their reasons, the newest first. */
export function TimelineList({ entries, ofOne = false }: TimelineListProps) {
  const { timeline, circuits } = usePanel()
  return (
    <>
      {timeline.fault.value !== '' && <p class="fault">The journal cannot be read: {timeline.fault.value}</p>}
      {timeline.isJournalSilent.value && (
        <p class="hint">
          The journal tells nothing: it is off, or new. What is shown happened since this page was opened.
        </p>
      )}
      {entries.length === 0 ? (
        <p class="hint">Nothing has happened yet.</p>
      ) : (
        <ol class="timeline">
          {entries.map((entry) => (
            <li key={entry.key} class="event" data-state={entry.to}>
              <Lamp state={entry.to} />
              <p class="event-what">
                {!ofOne && (
                  <>
                    {circuits.get(entry.circuit) === undefined ? (
                      <bdi>{entry.circuit}</bdi>
                    ) : (
                      <a href={circuitHref(entry.circuit)}>
                        <bdi>{entry.circuit}</bdi>
                      </a>
                    )}{' '}
                  </>
                )}
                <span class="event-change">{changeInWords(entry)}</span>
              </p>
              <p class="event-when">
                <When at={entry.at} />
              </p>
              <Reason entry={entry} />
            </li>
          ))}
        </ol>
      )}
    </>
  )
}

function Reason({ entry }: { readonly entry: TimelineEntry }) {
  const { why, by, reason, heldUntil } = entry
  if (by === undefined)
    return (
      <p class="event-why">
        <Telling text={why} />
      </p>
    )
  return (
    <p class="event-why">
      by <b>{by}</b>
      {reason !== undefined && reason !== '' && <> “{reason}”</>}
      {heldUntil !== undefined &&
        (heldUntil === null ? (
          ', held until somebody ends it'
        ) : (
          <>
            , held until <When at={heldUntil} />
          </>
        ))}
    </p>
  )
}
