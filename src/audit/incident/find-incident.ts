import type { JournalRow } from '../../stores/journal-row.ts'

/** One circuit away from closed, from the row that took it there to the one that brought it back. */
export interface Incident {
  readonly circuit: string
  /** In the order of the journal. */
  readonly rows: readonly JournalRow[]
  /** Undefined = it is not over in this journal. */
  readonly endedBy: JournalRow | undefined
}

const flows = (state: JournalRow['to']) => state === 'closed' || state === 'degraded'
const begins = ({ from, to, type, saved }: JournalRow) =>
  (flows(from) && !flows(to)) ||
  // a circuit that is held closed does not protect: that is an incident of its own
  (type === 'operator.closed' && saved?.hold != null)
const ends = ({ to, saved }: JournalRow) => flows(to) && saved?.hold == null

/** Every incident of a circuit, the first one first. `rows` are those of one circuit, the oldest first. */
export function incidentsOf(circuit: string, rows: readonly JournalRow[]): Incident[] {
  const incidents: Incident[] = []
  let open: JournalRow[] | undefined
  for (const row of rows) {
    if (open === undefined) {
      if (begins(row)) open = [row]
      continue
    }
    open.push(row)
    if (!ends(row)) continue
    incidents.push({ circuit, rows: open, endedBy: row })
    open = undefined
  }
  return open === undefined ? incidents : [...incidents, { circuit, rows: open, endedBy: undefined }]
}

const beganAt = ({ rows }: Incident) => rows[0]!.at
const endedAt = ({ endedBy }: Incident) => endedBy?.at ?? Infinity

/** The incident that was under way at `at`, else the last one that began before; undefined = none did. */
export function incidentAt(incidents: readonly Incident[], at: number): Incident | undefined {
  return incidents.findLast((incident) => beganAt(incident) <= at)
}

/** True where two incidents were under way at the same time. */
export function overlap(a: Incident, b: Incident): boolean {
  return beganAt(a) <= endedAt(b) && beganAt(b) <= endedAt(a)
}
