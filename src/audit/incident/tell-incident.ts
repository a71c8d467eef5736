import { causeInWords } from '../../core/explain.ts'
import type { JournalRow } from '../../stores/journal-row.ts'
import { lasting, plural, sentence } from '../words.ts'
import type { Incident } from './find-incident.ts'

/** The story of an incident: a headline, what happened one after the other, and what it came to. */
export interface IncidentStory {
  readonly headline: string
  readonly steps: readonly { readonly at: number; readonly text: string }[]
  readonly summary: readonly string[]
}

/** Names and an operator's words come from outside: no control character of theirs reaches a terminal. */
const plain = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')

const clock = (at: number) => `${new Date(at).toISOString().replace('T', ' ').slice(0, 19)} UTC`

/** How much longer calls are refused after a row, in words; empty = they are not, or nobody knows. */
function refusedFor({ saved, at }: JournalRow): string {
  const until = saved?.openUntil ?? null
  return until === null ? '' : ` for ${lasting(Math.max(0, until - at))}`
}

function heldInWords({ saved }: JournalRow): string {
  const until = saved?.hold?.until ?? null
  return until === null ? 'until somebody ends it' : `until ${clock(until)}`
}

const byWhom = ({ by = 'an operator', reason }: JournalRow) =>
  `${by}${reason === undefined ? '' : ` ("${reason}")`}`

/** What a row is, as a sentence; undefined = a detail. */
function inWords(row: JournalRow): string | undefined {
  const { type, from, to, saved, event } = row
  const why = saved === null ? row.why : causeInWords(saved.cause)
  if (type === 'operator.opened') {
    const held = saved?.hold != null ? `, and held so ${heldInWords(row)}` : ''
    return `the circuit was opened by hand, by ${byWhom(row)}${held}. Calls were refused${held === '' ? refusedFor(row) : ''}`
  }
  if (type === 'operator.closed') {
    const held =
      saved?.hold != null ? `, and held so ${heldInWords(row)}: nothing was refused, whatever happened` : ''
    return `the circuit was closed by hand, by ${byWhom(row)}${held}. Calls flowed`
  }
  if (type === 'resumed') return `the process came back after a restart, and the circuit went on as ${to}`
  if (type === 'breaker.evicted') return 'the circuit was forgotten: nobody had used it, and room was needed'
  if (type === 'hold.ended')
    return `the hold was over: ${to === 'half-open' ? 'the trial began' : 'calls flowed under the rules again'}`
  if (from !== to && to === 'open' && from === 'half-open')
    return `${why}. Calls were refused again${refusedFor(row)}`
  if (from !== to && to === 'open') return `the circuit opened: ${why}. Calls were refused${refusedFor(row)}`
  if (from !== to && to === 'half-open')
    return 'the cooldown was over, and the trial began: probes passed, all other calls were still refused'
  if (from !== to && to === 'closed') return `${why}. The circuit closed, and calls flowed again`
  if (type === 'call.failed' && to === 'open')
    return `a late answer asked for more patience. Calls were refused${refusedFor(row)}`
  if (type === 'probe.failed') return `a probe failed: ${'failure' in event ? event.failure : 'unknown'}`
  if (type === 'probe.expired') return 'a probe never reported, and counted as failed'
  if (type === 'probe.succeeded') return 'a probe succeeded'
  return undefined
}

/** Time in which calls were refused: open, or half-open beside the probes. */
function refusing(
  { rows, endedBy }: Incident,
  until: number,
): { readonly open: number; readonly trial: number } {
  let [open, trial] = [0, 0]
  rows.forEach(({ to, at }, i) => {
    const next = rows[i + 1]?.at ?? endedBy?.at ?? until
    if (to === 'open') open += next - at
    if (to === 'half-open') trial += next - at
  })
  return { open, trial }
}

/**
 * Tells an incident.
 *
 * @param until where the journal ends, for one that is not over
 */
export function tellIncident(incident: Incident, until: number): IncidentStory {
  const { circuit, rows, endedBy } = incident
  const began = rows[0]!
  const end = endedBy?.at ?? until
  const steps = rows.flatMap((row) => {
    const text = inWords(row)
    return text === undefined ? [] : [{ at: row.at, text: plain(`${sentence(text)}.`) }]
  })
  const { open, trial } = refusing(incident, end)
  const trials = rows.filter(({ from, to }) => from !== to && to === 'half-open').length
  const failed = rows.filter(({ from, to }) => from === 'half-open' && to === 'open').length
  const probes = rows.filter(({ type }) => type === 'probe.requested').length
  const people = [...new Set(rows.flatMap(({ by }) => (by === undefined ? [] : [by])))]
  return {
    headline: plain(
      `Circuit '${circuit}' was away from closed from ${clock(began.at)} ${endedBy === undefined ? 'on, and still is where this journal ends' : `to ${clock(end)}`}: ${lasting(end - began.at)}.`,
    ),
    steps,
    summary: [
      `Calls were refused for ${lasting(open)}${trial > 0 ? `, and but for probes for ${lasting(trial)} more` : ''}. How many there were is not in a journal: it holds what changed a circuit, not every call.`,
      trials === 0
        ? 'There was no trial.'
        : `${sentence(plural(trials, 'trial'))}, of which ${failed} failed; ${plural(probes, 'call')} passed as probes.`,
      people.length === 0
        ? 'Nobody acted: the circuit opened and recovered by its rules.'
        : plain(`Who acted: ${people.join(', ')}.`),
      endedBy === undefined
        ? 'It has not recovered.'
        : plain(
            `What ended it: ${endedBy.type === 'operator.closed' ? `a command by hand, by ${byWhom(endedBy)}` : endedBy.saved === null ? endedBy.why : causeInWords(endedBy.saved.cause)}.`,
          ),
    ],
  }
}

/** A story as text for a terminal. */
export function incidentText({ headline, steps, summary }: IncidentStory): string {
  let day = ''
  const lines = steps.map(({ at, text }) => {
    const [date = '', time = ''] = new Date(at).toISOString().split('T')
    const told = date === day ? ' '.repeat(10) : date
    day = date
    return `  ${told} ${time.slice(0, 12)}  ${text}`
  })
  return [headline, '', ...lines, '', ...summary].join('\n')
}
