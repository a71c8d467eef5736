import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { JournalRow } from '../../stores/journal-row.ts'
import type { JournalReader } from '../../stores/read-only-file.ts'
import { policyFromJson } from '../../stores/policy-json.ts'
import { lasting } from '../words.ts'
import { cleanWords } from './clean-words.ts'
import { incidentAt, incidentsOf, overlap } from './find-incident.ts'
import type { Incident } from './find-incident.ts'
import { incidentText, tellIncident } from './tell-incident.ts'
import type { IncidentStory } from './tell-incident.ts'
import { whyOpened } from './why-opened.ts'

/** What a journal tells of a time, in ms of the wall clock. */
export interface IncidentReport {
  /** What was asked for. */
  readonly at: number
  /** The first row of the journal; null = it has none. What came before is not known. */
  readonly journalBeginsAt: number | null
  /** The last row of the journal; null = it has none. What came after is not known. */
  readonly journalEndsAt: number | null
  /** What was under way then, or the last incident before; null = there was none up to then. */
  readonly incident: IncidentStory | null
  /** Other circuits that were away from closed during it; `to: null` = they still are. */
  readonly meanwhile: readonly {
    readonly circuit: string
    readonly from: number
    readonly to: number | null
    readonly why: string
  }[]
  /** What the journal says of itself in that time. */
  readonly notes: readonly { readonly at: number; readonly why: string }[]
}

/** Rows of the journal about itself that a reader of a story has to know of. */
const notesIn = (rows: readonly JournalRow[], from: number, to: number): IncidentReport['notes'] =>
  rows
    .filter(
      ({ circuit, at, type }) => circuit === null && at >= from && at <= to && type !== 'journal.pruned',
    )
    .map(({ at, why }) => ({ at, why: cleanWords(why) }))

const briefly = (
  incident: Incident,
  policy: BreakerPolicy | undefined,
): IncidentReport['meanwhile'][number] => {
  const { circuit, rows, endedBy } = incident
  const { at, saved, why, type } = rows[0]!
  const told = saved === null || type.startsWith('operator.') ? why : whyOpened(saved.cause, policy)
  return { circuit, from: at, to: endedBy?.at ?? null, why: cleanWords(told) }
}

/** The rules that were in force when an incident began; undefined = the journal does not hold them any more. */
function policyBefore(rows: readonly JournalRow[], { circuit, rows: own }: Incident) {
  const start = rows.findLast(
    ({ circuit: name, event, seq }) =>
      name === circuit && event.type === 'breaker.started' && seq < own[0]!.seq,
  )
  return start?.event.type === 'breaker.started' ? policyFromJson(start.event.policy) : undefined
}

/**
 * What was going on at `at`.
 *
 * @param circuit only this one. Default: whichever was away from closed, the first one first.
 */
export function reportAt(journal: JournalReader, at: number, circuit?: string): IncidentReport {
  const rows = journal.rows({ limit: Infinity }).toReversed()
  const journalEndsAt = rows.reduce<number | null>((last, row) => Math.max(last ?? row.at, row.at), null)
  const journalBeginsAt = rows.reduce<number | null>((first, row) => Math.min(first ?? row.at, row.at), null)
  const until = journalEndsAt ?? at
  const byCircuit = Map.groupBy(rows, (row) => row.circuit)
  const all = [...byCircuit].flatMap(([name, own]) => (name === null ? [] : incidentsOf(name, own)))
  const wanted = all.filter((incident) => circuit === undefined || incident.circuit === circuit)
  const latest = wanted.toSorted((a, b) => a.rows[0]!.at - b.rows[0]!.at)
  const under = latest.filter(({ rows, endedBy }) => rows[0]!.at <= at && (endedBy?.at ?? Infinity) >= at)
  const incident = under[0] ?? incidentAt(latest, at)
  const known = { at, journalBeginsAt, journalEndsAt }
  if (incident === undefined) return { ...known, incident: null, meanwhile: [], notes: [] }
  const story = tellIncident(incident, { journalEndsAt: until, policy: policyBefore(rows, incident) })
  const others = all.filter((other) => other !== incident && overlap(other, incident))
  return {
    ...known,
    incident: story,
    meanwhile: others.map((other) => briefly(other, policyBefore(rows, other))),
    notes: notesIn(rows, story.from, story.to ?? until),
  }
}

const stamp = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`

/** A report in plain sentences. */
export function reportText(
  { at, journalBeginsAt, journalEndsAt, incident, meanwhile, notes }: IncidentReport,
  circuit?: string,
): string {
  // an incident that is not over says itself where the journal ends
  const ends =
    journalEndsAt !== null && at > journalEndsAt && incident?.to !== null
      ? `The journal ends at ${stamp(journalEndsAt)}, ${lasting(at - journalEndsAt)} before the time that was asked for; what came after is not known.`
      : ''
  if (incident === null) {
    if (journalBeginsAt !== null && at < journalBeginsAt)
      return `The journal begins at ${stamp(journalBeginsAt)}, ${lasting(journalBeginsAt - at)} after the time that was asked for; what came before is not known.`
    const name = circuit === undefined ? '' : ` '${cleanWords(circuit)}'`
    const none = `Up to ${new Date(at).toISOString()} no circuit${name} was ever away from closed in this journal.`
    return ends === '' ? none : `${none}\n${ends}`
  }
  const others = meanwhile.map(({ circuit: name, from, to: end, why }) => {
    const time = `from ${stamp(from)}${end === null ? ' on' : ` for ${lasting(end - from)}`}`
    return `At the same time: circuit '${cleanWords(name)}', ${time}: ${why}.`
  })
  const own = notes.map(({ at: when, why }) => `Meanwhile, at ${stamp(when)}: ${why}.`)
  return [
    ...before(at, journalEndsAt ?? at, incident.to),
    ...(ends === '' ? [] : [ends, '']),
    incidentText(incident),
    ...others,
    ...own,
  ].join('\n')
}

/** What is said first where the incident was over at the time that was asked for. */
function before(at: number, journalEndsAt: number, to: number | null): string[] {
  if (to === null || to >= at) return []
  const known = Math.min(at, journalEndsAt)
  const earlier = known > to ? `was over ${lasting(known - to)} earlier` : 'had just ended'
  return [`At ${stamp(known)} nothing was going on; the last incident ${earlier}.`, '']
}
