/** One incident of a provider's status page. */
export interface Incident {
  readonly name: string
  /** ms of the wall clock. */
  readonly startAt: number
  /** When it was mitigated, in ms of the wall clock. */
  readonly endAt: number
  /** 0 none · 1 minor · 2 major · 3 critical · 4 maintenance, as status pages have it. */
  readonly impact: number
}

/** What a provider is taken to do; the table in visualizations/incident-model.md says why. */
export interface IncidentModel {
  /** Share of failing calls by impact. */
  readonly failureRatios: Readonly<Record<number, number>>
  /** Share of failing calls while there is no incident. */
  readonly noise: number
  /** From this share on an incident is an outage: the circuit should open. */
  readonly outageRatio: number
  /** How long a failing call takes, in ms. */
  readonly failureMs: number
  /** Kind of the failures. */
  readonly failure: string
  /** What an answer takes: a part that every one takes, and one for each token of it, in ms. */
  readonly answerMs: number
  readonly tokenMs: number
  /** Longest answer, in ms. */
  readonly longestMs: number
  /** Share of the calls that a backup answers. */
  readonly backupAvailability: number
}

/** The table as it stands in the docs. */
export const incidentModel: IncidentModel = {
  failureRatios: { 0: 0.05, 1: 0.2, 2: 0.7, 3: 1, 4: 0.002 },
  noise: 0.002,
  outageRatio: 0.5,
  failureMs: 1000,
  failure: 'server_error',
  answerMs: 500,
  tokenMs: 20,
  longestMs: 60_000,
  backupAvailability: 0.998,
}

/** What a status page calls an impact. */
export const IMPACTS = ['none', 'minor', 'major', 'critical', 'maintenance'] as const

/** The share of calls that fail in an incident. */
export function failureRatioOf({ failureRatios, noise }: IncidentModel, { impact }: Incident): number {
  return failureRatios[impact] ?? noise
}

/** How the target is, from `fromAt` to before `toAt`. */
export interface Phase {
  readonly fromAt: number
  readonly toAt: number
  readonly failureRatio: number
  readonly health: 'healthy' | 'impaired' | 'down'
}

/** Cuts the time from `fromAt` to `toAt` where an incident begins or ends; where several overlap, the worst counts. */
export function phasesOf(
  incidents: readonly Incident[],
  model: IncidentModel,
  fromAt: number,
  toAt: number,
): Phase[] {
  const edges = incidents.flatMap(({ startAt, endAt }) => [startAt, endAt])
  const cuts = [...new Set([fromAt, ...edges, toAt])]
    .filter((at) => at >= fromAt && at <= toAt)
    .sort((a, b) => a - b)
  return cuts.slice(1).map((toAt, i) => {
    const fromAt = cuts[i]!
    const present = incidents.filter(({ startAt, endAt }) => startAt <= fromAt && endAt >= toAt)
    const failureRatio = Math.max(model.noise, ...present.map((one) => failureRatioOf(model, one)))
    const health =
      failureRatio >= model.outageRatio ? 'down' : failureRatio > model.noise ? 'impaired' : 'healthy'
    return { fromAt, toAt, failureRatio, health }
  })
}
