import type { Switchgear } from '../core/switchgear.ts'

/** What telemetry needs of a switchgear, whatever it sends. */
export type TelemetryGear = Pick<Switchgear<unknown, unknown, unknown>, 'stats' | 'on' | 'observe'>

/** How a journal is, as far as metrics show it. */
export interface JournalState {
  readonly state: 'ok' | 'degraded'
  /** Rows in memory that wait for the file. */
  readonly waiting?: number
  /** Rows that were too many for the memory. */
  readonly lost?: number
}

/** How alerts are delivered, in plain numbers. */
export interface AlertCounts {
  readonly delivered: number
  readonly dropped: number
  readonly waiting: number
}

export type Labels = Readonly<Record<string, string>>

/** Where metrics come from. */
export interface MetricSource {
  readonly gear: TelemetryGear
  /** On every value, to tell several switchgears apart, such as `{ app: 'chat' }`. Default: none. */
  readonly labels?: Labels
  /** Names of targets by the group they belong to, fallbacks included. Default: one group `*` with all of them. */
  readonly groups?: () => ReadonlyMap<string, readonly string[]>
  /** How the journal is. Default: there is none. */
  readonly journal?: () => JournalState
  /** How alerts are delivered. Default: there are none. */
  readonly alerts?: () => AlertCounts
}
