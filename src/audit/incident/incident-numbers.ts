import { cleanWords } from './clean-words.ts'
import type { Incident } from './find-incident.ts'

/** What an incident came to, in numbers. */
export interface IncidentNumbers {
  /** How long every call was refused, in ms. */
  readonly refusingMs: number
  /** How long every call but probes was, in ms. */
  readonly trialMs: number
  /** Calls that were refused; null = nobody has counted. */
  readonly refused: number | null
  readonly trials: number
  readonly failedTrials: number
  /** Calls that passed as probes. */
  readonly probes: number
  /** Who acted. */
  readonly by: readonly string[]
}

/** @param end when it was over, or where the journal ends */
export function incidentNumbers({ rows, endedBy }: Incident, end: number): IncidentNumbers {
  let [refusingMs, trialMs] = [0, 0]
  rows.forEach(({ to, at }, i) => {
    const next = rows[i + 1]?.at ?? endedBy?.at ?? end
    if (to === 'open') refusingMs += next - at
    if (to === 'half-open') trialMs += next - at
  })
  // what the first row has counted was before
  const counts = rows.slice(1).flatMap(({ refused }) => refused ?? [])
  return {
    refusingMs,
    trialMs,
    refused: counts.length === 0 ? null : counts.reduce((all, n) => all + n, 0),
    trials: rows.filter(({ from, to }) => from !== to && to === 'half-open').length,
    failedTrials: rows.filter(({ from, to }) => from === 'half-open' && to === 'open').length,
    probes: rows.filter(({ type }) => type === 'probe.requested').length,
    by: [...new Set(rows.flatMap(({ by }) => (by === undefined ? [] : [cleanWords(by)])))],
  }
}
