import { randomUUID } from 'node:crypto'

/** What an alert can be about. */
export const ALERT_REASONS = ['open', 'hold', 'stuck-half-open', 'flapping', 'auth', 'quota'] as const

export type AlertReason = (typeof ALERT_REASONS)[number]

/** Types are versioned: what `data` means never changes under the same name. */
const TYPES: Record<AlertReason, string> = {
  open: 'dev.switchgear.circuit.opened.v1',
  hold: 'dev.switchgear.circuit.held.v1',
  'stuck-half-open': 'dev.switchgear.circuit.stuck-half-open.v1',
  flapping: 'dev.switchgear.circuit.flapping.v1',
  auth: 'dev.switchgear.target.auth-failed.v1',
  quota: 'dev.switchgear.target.quota-exhausted.v1',
}

/** An alert before it has a receiver. Names, kinds, numbers, and an operator's own words; nothing else. */
export interface Alert {
  readonly about: AlertReason
  /** The circuit, or the target. */
  readonly subject: string
  /** ms of the wall clock. */
  readonly at: number
  /** One sentence for people. */
  readonly summary: string
  readonly facts: Readonly<Record<string, string | number | boolean | null | undefined>>
}

/** A CloudEvent 1.0 in structured mode. */
export interface AlertEvent {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject: string
  readonly time: string
  readonly datacontenttype: 'application/json'
  readonly data: { readonly summary: string } & Alert['facts']
}

export function toEvent({ about, subject, at, summary, facts }: Alert, source: string): AlertEvent {
  return {
    specversion: '1.0',
    id: randomUUID(),
    source,
    type: TYPES[about],
    subject,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    data: { summary, ...facts },
  }
}
