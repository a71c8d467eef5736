import type { BreakerPolicy } from '../../../machines/breaker-policy.ts'
import type { JournalRow } from '../../stores/journal-row.ts'
import { lasting, plural, sentence } from '../words.ts'
import { cleanWords } from './clean-words.ts'
import type { Incident } from './find-incident.ts'
import { incidentNumbers } from './incident-numbers.ts'
import type { IncidentNumbers } from './incident-numbers.ts'
import { kindInWords, kindsExplained } from './kind-in-words.ts'
import { causeForPeople, whyOpened } from './why-opened.ts'

/** The story of an incident: a headline, what happened one after the other, and what it came to. Times are wall clock. */
export interface IncidentStory extends IncidentNumbers {
  readonly circuit: string
  readonly from: number
  /** null = it is not over in this journal. */
  readonly to: number | null
  readonly headline: string
  /** `seq` is the row of the journal. */
  readonly steps: readonly { readonly seq: number; readonly at: number; readonly text: string }[]
  readonly summary: readonly string[]
}

const clock = (at: number) => `${new Date(at).toISOString().replace('T', ' ').slice(0, 19)} UTC`

/** How much longer calls are refused after a row, in words; empty = they are not, or nobody knows. */
function refusedFor({ saved, at }: JournalRow): string {
  const until = saved?.openUntil ?? null
  return until === null ? '' : ` for ${lasting(Math.max(0, until - at))}`
}

/** How many calls were refused up to a row, as a sentence; empty = none, or nobody has counted. */
const refusedBefore = ({ refused = 0 }: JournalRow) =>
  refused === 0 ? '' : `. Until then ${plural(refused, 'call')} ${refused === 1 ? 'was' : 'were'} refused`

function heldInWords({ saved }: JournalRow): string {
  const until = saved?.hold?.until ?? null
  return until === null ? 'until somebody ends it' : `until ${clock(until)}`
}

const byWhom = ({ by = 'an operator', reason }: JournalRow) =>
  `${by}${reason === undefined ? '' : ` ("${reason}")`}`

/**
 * What a row is, as a sentence; undefined = a detail.
 *
 * @param policy the rules that were in force
 */
function inWords(row: JournalRow, policy: BreakerPolicy | undefined): string | undefined {
  const { type, from, to, saved, event } = row
  const why = saved === null ? row.why : whyOpened(saved.cause, policy)
  if (type === 'operator.opened') {
    const held = saved?.hold != null ? `, and held so ${heldInWords(row)}` : ''
    return `the circuit was opened by hand, by ${byWhom(row)}${held}. Calls were refused${held === '' ? refusedFor(row) : ''}`
  }
  if (type === 'operator.closed') {
    const held =
      saved?.hold != null ? `, and held so ${heldInWords(row)}: nothing was refused, whatever happened` : ''
    return `the circuit was closed by hand, by ${byWhom(row)}${held}. Calls flowed${refusedBefore(row)}`
  }
  if (type === 'resumed') return `the process came back after a restart, and the circuit went on as ${to}`
  if (type === 'breaker.started')
    return 'the process began anew without knowing of this circuit, which is closed again'
  if (type === 'breaker.evicted') return 'the circuit was forgotten: nobody had used it, and room was needed'
  if (type === 'hold.ended')
    return `the hold was over: ${to === 'half-open' ? 'the trial began' : 'calls flowed under the rules again'}${refusedBefore(row)}`
  if (from !== to && to === 'open' && from === 'half-open')
    return `${why}. Calls were refused again${refusedFor(row)}`
  if (from !== to && to === 'open') return `the circuit opened: ${why}. Calls were refused${refusedFor(row)}`
  if (from !== to && to === 'half-open')
    return `the cooldown was over, and the trial began: probes passed, all other calls were still refused${refusedBefore(row)}`
  if (from !== to && to === 'closed') return `${why}. The circuit closed, and calls flowed again`
  if (type === 'call.failed' && to === 'open')
    return `a late answer asked for more patience. Calls were refused${refusedFor(row)}`
  if (type === 'probe.failed')
    return `a probe failed (${kindInWords('failure' in event ? event.failure : 'unknown')})`
  if (type === 'probe.expired') return 'a probe never reported, and counted as failed'
  if (type === 'probe.succeeded') return 'a probe succeeded'
  return undefined
}

