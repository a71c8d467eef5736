import type { JournalRow } from '../../stores/journal-row.ts'
import type { JournalReader } from '../../stores/read-only-file.ts'
import { lasting } from '../words.ts'
import { incidentAt, incidentsOf, overlap } from './find-incident.ts'
import type { Incident } from './find-incident.ts'
import { incidentText, tellIncident } from './tell-incident.ts'

const stamp = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`

/** Rows of the journal about itself that a reader of a story has to know of. */
const notes = (rows: readonly JournalRow[], from: number, to: number): string[] =>
  rows
    .filter(
      ({ circuit, at, type }) => circuit === null && at >= from && at <= to && type !== 'journal.pruned',
    )
    .map(({ at, why }) => `Meanwhile, at ${stamp(at)}: ${why}.`)

const meanwhile = (others: readonly Incident[]): string[] =>
  others.map(({ circuit, rows, endedBy }) => {
    const began = rows[0]!
    return `At the same time: circuit '${circuit}', from ${stamp(began.at)}${endedBy === undefined ? ' on' : ` for ${lasting(endedBy.at - began.at)}`}: ${began.why}.`
  })

/**
 * The story of what was going on at `at`, in plain sentences; undefined = nothing was, up to then.
 *
 * @param circuit only this one. Default: whichever was away from closed, the first one first.
 */
export function storyAt(journal: JournalReader, at: number, circuit?: string): string | undefined {
  const rows = journal.rows({ limit: Infinity }).toReversed()
  const until = Math.max(...rows.map((row) => row.at), at)
  const byCircuit = Map.groupBy(rows, (row) => row.circuit)
  const all = [...byCircuit].flatMap(([name, own]) => (name === null ? [] : incidentsOf(name, own)))
  const wanted = all.filter((incident) => circuit === undefined || incident.circuit === circuit)
  const latest = wanted.toSorted((a, b) => a.rows[0]!.at - b.rows[0]!.at)
  const under = latest.filter(({ rows, endedBy }) => rows[0]!.at <= at && (endedBy?.at ?? Infinity) >= at)
  const incident = under[0] ?? incidentAt(latest, at)
  if (incident === undefined) return undefined
  const began = incident.rows[0]!.at
  const end = incident.endedBy?.at ?? until
  const before =
    end < at
      ? [
          `At ${stamp(at)} nothing was going on; the last incident before was over ${lasting(at - end)} earlier.`,
          '',
        ]
      : []
  const others = all.filter((other) => other !== incident && overlap(other, incident))
  return [
    ...before,
    incidentText(tellIncident(incident, until)),
    ...meanwhile(others),
    ...notes(rows, began, end),
  ].join('\n')
}
