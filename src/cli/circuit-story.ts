import { kindInWords, kindsExplained } from '../audit/incident/kind-in-words.ts'
import { causeForPeople } from '../audit/incident/why-opened.ts'
import type { CircuitDetail } from '../gateway/admin/admin-desk.ts'
import type { JournalRowView } from '../gateway/admin/wire.ts'
import {
  ONLY_OBSERVED,
  dateInWords,
  nextInWords,
  paintState,
  shown,
  standingInWords,
  timeInWords,
  whyInWords,
  wouldRefuse,
} from './circuit-words.ts'
import { durationInWords } from './duration.ts'
import type { Paint } from './paint.ts'

const MOST_ROWS = 10

const MEANING: Readonly<Record<CircuitDetail['state'], string>> = {
  closed: 'calls flow',
  degraded: 'calls flow, near the threshold',
  open: 'calls are refused',
  'half-open': 'a trial: probes pass, other calls are refused',
}

/** Everything about one circuit, told in order: what it is, why, on what evidence, since when, what ends it. */
export function circuitStory(detail: CircuitDetail, paint: Paint): string {
  const { circuit, state, since, now, calls, refused, late, fallbacks, p95Ms, failures } = detail
  const { model, targets, reopenCount, rules, opened } = detail
  const isCounted = Object.keys(failures).length > 0
  const isOpened = state === 'open' && reopenCount === 0 && opened !== undefined
  const title = `${shown(circuit)} ${standingInWords(detail)}`
  const lines: (readonly [string, string])[] = [
    ['why', isOpened ? shown(opened) : whyForPeople(detail)],
    ['opened', isOpened || opened === undefined ? '' : `first because ${shown(opened)}`],
    ['counted', isCounted ? countedInWords(detail) : lostEvidence(detail)],
    ['since', `${dateInWords(since)}, ${durationInWords(Math.max(0, now - since))} ago`],
    ['ends', ending(detail)],
    ['trials', reopenCount === 0 ? '' : `${reopenCount} failed since the last recovery`],
    ['targets', `${targets.map(shown).join(', ')}${model === undefined ? '' : ` (${shown(model)})`}`],
    ['calls', `${calls.success} answered, ${calls.failure} failed, ${refused} refused and saved`],
    ['', fallbacks === null || fallbacks === 0 ? '' : `${fallbacks} went on to another target`],
    ['', late === 0 ? '' : `${late} came too late to decide anything`],
    ['p95', p95Ms === null ? '' : durationInWords(p95Ms)],
    ['rules', rules],
    ...kindsExplained(Object.keys(failures)).map((text) => ['', text] as const),
  ]
  const told = lines
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `  ${paint('dim', name.padEnd(9))} ${text}`)
  const head = `${paintState(paint, detail, title)} (${meaning(detail)})`
  return [head, ...told, '', ...history(detail.journal, now, paint)].join('\n')
}

function meaning(detail: CircuitDetail): string {
  if (wouldRefuse(detail)) return ONLY_OBSERVED
  return `${MEANING[detail.state]}${detail.observed === true ? ', only observed' : ''}`
}

function whyForPeople(detail: CircuitDetail): string {
  return detail.hold === undefined
    ? shown(causeForPeople(detail.explanation.status.cause))
    : whyInWords(detail)
}

/** All failures that are counted, and which of them opened the circuit: a rule looks at some of them only. */
function countedInWords({ failures, state, consecutiveFailures: row }: CircuitDetail): string {
  const kinds = Object.entries(failures).toSorted(([, a], [, b]) => b - a)
  const all = kinds.reduce((sum, [, n]) => sum + n, 0)
  const named = kinds.map(([kind, n]) => `${n} of kind "${shown(kindInWords(kind))}"`).join(', ')
  const isOpen = state === 'open' || state === 'half-open'
  const scope = isOpen
    ? 'up to now, probes that failed since it opened included'
    : 'since the counters were last empty'
  const last = row < 2 ? '' : isOpen ? `; ${row} were in a row when it opened` : `; the last ${row} in a row`
  return `${all} ${all === 1 ? 'failure' : 'failures'} ${scope}: ${named}${last}`
}

/** What the counters do not know any more: they begin anew with the process, a cause and a journal do not. */
const lostEvidence = ({ opened }: CircuitDetail) =>
  opened === undefined ? 'no failures are counted' : 'nothing since the process began anew'

function ending(detail: CircuitDetail): string {
  const { state, held, hold, probes, circuit, now } = detail
  const next = nextInWords(detail, now)
  const byHand = `switchgear close ${quoted(circuit)}`
  if (held) {
    const after = state === 'open' ? 'a trial follows' : 'the rules are in force again'
    return hold?.until == null ? `only by hand: ${byHand}` : `${next}, then ${after}; sooner: ${byHand}`
  }
  if (state === 'half-open') {
    const { succeeded, failed, inFlight } = probes
    return `the trial does: ${succeeded} succeeded, ${failed} failed, ${inFlight} under way`
  }
  if (wouldRefuse(detail)) return `${next}; calls flow meanwhile`
  return state === 'open' ? `${next}; sooner: ${byHand}` : ''
}

/** What can be pasted into a shell. */
const quoted = (name: string) =>
  /^[\w./:@-]+$/.test(name) ? name : `'${shown(name).replaceAll("'", `'\\''`)}'`

function history(rows: readonly JournalRowView[], now: number, paint: Paint): string[] {
  const told = rows.filter(({ from, to, type }) => from !== to || type.startsWith('operator.'))
  if (told.length === 0) return ['No transition is in the journal.']
  const lines = told.slice(0, MOST_ROWS).map((row) => {
    const way = row.from === row.to ? `stays ${row.to}` : `${row.from} → ${row.to}`
    const when = now - row.at < 86_400_000 ? timeInWords(row.at) : dateInWords(row.at)
    const call = row.call === undefined ? '' : paint('dim', `  (call ${shown(row.call)})`)
    return `  ${when}  ${way.padEnd(20)}  ${shown(row.why)}${call}`
  })
  return [paint('dim', 'Last transitions, the newest first (UTC)'), ...lines]
}
