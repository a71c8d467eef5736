/** One metric, as Prometheus and as OpenTelemetry know it. */
export interface MetricName {
  /** Prometheus: base units, `_total` for what only grows. */
  readonly name: string
  /** OpenTelemetry; an exporter to Prometheus makes `name` of it. */
  readonly otel: string
  /** As UCUM; in braces where it only says what is counted. */
  readonly unit: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
}

const CIRCUIT = ['target', 'model'] as const

/**
 * Every metric. A circuit is labelled with its bucket, which is the target's name unless the target says otherwise, and
 * with its model; what concerns requests sent is labelled with the target alone. All values are names from the configuration,
 * hence bounded; only models that callers name under `isolateByModel` are not, and `maxBuckets` bounds those.
 */
export const METRICS = {
  breakerState: {
    name: 'switchgear_breaker_state',
    otel: 'switchgear.breaker.state',
    unit: '{state}',
    type: 'gauge',
    labels: [...CIRCUIT, 'state'],
    help: '1 for the state a circuit is in, 0 for the others: closed, degraded, open, half-open.',
  },
  breakerHeld: {
    name: 'switchgear_breaker_held',
    otel: 'switchgear.breaker.held',
    unit: '{hold}',
    type: 'gauge',
    labels: [...CIRCUIT],
    help: '1 while an operator holds the circuit open or closed.',
  },
  breakerSince: {
    name: 'switchgear_breaker_since_timestamp_seconds',
    otel: 'switchgear.breaker.since.timestamp',
    unit: 's',
    type: 'gauge',
    labels: [...CIRCUIT],
    help: 'When the circuit entered its present state.',
  },
  openUntil: {
    name: 'switchgear_open_until_timestamp_seconds',
    otel: 'switchgear.open_until.timestamp',
    unit: 's',
    type: 'gauge',
    labels: [...CIRCUIT],
    help: 'When an open circuit may be asked again. Absent where it is not open, or only an operator knows.',
  },
  breakerTransitions: {
    name: 'switchgear_breaker_transitions_total',
    otel: 'switchgear.breaker.transitions',
    unit: '{transition}',
    type: 'counter',
    labels: [...CIRCUIT, 'from', 'to', 'reason'],
    help: 'Changes of state, and why.',
  },
  probesInFlight: {
    name: 'switchgear_probe_in_flight',
    otel: 'switchgear.probe.in_flight',
    unit: '{probe}',
    type: 'gauge',
    labels: [...CIRCUIT],
    help: 'Probes of a half-open circuit that have not reported yet.',
  },
  failureRatio: {
    name: 'switchgear_failure_ratio',
    otel: 'switchgear.failure',
    unit: '1',
    type: 'gauge',
    labels: [...CIRCUIT],
    help: 'Failures among the calls of the rolling window. Absent where no rule has one, or it is empty.',
  },
  thresholdRatio: {
    name: 'switchgear_threshold_reached_ratio',
    otel: 'switchgear.threshold_reached',
    unit: '1',
    type: 'gauge',
    labels: [...CIRCUIT],
    help: 'How much of what opens the circuit has been counted; it opens at 1.',
  },
  calls: {
    name: 'switchgear_calls_total',
    otel: 'switchgear.calls',
    unit: '{call}',
    type: 'counter',
    labels: [...CIRCUIT, 'outcome'],
    help: 'Calls that a circuit admitted, retries included, by outcome: success, failure, neutral.',
  },
  refused: {
    name: 'switchgear_refused_total',
    otel: 'switchgear.refused',
    unit: '{call}',
    type: 'counter',
    labels: [...CIRCUIT, 'reason'],
    help: 'Calls that a circuit refused, so that nothing was sent: the savings. By reason: open, half-open, held.',
  },
  wouldRefuse: {
    name: 'switchgear_would_refuse_total',
    otel: 'switchgear.would_refuse',
    unit: '{call}',
    type: 'counter',
    labels: [...CIRCUIT, 'reason'],
    help: 'Calls that would have been refused, were the circuit not only observed.',
  },
  late: {
    name: 'switchgear_late_outcomes_total',
    otel: 'switchgear.late_outcomes',
    unit: '{call}',
    type: 'counter',
    labels: [...CIRCUIT],
    help: 'Outcomes that came after the circuit had moved on, and decided nothing.',
  },
  attempts: {
    name: 'switchgear_attempts_total',
    otel: 'switchgear.attempts',
    unit: '{attempt}',
    type: 'counter',
    labels: ['target', 'outcome'],
    help: 'Requests sent, by outcome: success, failure, neutral.',
  },
  retries: {
    name: 'switchgear_retries_total',
    otel: 'switchgear.retries',
    unit: '{attempt}',
    type: 'counter',
    labels: ['target'],
    help: 'Requests sent after the first one of a call at this target.',
  },
  failures: {
    name: 'switchgear_failures_total',
    otel: 'switchgear.failures',
    unit: '{attempt}',
    type: 'counter',
    labels: ['target', 'kind'],
    help: 'Requests that brought no answer, by failure kind.',
  },
  attemptDuration: {
    name: 'switchgear_attempt_duration_seconds',
    otel: 'switchgear.attempt.duration',
    unit: 's',
    type: 'histogram',
    labels: ['target'],
    help: 'How long requests took, failed and cut off ones included.',
  },
  firstContent: {
    name: 'switchgear_first_content_seconds',
    otel: 'switchgear.first_content',
    unit: 's',
    type: 'histogram',
    labels: ['target'],
    help: 'How long streams took to their first content.',
  },
  fallbacks: {
    name: 'switchgear_fallback_attempted_total',
    otel: 'switchgear.fallback_attempted',
    unit: '{call}',
    type: 'counter',
    labels: ['from', 'to', 'result'],
    help: 'Calls that went on from one target to the next, by what became of them there: success, failure, neutral, refused.',
  },
  requests: {
    name: 'switchgear_requests_total',
    otel: 'switchgear.requests',
    unit: '{request}',
    type: 'counter',
    labels: ['result'],
    help: 'Requests of callers, by how they ended: answered, failed, rejected (at fault themselves), refused (every circuit), interrupted, aborted, deadline.',
  },
  requestsInFlight: {
    name: 'switchgear_requests_in_flight',
    otel: 'switchgear.requests.in_flight',
    unit: '{request}',
    type: 'gauge',
    labels: [],
    help: 'Requests of callers that have not ended yet.',
  },
  groupTarget: {
    name: 'switchgear_group_target',
    otel: 'switchgear.group_target',
    unit: '{target}',
    type: 'gauge',
    labels: ['group', 'target'],
    help: 'Always 1: these are the targets that a group of models can be answered by, its fallbacks included.',
  },
  journalDegraded: {
    name: 'switchgear_journal_degraded',
    otel: 'switchgear.journal.degraded',
    unit: '{journal}',
    type: 'gauge',
    labels: [],
    help: '1 while the journal lives in memory alone, because its file cannot be written.',
  },
  journalWaiting: {
    name: 'switchgear_journal_rows_waiting',
    otel: 'switchgear.journal.rows_waiting',
    unit: '{row}',
    type: 'gauge',
    labels: [],
    help: 'Rows of the journal that wait for its file.',
  },
  journalLost: {
    name: 'switchgear_journal_rows_lost',
    otel: 'switchgear.journal.rows_lost',
    unit: '{row}',
    type: 'gauge',
    labels: [],
    help: 'Rows that were too many for the memory while the file could not be written; 0 again once it can.',
  },
  alerts: {
    name: 'switchgear_alerts_total',
    otel: 'switchgear.alerts',
    unit: '{alert}',
    type: 'counter',
    labels: ['result'],
    help: 'Alerts for webhooks, one a receiver, by what became of them: delivered, dropped.',
  },
  alertsWaiting: {
    name: 'switchgear_alerts_waiting',
    otel: 'switchgear.alerts.waiting',
    unit: '{alert}',
    type: 'gauge',
    labels: [],
    help: 'Alerts that have not reached their receiver yet.',
  },
  build: {
    name: 'switchgear_build_info',
    otel: 'switchgear.build_info',
    unit: '{build}',
    type: 'gauge',
    labels: ['version', 'node'],
    help: 'Always 1; the labels say what is running.',
  },
} as const satisfies Record<string, MetricName>

export type MetricKey = keyof typeof METRICS
