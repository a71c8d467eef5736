import { computed, signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import type { AdminApi } from './admin-api.ts'
import type { JournalRowView, TransitionView } from '../../src/gateway/admin/wire.ts'
import { entryOfRow, entryOfTransition, merge } from './timeline-entry.ts'
import type { TimelineEntry } from './timeline-entry.ts'

const ROWS = '500'
const MOST_HEARD = 500

/** What happened to all circuits: out of the journal, and as it is heard. */
export class Timeline {
  readonly #told = signal<readonly TimelineEntry[]>([])
  readonly #heard = signal<readonly TimelineEntry[]>([])
  #loads = 0
  /** Why the journal cannot be read; empty = it can. */
  readonly fault = signal('')
  /** True while the journal has told nothing at all: it is off, or new. */
  readonly isJournalSilent = signal(true)
  /** The last transition that was heard, for those who are told aloud. */
  readonly latest = signal<TimelineEntry | undefined>(undefined)
  /** The newest first. */
  readonly entries: ReadonlySignal<readonly TimelineEntry[]> = computed(() =>
    merge(this.#told.value, this.#heard.value),
  )

  async load(api: AdminApi): Promise<void> {
    const turn = ++this.#loads
    try {
      const rows = await api.journal({ limit: ROWS })
      if (turn === this.#loads) this.#take(rows)
    } catch (error) {
      if (turn === this.#loads) this.fault.value = error instanceof Error ? error.message : String(error)
    }
  }

  hear(transition: TransitionView): void {
    const entry = entryOfTransition(transition)
    this.#heard.value = [entry, ...this.#heard.peek()].slice(0, MOST_HEARD)
    this.latest.value = entry
  }

  clear(): void {
    this.#loads++
    this.#told.value = []
    this.#heard.value = []
    this.fault.value = ''
    this.latest.value = undefined
    this.isJournalSilent.value = true
  }

  #take(rows: readonly JournalRowView[]): void {
    this.fault.value = ''
    this.isJournalSilent.value = rows.length === 0
    this.#told.value = rows.flatMap(entryOfRow)
  }
}