/** What a story is told with, beside its rows. */
export interface Surroundings {
  /** Where the journal ends: nothing is known of later. */
  readonly journalEndsAt: number
  /** The rules of the circuit that were in force; undefined = the journal does not know them. */
  readonly policy?: BreakerPolicy | undefined
}

const STATES = {
  open: 'open (every call is refused)',
  'half-open': 'in a trial (only probes pass)',
  closed: 'held closed (nothing is refused)',
  degraded: 'held closed (nothing is refused)',
} as const

/** Tells an incident. */
export function tellIncident(incident: Incident, { journalEndsAt, policy }: Surroundings): IncidentStory {
  const { circuit, rows, endedBy } = incident
  const began = rows[0]!
  const end = endedBy?.at ?? journalEndsAt
  const steps = rows.flatMap((row) => {
    const text = inWords(row, policy)
    return text === undefined ? [] : [{ seq: row.seq, at: row.at, text: cleanWords(`${sentence(text)}.`) }]
  })
  const numbers = incidentNumbers(incident, end)
  const last = rows.at(-1)?.to ?? 'open'
  const lasted = lasting(end - began.at)
  return {
    circuit,
    from: began.at,
    to: endedBy?.at ?? null,
    ...numbers,
    headline: cleanWords(
      endedBy === undefined
        ? `Circuit '${circuit}' was away from closed from ${clock(began.at)} on. The journal ends ${lasted} later, at ${clock(end)}: then it was ${STATES[last]}; what came after is not known.`
        : `Circuit '${circuit}' was away from closed from ${clock(began.at)} to ${clock(end)}: ${lasted}.`,
    ),
    steps,
    summary: [...summaryOf(numbers, endedBy, end), ...kindsExplained(kindsOf(rows)).map(cleanWords)],
  }
}

const kindsOf = (rows: readonly JournalRow[]): string[] =>
  rows.flatMap(({ saved, event }) => [
    ...(saved?.cause.failure === undefined ? [] : [saved.cause.failure]),
    ...('failure' in event ? [event.failure] : []),
  ])

function summaryOf(numbers: IncidentNumbers, endedBy: JournalRow | undefined, end: number): string[] {
  const { refusingMs, trialMs, refused, by } = numbers
  const howMany =
    refused === null
      ? '. How many calls that were is not in this journal: it holds what changed a circuit, not every call.'
      : `: ${refused === 0 ? 'none came' : `${plural(refused, 'call')} in all`}${endedBy === undefined ? ', up to the last row' : ''}.`
  const trialTime = trialMs > 0 ? `, and for ${lasting(trialMs)} more only probes passed` : ''
  const notOver = `It is not over: the journal ends at ${clock(end)}, and whether the circuit has recovered since is not known.`
  return [
    `Every call was refused for ${lasting(refusingMs)}${trialTime}${howMany}`,
    trialsInWords(numbers, endedBy),
    by.length > 0 ? `Who acted: ${by.join(', ')}.` : nobody(endedBy),
    endedBy === undefined ? notOver : cleanWords(`What ended it: ${endingInWords(endedBy)}.`),
  ]
}

function trialsInWords(
  { trials, failedTrials, probes }: IncidentNumbers,
  endedBy: JournalRow | undefined,
): string {
  if (trials === 0) return 'There was no trial.'
  const met = endedBy?.saved?.cause.why === 'trial_met'
  const result = failedTrials > 0 ? 'failed' : met ? 'succeeded' : 'has come to no result'
  const several = failedTrials === 0 ? 'none' : failedTrials === trials ? 'all' : String(failedTrials)
  const came =
    trials === 1
      ? `which ${result}`
      : `${several === 'all' || several === 'none' ? `${several} of which` : `of which ${several}`} failed`
  return `${plural(trials, 'trial')}, ${came}; ${plural(probes, 'call')} passed as ${probes === 1 ? 'a probe' : 'probes'}.`
}

function nobody(endedBy: JournalRow | undefined): string {
  if (endedBy === undefined) return 'Nobody acted up to then: the circuit opened by its rules.'
  return endedBy.saved?.cause.why === 'trial_met'
    ? 'Nobody acted: the circuit opened and recovered by its rules.'
    : 'Nobody acted: the circuit opened by its rules.'
}

function endingInWords(row: JournalRow): string {
  const { type, saved, why } = row
  if (type === 'operator.closed') return `a command by hand, by ${byWhom(row)}`
  if (type === 'breaker.started') return 'a new start of the process'
  return saved === null ? why : causeForPeople(saved.cause)
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
