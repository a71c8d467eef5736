import type { CircuitView, CircuitsReport } from '../gateway/admin/wire.ts'
import {
  dateInWords,
  failuresInWords,
  nextInWords,
  paintState,
  shown,
  stateInWords,
  whyInWords,
  wouldRefuse,
} from './circuit-words.ts'
import { durationInWords } from './duration.ts'
import type { Paint } from './paint.ts'

// more than this of what is well is summed up
const MOST_QUIET = 30

const URGENCY: Readonly<Record<CircuitView['state'], number>> = {
  open: 0,
  'half-open': 1,
  degraded: 2,
  closed: 4,
}
function urgency(view: CircuitView): number {
  // nobody is refused: no more urgent than what is near its threshold
  if (wouldRefuse(view)) return URGENCY.degraded
  return view.held && view.state === 'closed' ? 3 : URGENCY[view.state]
}
const isQuiet = (view: CircuitView) => urgency(view) === 4

const HEAD = ['CIRCUIT', 'STATE', 'FOR', 'NEXT', 'FAILURES', 'REFUSED', 'ANSWERED', 'FAILED', 'P95']
const NUMBERS = new Set(['REFUSED', 'ANSWERED', 'FAILED', 'P95'])

interface TableOptions {
  readonly url: string
  readonly paint: Paint
  /** Also every circuit that is well. */
  readonly all: boolean
}

/** All circuits for whoever is on call: what is not well first, with its reason. */
export function circuitTable({ replica, now, circuits }: CircuitsReport, options: TableOptions): string {
  const { paint, url, all } = options
  const ordered = circuits.toSorted((a, b) => urgency(a) - urgency(b))
  const quiet = ordered.filter(isQuiet).length
  const hidden = all || quiet <= MOST_QUIET ? 0 : quiet
  const told = hidden === 0 ? ordered : ordered.filter((view) => !isQuiet(view))
  const head = `${shown(replica)} at ${url}, ${dateInWords(now)}\n${countsInWords(circuits)}`
  const rest = hidden === 0 ? [] : [paint('dim', `${hidden} more, closed; --all shows them`)]
  const table = told.length === 0 ? [] : ['', ...tableLines(told, now, paint)]
  return [head, ...table, ...rest].join('\n')
}

const STATES = ['open', 'half-open', 'degraded', 'closed'] as const

function countsInWords(circuits: readonly CircuitView[]): string {
  const count = (what: string, n: number) => (n === 0 ? [] : [`${n} ${what}`])
  const states = STATES.flatMap((state) =>
    count(state, circuits.filter((view) => view.state === state && !wouldRefuse(view)).length),
  )
  const imagined = STATES.flatMap((state) =>
    count(
      `would be ${state} (only observed)`,
      circuits.filter((view) => view.state === state && wouldRefuse(view)).length,
    ),
  )
  const held = circuits.filter((view) => view.held).length
  const n = circuits.length
  if (n === 0) return 'No circuit yet: each appears with its first call.'
  return `${n} circuit${n === 1 ? '' : 's'}: ${[...states, ...imagined].join(', ')}${held === 0 ? '' : `; ${held} held by hand`}`
}

function tableLines(circuits: readonly CircuitView[], now: number, paint: Paint): string[] {
  const rows = circuits.map((view) => cells(view, now))
  const widths = HEAD.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const pad = (text: string, i: number) =>
    NUMBERS.has(HEAD[i] ?? '') ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)
  const line = (row: readonly string[], style: (text: string, i: number) => string) =>
    row
      .map((text, i) => style(pad(text, i), i))
      .join('  ')
      .trimEnd()
  return [
    line(HEAD, (text) => paint('dim', text)),
    ...rows.flatMap((row, n) => {
      const view = circuits[n]!
      const main = line(row, (text, i) => (i === 1 ? paintState(paint, view, text) : text))
      return isQuiet(view) ? [main] : [main, paint('dim', `  └ ${whyInWords(view)}`)]
    }),
  ]
}

function cells(view: CircuitView, now: number): string[] {
  const { circuit, since, failures, refused, calls, p95Ms } = view
  return [
    shown(circuit),
    stateInWords(view),
    durationInWords(Math.max(0, now - since)),
    nextInWords(view, now),
    failuresInWords(failures, 2),
    String(refused),
    String(calls.success),
    String(calls.failure),
    p95Ms === null ? '–' : durationInWords(p95Ms),
  ]
}
